#pragma once

#include "core/engine/denoiser.h"

namespace limpid {

/// Adds the engines that Limpid brings: the CPU's and, ahead of them, CUDA's, if their module is there
/// (core/engine/engine_module.h).
void add_engines(EngineRegistry& registry);

/// The process's own registry, which has these from the start.
EngineRegistry& engine_registry();

}  // namespace limpid
