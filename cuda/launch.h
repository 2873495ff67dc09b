#pragma once

#include <cuda_runtime.h>

#include "cuda/planes.h"
#include "cuda/runtime.h"

// What .cu files share about launching.

namespace limpid::cuda {

/// One thread for each sample of a plane, in blocks of 64 x 4.
struct PlaneLaunch {
  dim3 grid;
  dim3 block{64, 4};
  PlaneLaunch(int width, int height)
      : grid((static_cast<unsigned>(width) + 63) / 64, (static_cast<unsigned>(height) + 3) / 4) {}
};

/// The power of two, 1 or more, by which |sample - offset| is at most 128.
__device__ inline float range_unit(const AggregationSums& sums) {
  return sums.range == nullptr || *sums.range <= 128 ? 1.0F : ldexpf(1.0F, ilogbf(*sums.range / 128) + 1);
}

/// Lets `kernel` use `bytes` of dynamic shared memory: more than the 48 KiB, its static part included, that
/// every kernel may.
template <typename Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes > 24 * 1024) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  }
}

}  // namespace limpid::cuda
