#pragma once

#include <string>

namespace limpid::io {

/// Of FFmpeg's libraries that the program runs on, which need not be those it was built with: "5.1.9
/// (libavformat 59.27.100, libavcodec 59.37.100, libavutil 57.28.100)".
std::string ffmpeg_version();

}  // namespace limpid::io
