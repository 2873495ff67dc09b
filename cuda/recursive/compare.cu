// SPDX-License-Identifier: MIT
#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Detection of repeated frames, and small operations on the state.

namespace limpid::cuda {
namespace {

constexpr int kCompared = recursive::kPatch;
constexpr int kCompareWarps = 4;

// A warp processes a block of 8 x 8 samples: each lane has two samples of a row.
__global__ void __launch_bounds__(kCompareWarps* kWarp)
    compare_kernel(FloatPlane noisy, FloatPlane last, float variance, int component, RecursionFlags* flags) {
  follow_stream();
  const int columns = (noisy.width + kCompared - 1) / kCompared;
  const int rows = (noisy.height + kCompared - 1) / kCompared;
  const int block = blockIdx.x * kCompareWarps + threadIdx.x / kWarp;
  if (block >= columns * rows) {
    return;
  }
  const int lane = threadIdx.x % kWarp;
  const int y = block / columns * kCompared + lane / 4;
  float sum = 0;
  int count = 0;
  for (int i = 0; i < 2; ++i) {
    const int x = block % columns * kCompared + 2 * (lane % 4) + i;
    if (x < noisy.width && y < noisy.height) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * noisy.pitch + x;
      const float difference = noisy.data[at] - last.data[at];
      sum += difference * difference;
      ++count;
    }
  }
  sum = combine_warp(sum, [](float a, float b) { return a + b; });
  count = sum_over_warp(count);
  if (lane == 0) {
    const float unit = variance * static_cast<float>(count);
    if (sum > recursive::kRepeatLimit * unit) {
      flags->different = 1;
    }
    if (sum <= recursive::kRepeatNear * unit) {
      atomicAdd(&flags->near[component], 1);
    }
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

__global__ void keep_kernel(FloatPlane noisy, FloatPlane last, const RecursionFlags* flags) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < noisy.width && y < noisy.height && flags->repeats == 0) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * noisy.pitch + x;
    last.data[at] = noisy.data[at];
  }
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
  const int blocks = blocks_for(noisy.width, kCompared) * blocks_for(noisy.height, kCompared);
  launch(compare_kernel, dim3(blocks_for(blocks, kCompareWarps)), dim3(kCompareWarps * kWarp), 0, stream,
         noisy, last, variance, component, flags);
}

void decide_repeat(const std::array<int, RecursionFlags::kComponents>& blocks, RecursionFlags* flags,
                   cudaStream_t stream) {
  launch(decide_repeat_kernel, dim3(1), dim3(1), 0, stream, ComparedBlocks{{blocks[0], blocks[1], blocks[2]}},
         flags);
}

void keep_noisy(const FloatPlane& noisy, const FloatPlane& last, const RecursionFlags* flags,
                cudaStream_t stream) {
  const PlaneLaunch plane(noisy.width, noisy.height);
  launch(keep_kernel, plane.grid, plane.block, 0, stream, noisy, last, flags);
}

void scale_variances(const VarianceCells& cells, float factor, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int count = cells.columns * cells.rows;
  launch(scale_kernel, dim3(blocks_for(count, kThreads)), dim3(kThreads), 0, stream, cells.values, count,
         factor);
}

}  // namespace limpid::cuda
