// SPDX-License-Identifier: MIT

#include <cstddef>

#include "cuda/bm3d/matching.h"
#include "cuda/bm3d/matching_value.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// A block of 8 warps processes 64 x 32 positions, each lane two of a row at a time. It loads the guide's
// samples there and around into shared memory, smooths them and rounds them. Bound by memory: 6 bytes per
// sample.

namespace limpid::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kColumns = 64;
constexpr int kRows = 32;

// Position x limited to 0 .. size - 1: samples beyond are repeated.
__device__ int clamped(int x, int size) { return min(max(x, 0), size - 1); }

// Position x of -1 .. size, mirrored about the last sample.
__device__ int mirrored(int x, int size) { return x < 0 ? -x : x >= size ? 2 * size - 2 - x : x; }

__device__ float smoothed(const float* sample, int pitch) {
  constexpr float kSide = kGuideKernelSide;
  constexpr float kCenter = kGuideKernelCenter;
  constexpr float kScale = 1.0F / (kGuideKernelSum * kGuideKernelSum);
  const auto weighted = [&](float sides, float center) { return kSide * sides + kCenter * center; };
  const auto column = [&](int i) { return weighted(sample[i - pitch] + sample[i + pitch], sample[i]); };
  return weighted(column(-1) + column(1), column(0)) * kScale;
}

__global__ void __launch_bounds__(kWarps* kWarp)
    prepare_kernel(FloatPlane guide, bool smooth, MatchingPlane out) {
  follow_stream();
  constexpr int kRawColumns = kColumns + 2;
  constexpr int kRawPitch = kRawColumns + 1;
  __shared__ float raw[(kRows + 2) * kRawPitch];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const int x0 = blockIdx.x * kColumns - MatchingPlane::kMargin;
  const int y0 = blockIdx.y * kRows - MatchingPlane::kMargin;
  // The loaded region begins beside the first sample that is in the plane.
  const int raw_x = clamped(x0, guide.width) - 1;
  const int raw_y = clamped(y0, guide.height) - 1;
  for (int row = warp; row < kRows + 2; row += kWarps) {
    const int y = min(raw_y + row, guide.height);
    const float* in = guide.data + static_cast<std::ptrdiff_t>(mirrored(y, guide.height)) * guide.pitch;
#pragma unroll
    for (int column = lane; column < kRawColumns; column += kWarp) {
      raw[row * kRawPitch + column] = in[mirrored(min(raw_x + column, guide.width), guide.width)];
    }
  }
  __syncthreads();
  for (int row = warp; row < kRows; row += kWarps) {
    const int y = y0 + row;
    if (y + MatchingPlane::kMargin >= MatchingPlane::rows_of(out.height)) {
      return;
    }
    const float* in = raw + (clamped(y, guide.height) - raw_y) * kRawPitch;
    const auto value = [&](int column) {
      const float* sample = in + clamped(x0 + column, guide.width) - raw_x;
      return static_cast<short>(matching_value(out.scale, smooth ? smoothed(sample, kRawPitch) : *sample));
    };
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y + MatchingPlane::kMargin) * out.pitch + x0 +
                              MatchingPlane::kMargin + 2 * lane;
    *reinterpret_cast<short2*>(out.samples + at) = make_short2(value(2 * lane), value(2 * lane + 1));
  }
}

}  // namespace

void prepare_matching(const FloatPlane& guide, bool smooth, const MatchingPlane& out, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(out.pitch) / kColumns,
                  (static_cast<unsigned>(MatchingPlane::rows_of(out.height)) + kRows - 1) / kRows);
  launch(prepare_kernel, grid, kWarps * kWarp, 0, stream, guide, smooth, out);
}

// One thread per reference patch. Bound by memory, through the first-level cache.

namespace {

template <typename Value>
__global__ void brightness_kernel(const Value* guide, int pitch, int scale, ReferenceGrid grid, float* out) {
  follow_stream();
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= grid.columns || row >= grid.rows) {
    return;
  }
  const Value* from = guide + static_cast<std::ptrdiff_t>(grid.y(row)) * pitch + grid.x(column);
  int sum = 0;
  for (int y = 0; y < grid.patch; ++y, from += pitch) {
    for (int x = 0; x < grid.patch; ++x) {
      sum += __ldg(from + x);
    }
  }
  out[static_cast<std::ptrdiff_t>(row) * grid.columns + column] =
      brightness_of(sum, grid.patch * grid.patch, scale);
}

template <typename Value>
void launch_brightness(const Value* guide, int pitch, int scale, const ReferenceGrid& grid, float* out,
                       cudaStream_t stream) {
  const PlaneLaunch size(grid.columns, grid.rows);
  launch(brightness_kernel<Value>, size.grid, size.block, 0, stream, guide, pitch, scale, grid, out);
}

}  // namespace

void find_brightness(const MatchingPlane& guide, const ReferenceGrid& grid, float* out, cudaStream_t stream) {
  const std::int16_t* first = guide.samples +
                              static_cast<std::ptrdiff_t>(MatchingPlane::kMargin) * guide.pitch +
                              MatchingPlane::kMargin;
  launch_brightness(first, guide.pitch, guide.scale.scale, grid, out, stream);
}

void find_brightness(const std::int8_t* guide, int pitch, const ReferenceGrid& grid, float* out,
                     cudaStream_t stream) {
  launch_brightness(guide, pitch, 1, grid, out, stream);
}

}  // namespace limpid::cuda
