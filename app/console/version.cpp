// SPDX-License-Identifier: MIT
#include "app/console/version.h"

#include <spdlog/fmt/fmt.h>

#include <string_view>

#include "io/media/libav_setup.h"

namespace limpid::app {
namespace {

// CMake sets all of them.
constexpr std::string_view kVersion = LIMPID_VERSION;
constexpr std::string_view kCompiler = LIMPID_COMPILER;
constexpr std::string_view kCuda = LIMPID_CUDA_VERSION;

}  // namespace

std::string version() { return std::string(kVersion); }

std::string version_text() {
  return fmt::format("limpid {}\nFFmpeg {}\ncompiler {}\nCUDA {}", kVersion, io::ffmpeg_version(), kCompiler,
                     kCuda);
}

}  // namespace limpid::app
