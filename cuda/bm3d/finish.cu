// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "cuda/bm3d/filter.h"
#include "cuda/runtime/launch.h"

namespace limpid::cuda {
namespace {

// A block of 64 x 4 threads makes 32 rows, whose width is 64 minus the window. The weights around them are
// spread by the window, which is an outer product: first along columns, eight vertically adjacent samples per
// thread, then along rows. Bound by memory: 16 bytes per sample.

constexpr int kColumns = 64;
constexpr int kRun = 8;
constexpr int kThreadRows = 4;
constexpr int kRows = kThreadRows * kRun;
constexpr int kMaxPatch = FilterTables::kMaxPatch;

struct Window {
  float line[kMaxPatch];
  int size;
};

// Rounded to whole sectors of memory.
LIMPID_HOST_DEVICE int columns_made(int patch) { return (kColumns - patch + 1) / 8 * 8; }

// kPatch is the patch size, or 0 for any size.
template <int kPatch>
__global__ void __launch_bounds__(kColumns* kThreadRows)
    finish_kernel(AggregationSums sums, Window window, float scale, FloatPlane out) {
  follow_stream();
  constexpr int kMost = kPatch != 0 ? kPatch : kMaxPatch;
  __shared__ float spread[kRows][kColumns];
  const int k = kPatch != 0 ? kPatch : window.size;
  const int column = threadIdx.x;
  const int first_row = threadIdx.y * kRun;
  const int x = blockIdx.x * columns_made(k) + column;
  const int y = blockIdx.y * kRows + first_row;
  const bool makes = column < columns_made(k) && x < out.width;
  long long numerators[kRun];  // loaded while the weights are spread
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    numerators[i] =
        makes && y + i < out.height ? sums.numerator[static_cast<std::ptrdiff_t>(y + i) * out.width + x] : 0;
  }
  float weights[kRun + kMost - 1];
#pragma unroll
  for (int i = 0; i < kRun + kMost - 1; ++i) {
    const int from_x = x - k + 1;
    const int from_y = y - k + 1 + i;
    const bool inside = from_x >= 0 && from_y >= 0 && from_x < out.width && from_y < out.height;
    weights[i] =
        inside ? static_cast<float>(sums.weight[static_cast<std::ptrdiff_t>(from_y) * out.width + from_x])
               : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    float sum = 0;
#pragma unroll
    for (int r = 0; r < kMost; ++r) {
      if (r < k) {
        sum = fmaf(weights[i + r], window.line[k - 1 - r], sum);
      }
    }
    spread[first_row + i][column] = sum;
  }
  __syncthreads();
  scale *= range_unit(sums);
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    if (!makes || y + i >= out.height) {
      return;
    }
    float denominator = 0;
#pragma unroll
    for (int c = 0; c < k; ++c) {
      denominator = fmaf(spread[first_row + i][column + c], window.line[k - 1 - c], denominator);
    }
    out.data[static_cast<std::ptrdiff_t>(y + i) * out.pitch + x] =
        __fdividef(static_cast<float>(numerators[i]) * scale, denominator) + sums.offset;
  }
}

}  // namespace

void clear_sums(const AggregationSums& sums, int width, int height, cudaStream_t stream) {
  const std::size_t count = static_cast<std::size_t>(width) * height;
  check(cudaMemsetAsync(sums.numerator, 0, count * sizeof(*sums.numerator), stream));
  check(cudaMemsetAsync(sums.weight, 0, count * sizeof(*sums.weight), stream));
}

void finish(const AggregationSums& sums, int patch_size, const FilterTables& tables, const FloatPlane& out,
            cudaStream_t stream) {
  Window window{};
  window.size = patch_size;
  std::copy_n(tables.window, patch_size, window.line);
  const float scale = std::ldexp(1.0F, sums.weight_bits) / sums.numerator_scale;
  const auto kernel = patch_size == 8 ? finish_kernel<8> : finish_kernel<0>;
  launch(kernel, dim3(blocks_for(out.width, columns_made(patch_size)), blocks_for(out.height, kRows)),
         dim3(kColumns, kThreadRows), 0, stream, sums, window, scale, out);
}

}  // namespace limpid::cuda
