#include "io/media/references.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace limpid::io {

bool follows_references(const AVInputFormat& format) {
  constexpr std::array<std::string_view, 9> kNames{"hls",  "dash", "concat",   "imf",        "sdp",
                                                   "rtsp", "sap",  "avisynth", "vapoursynth"};
  // The first of several names is the demuxer's own.
  const std::string_view names = format.name;
  return std::find(kNames.begin(), kNames.end(), names.substr(0, names.find(','))) != kNames.end();
}

const std::string& demuxers_without_references() {
  static const std::string list = [] {
    std::string names;
    void* position = nullptr;
    while (const AVInputFormat* const format = av_demuxer_iterate(&position)) {
      if (!follows_references(*format)) {
        names += (names.empty() ? "" : ",") + std::string(format->name);
      }
    }
    return names;
  }();
  return list;
}

std::string demuxer_of_references(const std::string& libav_url) {
  AVIOContext* bytes = nullptr;
  if (avio_open2(&bytes, libav_url.c_str(), AVIO_FLAG_READ, nullptr, nullptr) < 0) {
    return "";
  }
  const AVInputFormat* format = nullptr;
  const int code = av_probe_input_buffer2(bytes, &format, libav_url.c_str(), nullptr, 0, 0);
  avio_closep(&bytes);
  return code >= 0 && format != nullptr && follows_references(*format) ? format->name : "";
}

}  // namespace limpid::io
