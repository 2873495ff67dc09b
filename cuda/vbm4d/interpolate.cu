#include <cuda_fp16.h>

#include <algorithm>
#include <iterator>

#include "core/vbm4d/quarter_samples.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/group_patch.h"
#include "cuda/vbm4d/groups.h"

// A warp interpolates the patches of a group, one after the other: rows first, by way of shared memory. Bound
// by instruction issue.

namespace limpid::cuda {
namespace {

using limpid::vbm4d::kPatch;
using limpid::vbm4d::kTaps;
using limpid::vbm4d::kTapsBefore;

constexpr int kWarps = 8;
constexpr int kRows = kPatch + kTaps - 1;  // that a patch is made of
constexpr int kRowsAtOnce = kWarp / kPatch;

struct Arguments {
  ReferenceGrid grid;
  Trajectories groups;
  InterpolatedPatches out;
  int pitch;
  const void* noisy[kMostPictures];
  const void* basic[kMostPictures];
};

__device__ __forceinline__ float value_of(const float* sample) { return __ldg(sample); }
__device__ __forceinline__ float value_of(const __half* sample) { return __half2float(__ldg(sample)); }
__device__ __forceinline__ void store_value(float value, float* out) { *out = value; }
__device__ __forceinline__ void store_value(float value, __half* out) { *out = __float2half_rn(value); }

struct Weights {
  float of[kTaps];

  __device__ __forceinline__ explicit Weights(int quarters) {
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      of[i] = static_cast<float>(limpid::vbm4d::interpolation_weight(quarters, i)) /
              (1 << limpid::vbm4d::kWeightBits);
    }
  }
};

// The patch whose first sample is `quarters` behind the one at `in`. `rows` is the warp's.
template <typename Sample>
__device__ __forceinline__ void interpolate(const Sample* in, Sample* out, int pitch, int quarters, int lane,
                                            float (&rows)[kRows][kPatch]) {
  const Weights right(quarters & (limpid::vbm4d::kQuarters - 1));
  const Weights below(quarters / limpid::vbm4d::kQuarters);
  const int column = lane % kPatch;
  __syncwarp();
#pragma unroll
  for (int first = 0; first < kRows; first += kRowsAtOnce) {
    const int row = first + lane / kPatch;
    if (row < kRows) {
      const Sample* const at = in + (row - kTapsBefore) * pitch + column - kTapsBefore;
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kTaps; ++i) {
        sum = fmaf(right.of[i], value_of(at + i), sum);
      }
      rows[row][column] = sum;
    }
  }
  __syncwarp();
#pragma unroll
  for (int first = 0; first < kPatch; first += kRowsAtOnce) {
    const int row = first + lane / kPatch;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      sum = fmaf(below.of[i], rows[row + i][column], sum);
    }
    store_value(sum, out + row * pitch + column);
  }
}

template <typename Sample>
__global__ void __launch_bounds__(kWarp* kWarps)
    interpolate_kernel(const __grid_constant__ Arguments arguments) {
  follow_stream();
  __shared__ float rows[kWarps][kRows][kPatch];
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const int column = blockIdx.x * kWarps + warp;
  if (column >= arguments.grid.columns) {
    return;
  }
  const std::ptrdiff_t number = static_cast<std::ptrdiff_t>(blockIdx.y) * arguments.grid.columns + column;
  const GroupPatch own = patch_of_trajectories(arguments.groups, arguments.grid, lane, number);
  unsigned left = __ballot_sync(kAllLanes, lane < own.size && own.quarters != 0);
  for (; left != 0; left &= left - 1) {
    const int patch = __ffs(static_cast<int>(left)) - 1;
    const int picture = __shfl_sync(kAllLanes, own.picture, patch);
    const int from = __shfl_sync(kAllLanes, own.y * arguments.pitch + own.x, patch);
    const int quarters = __shfl_sync(kAllLanes, own.quarters, patch);
    const int to = arguments.out.offset_of(number, patch, arguments.pitch);
    interpolate(static_cast<const Sample*>(arguments.noisy[picture]) + from,
                static_cast<Sample*>(arguments.out.noisy) + to, arguments.pitch, quarters, lane, rows[warp]);
    interpolate(static_cast<const __half*>(arguments.basic[picture]) + from,
                static_cast<__half*>(arguments.out.basic) + to, arguments.pitch, quarters, lane, rows[warp]);
  }
}

}  // namespace

void interpolate_patches(const GroupJob& job, cudaStream_t stream) {
  Arguments arguments{};
  arguments.grid = job.grid;
  arguments.groups = job.groups;
  arguments.out = job.interpolated;
  arguments.pitch = job.samples.pitch;
  std::copy(std::begin(job.noisy), std::end(job.noisy), arguments.noisy);
  std::copy(std::begin(job.basic), std::end(job.basic), arguments.basic);
  const dim3 grid(blocks_for(job.grid.columns, kWarps), job.groups.last_row - job.groups.first_row);
  launch(job.format.narrow ? interpolate_kernel<__half> : interpolate_kernel<float>, grid, kWarp * kWarps, 0,
         stream, arguments);
}

}  // namespace limpid::cuda
