// SPDX-License-Identifier: MIT
#include "app/options/foreign_options.h"

#include <algorithm>
#include <array>

namespace limpid::app {
namespace {

constexpr std::array kForeignOptions = std::to_array<ForeignOption>({
    {"i input in", "", "name the input without an option"},
    {"ss seek from begin", "--start", ""},
    {"to until", "--end", ""},
    {"t time length", "--duration", ""},
    {"frames:v vframes", "--frames", ""},
    {"c:v codec:v vcodec video-codec encoder", "--codec", ""},
    {"c:a codec:a acodec aencoder", "--audio-codec", ""},
    {"b b:v vb", "--bitrate", ""},
    {"b:a ab", "--audio-bitrate", ""},
    {"q q:v qscale qscale:v", "--crf", ""},
    {"quality", "--crf", ""},
    {"tune", "--encoder-option tune=VALUE", ""},
    {"profile:v", "--encoder-option profile=VALUE", ""},
    {"x264-params x264opts", "--encoder-option x264-params=VALUE", ""},
    {"x265-params", "--encoder-option x265-params=VALUE", ""},
    {"film-grain-table fgs-table", "--grain FILE.tbl", ""},
    {"film-grain photon-noise", "--grain keep", ""},
    {"g keyint", "--encoder-option g=VALUE", ""},
    {"movflags", "--encoder-option movflags=VALUE", ""},
    {"lossless", "--codec ffv1", ""},
    {"an", "--no-audio", ""},
    {"sn", "--no-subtitles", ""},
    {"dn", "--no-data", ""},
    {"vf filter:v filter_complex lavfi", "",
     "--before CHAIN and --after CHAIN filter the frames before and after the denoiser"},
    {"after", "",
     "only \"limpid denoise\", \"limpid plan\", \"limpid preview\" and \"limpid compare\" filter after the "
     "denoiser"},
    {"deinterlace yadif bwdif", "--after bwdif", ""},
    {"r fps rate framerate", "", "limpid keeps the times of all frames; --after fps=RATE changes them"},
    {"s scale size resolution width height", "",
     "limpid keeps the size of the picture; --after scale=WIDTH:HEIGHT changes it"},
    {"map map_metadata metadata", "", "limpid copies all streams, tags and chapters"},
    {"hide_banner nostdin nostats", "", "it is not needed"},
    {"v loglevel verbose debug", "--log-level", ""},
    {"silent", "--quiet", ""},
    {"force", "--overwrite", ""},
    {"gpu cuda nvidia", "--engine cuda", ""},
    {"cpu", "--engine cpu", ""},
    {"device", "--engine", ""},
    {"jobs j", "--threads", ""},
    {"strength planes noise", "--filters vbm4d:strength=light,vbm4d:strength=strong", ""},
    {"level denoise amount", "--strength", ""},
    {"noise-level", "--sigma", ""},
    {"recursive subfolders", "", "subfolders are not searched; name each folder"},
    {"list", "", "\"limpid filters\" lists the filters, \"limpid devices\" the engines"},
});

bool lists(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::string_view first = names.substr(0, names.find(' '));
    if (first == name) {
      return true;
    }
    names.remove_prefix(std::min(names.size(), first.size() + 1));
  }
  return false;
}

}  // namespace

const ForeignOption* find_foreign_option(std::string_view name) {
  const auto found = std::ranges::find_if(
      kForeignOptions, [name](const ForeignOption& each) { return lists(each.names, name); });
  return found == kForeignOptions.end() ? nullptr : &*found;
}

}  // namespace limpid::app
