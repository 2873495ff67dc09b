// SPDX-License-Identifier: MIT
// A module that detects only when called that it cannot work.
#include "core/base/error.h"
#include "core/engine/engine_module.h"

void limpid::provide_engines(EngineModule& /*module*/) { throw Error("the device is on fire"); }
