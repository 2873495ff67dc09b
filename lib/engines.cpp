#include "core/engines.h"

#include "core/engine/engine_module.h"

// For the program, which needs more of the engines than C tells (app/library_engines.cpp).
void limpid::provide_engines(EngineModule& module) { module = cpu_engines(); }
