// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid::io {

/// The version of the FFmpeg libraries in use, which may differ from the version of the build: "5.1.9
/// (libavformat 59.27.100, libavcodec 59.37.100, libavutil 57.28.100)".
std::string ffmpeg_version();

}  // namespace limpid::io
