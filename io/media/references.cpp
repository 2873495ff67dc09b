// SPDX-License-Identifier: MIT
#include "io/media/references.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/input_format.h"

namespace limpid::io {
namespace {

void require_file_or_pipe(const std::string& url) {
  const char* const protocol = avio_find_protocol_name(url.c_str());
  const std::string_view name = protocol == nullptr ? "" : protocol;
  const bool is_address = has_protocol(url) && !url.starts_with("pipe:") && !url.starts_with("file:");
  if (is_address || (protocol != nullptr && name != "file" && name != "pipe")) {
    throw Error(url + ": is neither a file nor a pipe, as --local-only requires");
  }
}

}  // namespace

bool follows_references(const AVInputFormat& format) {
  constexpr std::array<std::string_view, 9> kNames{"hls",  "dash", "concat",   "imf",        "sdp",
                                                   "rtsp", "sap",  "avisynth", "vapoursynth"};
  // The first of several names is the demuxer's own.
  const std::string_view names = format.name;
  return std::find(kNames.begin(), kNames.end(), names.substr(0, names.find(','))) != kNames.end();
}

bool is_address_for(const std::string& url, const AVInputFormat& format) {
  const std::string name = format.name;
  return url.starts_with(name + "://") || url.starts_with(name + "s://");
}

std::string demuxers_without_references(const std::string& url) {
  std::string names;
  void* position = nullptr;
  while (const AVInputFormat* const format = av_demuxer_iterate(&position)) {
    if (!follows_references(*format) || is_address_for(url, *format)) {
      names += (names.empty() ? "" : ",") + std::string(format->name);
    }
  }
  return names;
}

std::string demuxer_of_references(const std::string& libav_url, const AVIOInterruptCB& interrupt) {
  AVIOContext* bytes = nullptr;
  if (avio_open2(&bytes, libav_url.c_str(), AVIO_FLAG_READ, &interrupt, nullptr) < 0) {
    return "";
  }
  const AVInputFormat* format = nullptr;
  const int code = av_probe_input_buffer2(bytes, &format, libav_url.c_str(), nullptr, 0, 0);
  avio_closep(&bytes);
  return code >= 0 && format != nullptr && follows_references(*format) ? format->name : "";
}

void require_local_source(const std::string& libav_url, const AVInputFormat* format,
                          const std::vector<std::pair<std::string, std::string>>& options) {
  // Scripts can open any file, and demuxers without a file open devices or addresses by themselves.
  const std::string_view name = format == nullptr ? "" : format->name;
  const bool opens_others =
      format != nullptr && (is_device(*format) || name == "vapoursynth" ||
                            ((format->flags & AVFMT_NOFILE) != 0 && !traits_of(*format).is_image2));
  if (opens_others) {
    throw UsageError("the input format " + std::string(name) + " reads more than files and pipes, which " +
                     "--local-only forbids");
  }
  for (const auto& [key, value] : options) {
    if (av_strcasecmp(key.c_str(), "protocol_whitelist") == 0) {  // libav ignores case in options
      throw UsageError("the input option protocol_whitelist and --local-only exclude each other");
    }
  }
  require_file_or_pipe(libav_url);
}

void require_local_target(const std::string& url, const AVOutputFormat& container) {
  if ((container.flags & AVFMT_NOFILE) != 0 && !traits_of(container).local_output) {
    throw UsageError("the container " + std::string(container.name) +
                     " is a device or a network connection, which --local-only forbids");
  }
  if (has_protocol(url)) {
    require_file_or_pipe(url);
  }
}

}  // namespace limpid::io
