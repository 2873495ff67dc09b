#include "app/version.h"

#include <spdlog/fmt/fmt.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
}

#include <string_view>

namespace limpid::app {
namespace {

// All are set by CMake, which knows them.
constexpr std::string_view kVersion = LIMPID_VERSION;
constexpr std::string_view kCompiler = LIMPID_COMPILER;
constexpr std::string_view kCuda = LIMPID_CUDA_VERSION;

std::string library(std::string_view name, unsigned version) {
  return fmt::format("{} {}.{}.{}", name, AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version),
                     AV_VERSION_MICRO(version));
}

}  // namespace

std::string version_text() {
  return fmt::format("limpid {}\nFFmpeg {} ({}, {}, {})\ncompiler {}\nCUDA {}", kVersion, av_version_info(),
                     library("libavformat", avformat_version()), library("libavcodec", avcodec_version()),
                     library("libavutil", avutil_version()), kCompiler, kCuda);
}

}  // namespace limpid::app
