#include "core/engine_module.h"
#include "cuda/cuda_engine.h"

void limpid::provide_engines(EngineModule& module) { module = {cuda::list_cuda, cuda::open_cuda}; }
