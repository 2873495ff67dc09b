// A module that finds only when it is asked that it can't work.
#include "core/base/error.h"
#include "core/engine/engine_module.h"

void limpid::provide_engines(EngineModule& /*module*/) { throw Error("the device is on fire"); }
