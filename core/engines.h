#pragma once

#include "core/engine/denoiser.h"
#include "core/engine/engine_module.h"

namespace limpid {

/// The CPU's family of engines. liblimpid has it in itself (cpu/engine/family.cpp); the program takes
/// that of the library (app/library_engines.cpp).
EngineModule cpu_engines();

/// Adds the engines that Limpid brings: the CPU's and, ahead of them, CUDA's, if their module is there
/// (core/engine/engine_module.h).
void add_engines(EngineRegistry& registry);

/// The process's own registry, which has these from the start.
EngineRegistry& engine_registry();

}  // namespace limpid
