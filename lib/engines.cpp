// SPDX-License-Identifier: MIT
#include "core/engines.h"

#include "core/engine/engine_module.h"

// The entry for the program, which uses the C++ interfaces of engines (app/library_engines.cpp).
void limpid::provide_engines(EngineModule& module) { module = cpu_engines(); }
