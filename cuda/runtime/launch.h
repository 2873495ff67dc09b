// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "cuda/runtime/planes.h"
#include "cuda/runtime/runtime.h"

// Launch helpers of .cu files.

namespace limpid::cuda {

/// Must be called by every kernel that launch() starts, before it accesses global memory. Allows the next
/// kernel of the stream to occupy free multiprocessors, then waits until the kernels before it are done and
/// their writes are visible.
__device__ __forceinline__ void follow_stream() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
}

/// Enqueues a kernel that calls follow_stream(). If the device supports it, the kernel is launched while the
/// one before it is running, which hides the launch latency.
template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = compiled_to_overlap(reinterpret_cast<const void*>(kernel)) ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

/// The number of blocks of `per_block` elements for `count` elements.
constexpr int blocks_for(int count, int per_block) { return (count + per_block - 1) / per_block; }

/// Blocks of 64 x 4 threads for a plane, with a thread for each sample or for several vertically adjacent
/// ones.
struct PlaneLaunch {
  dim3 block{64, 4};
  dim3 grid;
  PlaneLaunch(int width, int height, int rows_per_thread = 1)
      : grid((static_cast<unsigned>(width) + block.x - 1) / block.x,
             (static_cast<unsigned>(height) + block.y * rows_per_thread - 1) / (block.y * rows_per_thread)) {}
};

/// A power of two, at least 1, such that |sample - offset| divided by it is at most 128.
__device__ inline float range_unit(const AggregationSums& sums) {
  return sums.range == nullptr || *sums.range <= 128 ? 1.0F : ldexpf(1.0F, ilogbf(*sums.range / 128) + 1);
}

/// Allows `kernel` to use `bytes` of dynamic shared memory if, with its static part, it exceeds the default
/// of 48 KiB. The limit is raised to the device's maximum, because other threads may launch the kernel with
/// other sizes.
template <typename Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes > 24 * 1024) {
    allow_all_shared_memory(reinterpret_cast<const void*>(kernel));
  }
}

}  // namespace limpid::cuda
