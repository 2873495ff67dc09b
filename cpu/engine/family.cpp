// SPDX-License-Identifier: MIT
#include <string_view>
#include <vector>

#include "core/engines.h"
#include "cpu/engine/cpu_engine.h"

namespace limpid {

EngineModule cpu_engines() {
  return {[] { return std::vector<EngineInfo>{cpu::describe_cpu()}; },
          [](std::string_view /*name*/, const EngineOptions& options) { return cpu::open_cpu(options); }};
}

}  // namespace limpid
