// SPDX-License-Identifier: MIT
#include <cstddef>

#include "cuda/bm3d/brightness.h"
#include "cuda/runtime/launch.h"

// One thread per reference patch. Bound by memory, through the first-level cache.

namespace limpid::cuda {
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
