// A module that finds only when it is asked that it can't work.
#include "core/engine_module.h"
#include "core/error.h"

void limpid::provide_engines(EngineModule& /*module*/) { throw Error("the device is on fire"); }
