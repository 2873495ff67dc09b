// SPDX-License-Identifier: MIT
// A faulty module without engines.
#include "core/engine/engine_module.h"

void limpid::provide_engines(EngineModule& /*module*/) {}
