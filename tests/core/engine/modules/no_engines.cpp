// A faulty module without engines.
#include "core/engine/engine_module.h"

void limpid::provide_engines(EngineModule& /*module*/) {}
