// A module that has nothing, as after a mistake in it.
#include "core/engine/engine_module.h"

void limpid::provide_engines(EngineModule& /*module*/) {}
