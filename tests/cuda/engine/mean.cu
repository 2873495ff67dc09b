// SPDX-License-Identifier: MIT
#include "cuda/runtime/runtime.h"
#include "tests/cuda/engine/mean.h"

namespace limpid::cuda {
namespace {

__global__ void mean_kernel(Mean mean) {
  const int place = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (place < mean.width * mean.height) {
    mean.compute(place % mean.width, place / mean.width);
  }
}

}  // namespace

void launch_mean(const Mean& mean, cudaStream_t stream) {
  constexpr int kThreads = 64;
  mean_kernel<<<(mean.width * mean.height + kThreads - 1) / kThreads, kThreads, 0, stream>>>(mean);
  check_launch();
}

}  // namespace limpid::cuda
