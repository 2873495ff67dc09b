#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda/convert.h"
#include "cuda/runtime.h"

// 8-bit samples in shared memory, for kernels of which 16 lanes by 2 rows make a warp, each lane 4 or 8
// samples side by side, and the warps lie one above the other.

namespace limpid::cuda {

constexpr int kTileLanes = 16;

inline int multiprocessor_count() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Words from row to row of a tile of kTileLanes * `pixels` columns with `radius` more on both sides, such
/// that both rows of a warp read their words without conflicts: the second row lies an odd number of words
/// away where lanes are two words apart, half of the banks away where they are one.
inline int byte_tile_pitch(int pixels, int radius) {
  const int words = (kTileLanes * pixels + 2 * radius + 3) / 4 + 1;
  return pixels == 8 ? words | 1 : (words + 15) / 32 * 32 + 16;
}

/// Fills a tile with the samples of columns x0 to x0 + columns - 1 and so of rows, with `radius` more all
/// round; those outside of the plane repeat its border. By all threads of the block, whose number is a
/// multiple of 32.
__device__ inline void fill_byte_tile(const SamplePlane& in, int width, int height, int radius, int x0,
                                      int y0, int columns, int rows, int pitch, std::uint8_t* tile) {
  for (int row = threadIdx.x / 32; row < rows + 2 * radius; row += blockDim.x / 32) {
    const int y = min(max(y0 - radius + row, 0), height - 1);
    const auto* samples = reinterpret_cast<const std::uint8_t*>(in.data + y * in.stride);
    for (int column = threadIdx.x % 32; column < columns + 2 * radius; column += 32) {
      tile[row * pitch * 4 + column] = samples[min(max(x0 - radius + column, 0), width - 1)];
    }
  }
}

}  // namespace limpid::cuda
