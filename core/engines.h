// SPDX-License-Identifier: MIT
#pragma once

#include "core/engine/denoiser.h"
#include "core/engine/engine_module.h"

namespace limpid {

/// The family of CPU engines. liblimpid contains it (cpu/engine/family.cpp); the program uses the library's
/// (app/library_engines.cpp).
EngineModule cpu_engines();

/// Adds Limpid's engines: the CPU family and, ahead of it, the CUDA family if its module is installed
/// (core/engine/engine_module.h).
void add_engines(EngineRegistry& registry);

/// The registry of this process. Limpid's engines are in it from the start.
EngineRegistry& engine_registry();

}  // namespace limpid
