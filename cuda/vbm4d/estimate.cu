// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/groups.h"

// Like cuda/bm3d/finish.cu: a block of 64 x 4 threads makes 32 rows of 56 samples. The weights around them
// are spread by the window, which is an outer product: first along columns, eight vertically adjacent samples
// per thread, then along rows. Bound by memory: 12 bytes per sample, 20 with wide sums.

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

// True if weights of the patches around a block's samples, which begin at (x, y), may have overflowed.
__device__ bool weights_may_be_wrong(const unsigned* cells, int cell_bits, int x, int y, int width,
                                     int height) {
  constexpr int kCell = GroupSums::kCell;
  constexpr int kReach = limpid::vbm4d::kPatch / kCell;  // cells before a sample's own
  static_assert(kMadeColumns % kCell == 0 && kEstimateRows % kCell == 0);
  constexpr int kColumns = kMadeColumns / kCell;
  constexpr int kRows = kEstimateRows / kCell;
  static_assert(kColumns * kRows <= kReadColumns * kEstimateThreadRows);
  const int thread = threadIdx.y * kReadColumns + threadIdx.x;
  unsigned long long sum = 0;
  if (thread < kColumns * kRows) {
    const int column = x / kCell + thread % kColumns;
    const int row = y / kCell + thread / kColumns;
    for (int r = max(row - kReach, 0); r <= min(row, GroupSums::cells_along(height) - 1); ++r) {
      for (int c = max(column - kReach, 0); c <= min(column, width - 1); ++c) {
        sum += cells[static_cast<std::ptrdiff_t>(r) * width + c];
      }
    }
  }
  return __syncthreads_or(sum << cell_bits >> 32 != 0 ? 1 : 0) != 0;
}

template <typename Sum>
__global__ void __launch_bounds__(kReadColumns* kEstimateThreadRows)
    estimate_kernel(GroupSums format, const Sum* sums, const __half* noisy, GroupSamples samples,
                    WindowLine window, FloatPlane out) {
  follow_stream();
  using Weight = std::make_unsigned_t<Sum>;
  __shared__ float spread[kEstimateRows][kReadColumns];
  const int column = threadIdx.x;
  const int first_row = threadIdx.y * kEstimateRun;
  const int x = blockIdx.x * kMadeColumns + column;
  const int y = blockIdx.y * kEstimateRows + first_row;
  const bool makes = column < kMadeColumns && x < out.width;
  const std::ptrdiff_t positions = static_cast<std::ptrdiff_t>(samples.pitch) * out.height;
  const auto* weights = reinterpret_cast<const Weight*>(sums + positions);
  bool are_wrong = false;
  if constexpr (sizeof(Sum) == sizeof(std::int32_t)) {
    are_wrong =
        weights_may_be_wrong(reinterpret_cast<const unsigned*>(sums + 2 * positions), format.cell_bits(),
                             blockIdx.x * kMadeColumns, blockIdx.y * kEstimateRows,
                             GroupSums::cells_along(samples.pitch), out.height);
  }
  Sum numerators[kEstimateRun];  // loaded while the weights are spread
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
  const float scale = static_cast<float>(1 << (format.weight_bits - format.numerator_bits)) / samples.unit;
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
    // Denominators may exceed the range of __fdividef().
    float value = static_cast<float>(numerators[i]) * scale / denominator;
    if (sizeof(Sum) == sizeof(std::int32_t) && (are_wrong || denominator > GroupSums::kMostUnits)) {
      value = __half2float(noisy[static_cast<std::ptrdiff_t>(y + i) * samples.pitch + x]) / samples.unit;
    }
    out.data[static_cast<std::ptrdiff_t>(y + i) * out.pitch + x] = value + samples.offset;
  }
}

}  // namespace

void finish_estimate(const GroupSums& format, const void* sums, const void* noisy,
                     const GroupSamples& samples, const FilterTables& tables, const FloatPlane& out,
                     cudaStream_t stream) {
  WindowLine window{};
  std::copy_n(tables.window, kPatchSide, window.values);
  const auto start = [&]<typename Sum>(const Sum* typed) {
    launch(estimate_kernel<Sum>,
           dim3(blocks_for(out.width, kMadeColumns), blocks_for(out.height, kEstimateRows)),
           dim3(kReadColumns, kEstimateThreadRows), 0, stream, format, typed,
           static_cast<const __half*>(noisy), samples, window, out);
  };
  format.narrow ? start(static_cast<const std::int32_t*>(sums))
                : start(static_cast<const std::int64_t*>(sums));
}

}  // namespace limpid::cuda
