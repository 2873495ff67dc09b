#include "core/engine_module.h"
#include "cuda/cuda_engine.h"

// What core/engine_module.h looks for in liblimpid_cuda.so.
extern "C" __attribute__((visibility("default"))) void limpid_engine_module(limpid::EngineModule& module) {
  module = {limpid::cuda::list_cuda, limpid::cuda::open_cuda};
}
