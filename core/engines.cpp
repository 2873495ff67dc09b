// SPDX-License-Identifier: MIT
#include "core/engines.h"

#include <utility>

namespace limpid {

void add_engines(EngineRegistry& registry) {
  EngineModule cpu = cpu_engines();
  registry.add("cpu", std::move(cpu.list), std::move(cpu.open));
  EngineModule cuda = load_engine_module("cuda", engine_module_folders());
  registry.add("cuda", std::move(cuda.list), std::move(cuda.open));
}

EngineRegistry& engine_registry() {
  // Filled in place because a registry cannot be moved.
  static struct Brought : EngineRegistry {
    Brought() { add_engines(*this); }
  } registry;
  return registry;
}

}  // namespace limpid
