// SPDX-License-Identifier: MIT
#include "core/engine/engine_module.h"
#include "cuda/engine/cuda_engine.h"

void limpid::provide_engines(EngineModule& module) { module = {cuda::list_cuda, cuda::open_cuda}; }
