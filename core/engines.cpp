#include "core/engines.h"

#include <string_view>
#include <utility>
#include <vector>

#include "core/cpu/engine/cpu_engine.h"
#include "core/engine/engine_module.h"

namespace limpid {

void add_engines(EngineRegistry& registry) {
  registry.add(
      "cpu", [] { return std::vector<EngineInfo>{cpu::describe_cpu()}; },
      [](std::string_view /*name*/, const EngineOptions& options) { return cpu::open_cpu(options); });
  EngineModule cuda = load_engine_module("cuda", engine_module_folders());
  registry.add("cuda", std::move(cuda.list), std::move(cuda.open));
}

EngineRegistry& engine_registry() {
  // Built in place, as a registry can't be moved.
  static struct Brought : EngineRegistry {
    Brought() { add_engines(*this); }
  } registry;
  return registry;
}

}  // namespace limpid
