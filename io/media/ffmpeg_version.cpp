// SPDX-License-Identifier: MIT
#include "io/media/ffmpeg_version.h"

#include "io/media/libav.h"

namespace limpid::io {
namespace {

std::string numbers(unsigned version) {
  return std::to_string(AV_VERSION_MAJOR(version)) + "." + std::to_string(AV_VERSION_MINOR(version)) + "." +
         std::to_string(AV_VERSION_MICRO(version));
}

}  // namespace

std::string ffmpeg_version() {
  return std::string(av_version_info()) + " (libavformat " + numbers(avformat_version()) + ", libavcodec " +
         numbers(avcodec_version()) + ", libavutil " + numbers(avutil_version()) + ")";
}

}  // namespace limpid::io
