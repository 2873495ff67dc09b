#include <algorithm>

#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/groups.h"

// As cuda/bm3d/finish.cu: a block of 64 x 4 threads makes 32 rows of 56 samples. The weights around them are
// spread by the window, which is an outer product: down columns first, by a thread for eight samples below
// each other, then along rows. Bound by memory: 20 bytes per sample.

namespace limpid::cuda {
namespace {

constexpr int kPatchSide = limpid::vbm4d::kPatch;
constexpr int kReadColumns = 64;
constexpr int kMadeColumns = kReadColumns - kPatchSide;
constexpr int kEstimateRun = 8;
constexpr int kEstimateThreadRows = 4;
constexpr int kEstimateRows = kEstimateThreadRows * kEstimateRun;

struct WindowLine {
  float values[kPatchSide];
};

__global__ void __launch_bounds__(kReadColumns* kEstimateThreadRows)
    estimate_kernel(const long long* sums, GroupSamples samples, WindowLine window, FloatPlane out) {
  follow_stream();
  __shared__ float spread[kEstimateRows][kReadColumns];
  const int column = threadIdx.x;
  const int first_row = threadIdx.y * kEstimateRun;
  const int x = blockIdx.x * kMadeColumns + column;
  const int y = blockIdx.y * kEstimateRows + first_row;
  const bool makes = column < kMadeColumns && x < out.width;
  const long long* weights = sums + static_cast<std::ptrdiff_t>(samples.pitch) * out.height;
  long long numerators[kEstimateRun];  // under way while the weights are spread
#pragma unroll
  for (int i = 0; i < kEstimateRun; ++i) {
    numerators[i] =
        makes && y + i < out.height ? sums[static_cast<std::ptrdiff_t>(y + i) * samples.pitch + x] : 0;
  }
  float around[kEstimateRun + kPatchSide - 1];
#pragma unroll
  for (int i = 0; i < kEstimateRun + kPatchSide - 1; ++i) {
    const int from_x = x - kPatchSide + 1;
    const int from_y = y - kPatchSide + 1 + i;
    const bool inside = from_x >= 0 && from_y >= 0 && from_x < out.width && from_y < out.height;
    around[i] =
        inside ? static_cast<float>(weights[static_cast<std::ptrdiff_t>(from_y) * samples.pitch + from_x])
               : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kEstimateRun; ++i) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < kPatchSide; ++r) {
      sum = fmaf(around[i + r], window.values[kPatchSide - 1 - r], sum);
    }
    spread[first_row + i][column] = sum;
  }
  __syncthreads();
  constexpr float kScale = 1 << (GroupSums::kWeightBits - GroupSums::kNumeratorBits);
  const float scale = kScale / samples.unit;
#pragma unroll
  for (int i = 0; i < kEstimateRun; ++i) {
    if (!makes || y + i >= out.height) {
      return;
    }
    float denominator = 0;
#pragma unroll
    for (int c = 0; c < kPatchSide; ++c) {
      denominator = fmaf(spread[first_row + i][column + c], window.values[kPatchSide - 1 - c], denominator);
    }
    // Denominators may be greater than what __fdividef() divides by.
    out.data[static_cast<std::ptrdiff_t>(y + i) * out.pitch + x] =
        static_cast<float>(numerators[i]) * scale / denominator + samples.offset;
  }
}

}  // namespace

void finish_estimate(const long long* sums, const GroupSamples& samples, const FilterTables& tables,
                     const FloatPlane& out, cudaStream_t stream) {
  WindowLine window{};
  std::copy_n(tables.window, kPatchSide, window.values);
  launch(estimate_kernel, dim3(blocks_for(out.width, kMadeColumns), blocks_for(out.height, kEstimateRows)),
         dim3(kReadColumns, kEstimateThreadRows), 0, stream, sums, samples, window, out);
}

}  // namespace limpid::cuda
