// SPDX-License-Identifier: MIT
#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Detection of repeated frames, and small operations on the state.

namespace limpid::cuda {
namespace {

constexpr int kCompared = recursive::kPatch;
constexpr int kCompareWarps = 8;

// A warp processes adjacent blocks of 8 x 8 samples; each lane has a column. Few threads write, as all write
// to one place. If an earlier component differs, the others do not matter.
__global__ void __launch_bounds__(kCompareWarps* kWarp)
    compare_kernel(FloatPlane noisy, FloatPlane last, float variance, int component, RecursionFlags* flags) {
  follow_stream();
  const int x = (blockIdx.x * kCompareWarps + threadIdx.x / kWarp) * kWarp + threadIdx.x % kWarp;
  const int begin = blockIdx.y * kCompared;
  const auto differs = [flags] { return *static_cast<volatile int*>(&flags->different) != 0; };
  if (__syncthreads_or(differs() ? 1 : 0) != 0) {
    return;
  }
  float sum = 0;
  int count = 0;
#pragma unroll
  for (int i = 0; i < kCompared; ++i) {
    const int y = begin + i;
    if (x < noisy.width && y < noisy.height) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * noisy.pitch + x;
      const float difference = noisy.data[at] - last.data[at];
      sum += difference * difference;
      ++count;
    }
  }
#pragma unroll
  for (int i = 1; i < kCompared; i *= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, i);
    count += __shfl_xor_sync(kAllLanes, count, i);
  }
  const float unit = variance * static_cast<float>(count);
  const bool is_first = threadIdx.x % kCompared == 0 && count > 0;
  const unsigned near = __ballot_sync(kAllLanes, is_first && sum <= recursive::kRepeatNear * unit);
  if (__syncthreads_or(is_first && sum > recursive::kRepeatLimit * unit ? 1 : 0) != 0) {
    if (threadIdx.x == 0 && !differs()) {
      flags->different = 1;
    }
  } else if (threadIdx.x % kWarp == 0 && near != 0) {
    atomicAdd(&flags->near[component], __popc(near));
  }
}

struct ComparedBlocks {
  int of[RecursionFlags::kComponents];
};

__global__ void decide_repeat_kernel(ComparedBlocks blocks, RecursionFlags* flags) {
  follow_stream();
  bool repeats = flags->different == 0;
  for (int c = 0; c < RecursionFlags::kComponents; ++c) {
    repeats = repeats && static_cast<float>(flags->near[c]) >=
                             recursive::kRepeatShare * static_cast<float>(blocks.of[c]);
  }
  flags->repeats = repeats ? 1 : 0;
}

__global__ void scale_kernel(float* values, int count, float factor) {
  follow_stream();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] *= factor;
  }
}

}  // namespace

void compare_frames(const FloatPlane& noisy, const FloatPlane& last, float variance, int component,
                    RecursionFlags* flags, cudaStream_t stream) {
  launch(compare_kernel,
         dim3(blocks_for(noisy.width, kCompareWarps * kWarp), blocks_for(noisy.height, kCompared)),
         dim3(kCompareWarps * kWarp), 0, stream, noisy, last, variance, component, flags);
}

void decide_repeat(const std::array<int, RecursionFlags::kComponents>& blocks, RecursionFlags* flags,
                   cudaStream_t stream) {
  launch(decide_repeat_kernel, dim3(1), dim3(1), 0, stream, ComparedBlocks{{blocks[0], blocks[1], blocks[2]}},
         flags);
}

void scale_variances(const VarianceCells& cells, float factor, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int count = cells.columns * cells.rows;
  launch(scale_kernel, dim3(blocks_for(count, kThreads)), dim3(kThreads), 0, stream, cells.values, count,
         factor);
}

}  // namespace limpid::cuda
