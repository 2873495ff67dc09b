// SPDX-License-Identifier: MIT
#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/powers.h"

// A block of 256 threads makes 32 x 32 samples, one offset of the search window at a time. For each offset,
// every thread first slides along 8 positions of a row and writes sums of squared differences of 2
// patch_radius + 1 adjacent samples to shared memory; it then slides down 4 positions of a column and adds
// these sums, which gives the patches' distances and the weights. The cost per offset and sample is a few
// additions for any size of patches. All sums are integers. Shared memory: up to 7 KiB of sums. Registers are
// no limit. Bound by instruction issue, about 40 per sample and offset, with two barriers.

namespace limpid::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kThreads = 256;
constexpr int kRun = 8;   // positions of a row that a thread slides along
constexpr int kRows = 4;  // positions of a column
constexpr int kMaxPatchRadius = 10;

struct AnyArguments {
  PatchPlane plane;
  FloatPlane out;
  PatchWeights weights;
};

// The number of samples i - radius to i + radius that lie in 0 to size - 1 together with those of i + offset.
__device__ int pairs_inside(int i, int offset, int radius, int size) {
  return min(i + radius, size - 1 - max(offset, 0)) - max(i - radius, max(-offset, 0)) + 1;
}

__device__ void slide_along_rows(const AnyArguments& arguments, int x0, int y0, int dx, int dy,
                                 int (*sums)[kTile + 1]) {
  const FloatPlane& samples = arguments.plane.samples;
  const int radius = arguments.weights.patch_radius;
  for (int run = threadIdx.x; run < (kTile + 2 * radius) * (kTile / kRun); run += kThreads) {
    const int row = run / (kTile / kRun);
    const int column = run % (kTile / kRun) * kRun;
    const int y = y0 - radius + row;
    const bool inside = y >= 0 && y < samples.height && y + dy >= 0 && y + dy < samples.height;
    const std::int16_t* a = arguments.plane.values + static_cast<std::ptrdiff_t>(y) * samples.pitch;
    const std::int16_t* b = a + static_cast<std::ptrdiff_t>(dy) * samples.pitch + dx;
    const int first = max(0, -dx);
    const int end = inside ? min(samples.width, samples.width - dx) : 0;
    const auto square = [&](int x) {
      if (x < first || x >= end) {
        return 0;
      }
      const int difference = a[x] - b[x];
      return difference * difference;
    };
    int sum = 0;
    for (int x = x0 + column - radius; x < x0 + column + radius; ++x) {
      sum += square(x);
    }
    for (int i = 0; i < kRun; ++i) {
      const int x = x0 + column + i;
      sum += square(x + radius);
      sums[row][column + i] = sum;
      sum -= square(x - radius);
    }
  }
}

__global__ void __launch_bounds__(kThreads) nlm_any_kernel(AnyArguments arguments) {
  __shared__ int sums[kTile + 2 * kMaxPatchRadius][kTile + 1];
  const FloatPlane& samples = arguments.plane.samples;
  const PatchWeights& weights = arguments.weights;
  const int radius = weights.patch_radius;
  const int x0 = blockIdx.x * kTile;
  const int y0 = blockIdx.y * kTile;
  const int column = threadIdx.x % kTile;
  const int x = x0 + column;
  const int y = y0 + static_cast<int>(threadIdx.x) / kTile * kRows;
  float own[kRows];
  float weight[kRows] = {};
  float sum[kRows] = {};
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    own[i] = samples.data[static_cast<std::ptrdiff_t>(min(y + i, samples.height - 1)) * samples.pitch +
                          min(x, samples.width - 1)];
  }
  const int last_dy = min(weights.search_radius_y, samples.height - 1 - y0);
  const int last_dx = min(weights.search_radius_x, samples.width - 1 - x0);
  for (int dy = max(-weights.search_radius_y, 1 - y0 - kTile); dy <= last_dy; ++dy) {
    for (int dx = max(-weights.search_radius_x, 1 - x0 - kTile); dx <= last_dx; ++dx) {
      __syncthreads();
      slide_along_rows(arguments, x0, y0, dx, dy, sums);
      __syncthreads();
      if (x >= samples.width || x + dx < 0 || x + dx >= samples.width) {
        continue;
      }
      const float place = weights.spatial * (static_cast<float>(dx) * static_cast<float>(dx) +
                                             static_cast<float>(dy) * static_cast<float>(dy));
      const int columns = pairs_inside(x, dx, radius, samples.width);
      int patch = 0;
      for (int row = y - y0; row < y - y0 + 2 * radius; ++row) {
        patch += sums[row][column];
      }
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const int row = y - y0 + i;
        patch += sums[row + 2 * radius][column];
        if (y + i < samples.height && y + i + dy >= 0 && y + i + dy < samples.height) {
          const auto count = static_cast<float>(columns * pairs_inside(y + i, dy, radius, samples.height));
          const float difference =
              samples.data[static_cast<std::ptrdiff_t>(y + i + dy) * samples.pitch + x + dx] - own[i];
          const float likeness =
              fmaxf(fmaf(weights.patch, static_cast<float>(patch) / count, -weights.offset), 0);
          const float w = power_of_two(-(fmaf(weights.range * difference, difference, likeness) + place));
          weight[i] += w;
          sum[i] = fmaf(w, difference, sum[i]);
        }
        patch -= sums[row][column];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (x < samples.width && y + i < samples.height) {
      arguments.out.data[static_cast<std::ptrdiff_t>(y + i) * arguments.out.pitch + x] =
          own[i] + sum[i] / weight[i];
    }
  }
}

__global__ void prepare_kernel(PatchPlane plane) {
  const FloatPlane& samples = plane.samples;
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < samples.width && y < samples.height) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * samples.pitch + x;
    const auto limit = static_cast<float>(plane.scale.limit);
    const float value = fmaf(samples.data[at] - 128.0F, static_cast<float>(plane.scale.scale), kMatchingBias);
    plane.values[at] = static_cast<std::int16_t>(__float2int_rn(fminf(fmaxf(value, -limit), limit)));
  }
}

}  // namespace

void prepare_patches(const PatchPlane& plane, cudaStream_t stream) {
  const PlaneLaunch launch(plane.samples.width, plane.samples.height);
  prepare_kernel<<<launch.grid, launch.block, 0, stream>>>(plane);
  check_launch();
}

void nlm_any(const NlmJob& job, cudaStream_t stream) {
  const AnyArguments arguments{job.plane, job.out, job.weights};
  const auto tiles = [](int size) { return static_cast<unsigned>((size + kTile - 1) / kTile); };
  nlm_any_kernel<<<dim3(tiles(job.out.width), tiles(job.out.height)), kThreads, 0, stream>>>(arguments);
  check_launch();
}

}  // namespace limpid::cuda
