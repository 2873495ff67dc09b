// SPDX-License-Identifier: MIT

#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/bm3d/matching_value.h"
#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/groups.h"

// Each thread processes one sample. Bound by memory.

namespace limpid::cuda {
namespace {

constexpr int kSampleRows = 4;  // per thread

// Calls store(x, y, value) for each of a thread's samples in memory; values outside the plane are 0.
template <typename Store>
__device__ __forceinline__ void for_each_value(const FloatPlane& values, int width, int height,
                                               const Store& store) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kSampleRows;
  if (x >= width) {
    return;
  }
  float own[kSampleRows];
#pragma unroll
  for (int i = 0; i < kSampleRows; ++i) {
    own[i] = x < values.width && y + i < values.height
                 ? values.data[static_cast<std::ptrdiff_t>(y + i) * values.pitch + x]
                 : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kSampleRows; ++i) {
    if (y + i < height) {
      store(x, y + i, own[i]);
    }
  }
}

__global__ void guide_kernel(FloatPlane values, MatchingScale scale, std::int8_t* out, int pitch) {
  follow_stream();
  for_each_value(values, values.width, values.height, [&](int x, int y, float value) {
    out[static_cast<std::ptrdiff_t>(y) * pitch + x] = static_cast<std::int8_t>(matching_value(scale, value));
  });
}

// Each thread processes two adjacent samples of several rows. The guide's border is repeated outside it.
__global__ void matching_kernel(const std::int8_t* guide, int pitch, MatchingPlane out) {
  follow_stream();
  const int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kSampleRows;
  if (x >= out.pitch) {
    return;
  }
  const auto column = [&](int i) { return min(max(x + i - MatchingPlane::kMargin, 0), out.width - 1); };
#pragma unroll
  for (int i = 0; i < kSampleRows; ++i) {
    if (y + i < MatchingPlane::rows_of(out.height)) {
      const int row = min(max(y + i - MatchingPlane::kMargin, 0), out.height - 1);
      const std::int8_t* in = guide + static_cast<std::ptrdiff_t>(row) * pitch;
      *reinterpret_cast<short2*>(out.samples + static_cast<std::ptrdiff_t>(y + i) * out.pitch + x) =
          make_short2(in[column(0)], in[column(1)]);
    }
  }
}

__device__ __forceinline__ void store_as(float value, float* out) { *out = value; }
__device__ __forceinline__ void store_as(float value, __half* out) { *out = __float2half_rn(value); }

template <typename Sample>
__global__ void samples_kernel(FloatPlane values, GroupSamples samples, Sample* out) {
  follow_stream();
  for_each_value(values, samples.pitch, samples.rows(values.height), [&](int x, int y, float value) {
    store_as((value - samples.offset) * samples.unit,
             out + static_cast<std::ptrdiff_t>(y) * samples.pitch + x);
  });
}

__device__ __forceinline__ __half as_half(float value) { return __float2half_rn(value); }
__device__ __forceinline__ __half as_half(__half value) { return value; }

template <typename Sample>
__global__ void pairs_kernel(FloatPlane basic, GroupSamples samples, const Sample* noisy, __half2* out) {
  follow_stream();
  for_each_value(basic, samples.pitch, samples.rows(basic.height), [&](int x, int y, float value) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * samples.pitch + x;
    out[at] = __halves2half2(as_half((value - samples.offset) * samples.unit), as_half(noisy[at]));
  });
}

template <typename Sample>
void store_samples(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  const PlaneLaunch size(samples.pitch, samples.rows(values.height), kSampleRows);
  launch(samples_kernel<Sample>, size.grid, size.block, 0, stream, values, samples,
         static_cast<Sample*>(out));
}

}  // namespace

void prepare_guide(const FloatPlane& values, const MatchingScale& scale, std::int8_t* out,
                   cudaStream_t stream) {
  const PlaneLaunch size(values.width, values.height, kSampleRows);
  launch(guide_kernel, size.grid, size.block, 0, stream, values, scale, out,
         TrajectoryGuide::pitch_of(values.width));
}

void prepare_matching(const std::int8_t* guide, const MatchingPlane& out, cudaStream_t stream) {
  const PlaneLaunch size(out.pitch / 2, MatchingPlane::rows_of(out.height), kSampleRows);
  launch(matching_kernel, size.grid, size.block, 0, stream, guide, TrajectoryGuide::pitch_of(out.width), out);
}

void store_halves(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  store_samples<__half>(values, samples, out, stream);
}

void store_floats(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  store_samples<float>(values, samples, out, stream);
}

void store_pairs(const FloatPlane& basic, const GroupSamples& samples, bool narrow, const void* noisy,
                 void* out, cudaStream_t stream) {
  const PlaneLaunch size(samples.pitch, samples.rows(basic.height), kSampleRows);
  const auto store = [&]<typename Sample>(const Sample* its_noisy) {
    launch(pairs_kernel<Sample>, size.grid, size.block, 0, stream, basic, samples, its_noisy,
           static_cast<__half2*>(out));
  };
  narrow ? store(static_cast<const __half*>(noisy)) : store(static_cast<const float*>(noisy));
}

// Like cuda/bm3d/finish.cu: a block of 64 x 4 threads makes 32 rows of 56 samples. The weights around them
// are spread by the window, which is an outer product: first along columns, eight vertically adjacent samples
// per thread, then along rows. Bound by memory: 12 bytes per sample, 20 with wide sums.

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
