// SPDX-License-Identifier: MIT
#include "app/pipeline/broken_off.h"

#include <spdlog/fmt/fmt.h>

#include <cstdint>

namespace limpid::app {

Error broken_off(io::Writer& writer, const std::string& failure) {
  const std::string name = writer.finish_partial();
  const std::int64_t frames = writer.frames_written();
  return Error(fmt::format("{}; {} has the {} {} before that", failure, name, frames,
                           frames == 1 ? "frame" : "frames"));
}

}  // namespace limpid::app
