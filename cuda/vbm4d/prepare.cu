#include <cuda_fp16.h>

#include "cuda/bm3d/matching_value.h"
#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/groups.h"

// A thread treats a sample. Bound by memory.

namespace limpid::cuda {
namespace {

constexpr int kSampleRows = 4;  // of a thread

// Calls store(x, y, value) for each of a thread's samples.
template <typename Store>
__device__ __forceinline__ void for_each_value(const FloatPlane& values, const Store& store) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kSampleRows;
  if (x >= values.width) {
    return;
  }
  float own[kSampleRows];
#pragma unroll
  for (int i = 0; i < kSampleRows; ++i) {
    own[i] =
        y + i < values.height ? values.data[static_cast<std::ptrdiff_t>(y + i) * values.pitch + x] : 0.0F;
  }
#pragma unroll
  for (int i = 0; i < kSampleRows; ++i) {
    if (y + i < values.height) {
      store(x, y + i, own[i]);
    }
  }
}

__global__ void guide_kernel(FloatPlane values, std::int8_t* out, int pitch) {
  constexpr MatchingScale kScale = limpid::vbm4d::kGuideScale;
  follow_stream();
  for_each_value(values, [&](int x, int y, float value) {
    out[static_cast<std::ptrdiff_t>(y) * pitch + x] = static_cast<std::int8_t>(matching_value(kScale, value));
  });
}

__device__ __forceinline__ void store_as(float value, float* out) { *out = value; }
__device__ __forceinline__ void store_as(float value, __half* out) { *out = __float2half_rn(value); }

template <typename Sample>
__global__ void samples_kernel(FloatPlane values, GroupSamples samples, Sample* out) {
  follow_stream();
  for_each_value(values, [&](int x, int y, float value) {
    store_as((value - samples.offset) * samples.unit,
             out + static_cast<std::ptrdiff_t>(y) * samples.pitch + x);
  });
}

template <typename Sample>
void store_samples(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  const PlaneLaunch size(values.width, values.height, kSampleRows);
  launch(samples_kernel<Sample>, size.grid, size.block, 0, stream, values, samples,
         static_cast<Sample*>(out));
}

}  // namespace

void prepare_guide(const FloatPlane& values, std::int8_t* out, cudaStream_t stream) {
  const PlaneLaunch size(values.width, values.height, kSampleRows);
  launch(guide_kernel, size.grid, size.block, 0, stream, values, out,
         TrajectoryGuide::pitch_of(values.width));
}

void store_halves(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  store_samples<__half>(values, samples, out, stream);
}

void store_floats(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream) {
  store_samples<float>(values, samples, out, stream);
}

}  // namespace limpid::cuda
