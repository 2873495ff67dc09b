// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

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

}  // namespace limpid::cuda
