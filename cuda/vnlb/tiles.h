// SPDX-License-Identifier: MIT
#pragma once

#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"

// Products of matrices of floats by a warp's tensor cores, with an error of 2^-21 of the greatest elements,
// which must be within the range of halves.

namespace limpid::cuda {

/// 16 x 16 elements of a matrix: lane 4 g + t has the elements (g, 2 t) and (g, 2 t + 1), and those 8 rows
/// below, 8 columns to the right, and both.
struct Tile {
  Operand pairs[4];
};

/// The row and the column in a tile of the first element of a lane's pair.
__device__ __forceinline__ int tile_row(int pair) {
  return static_cast<int>(threadIdx.x) % kWarp / 4 + 8 * (pair % 2);
}
__device__ __forceinline__ int tile_column(int pair) {
  return static_cast<int>(threadIdx.x) % 4 * 2 + 8 * (pair / 2);
}

/// Loads a tile whose first element is at `at`, times `scale`.
__device__ __forceinline__ Tile load_tile(const float* at, int pitch, float scale = 1) {
  Tile tile;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const auto two = *reinterpret_cast<const float2*>(at + tile_row(i) * pitch + tile_column(i));
    tile.pairs[i] = split<true>(scale * two.x, scale * two.y);
  }
  return tile;
}

/// Loads a tile of pairs of elements that are already stored as Operands, in rows of `pitch` elements.
__device__ __forceinline__ Tile load_tile(const Operand* at, int pitch) {
  Tile tile;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    tile.pairs[i] = at[(tile_row(i) * pitch + tile_column(i)) / 2];
  }
  return tile;
}

/// The tile of two adjacent sums.
__device__ __forceinline__ Tile to_tile(const float (&left)[4], const float (&right)[4]) {
  return {{split<true>(left[0], left[1]), split<true>(left[2], left[3]), split<true>(right[0], right[1]),
           split<true>(right[2], right[3])}};
}

/// A pair's two elements.
__device__ __forceinline__ float2 elements_of(const Operand& pair) {
  const auto halves = [](unsigned bits) { return __half22float2(*reinterpret_cast<const __half2*>(&bits)); };
  const float2 high = halves(pair.high);
  const float2 low = halves(pair.low);
  return make_float2(high.x + low.x, high.y + low.y);
}

/// sums += A B with a 16 x 16 matrix A; `first` and `second` are the elements of B as operands.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const Tile& a, const Operand& first,
                                             const Operand& second) {
  const unsigned high[4] = {a.pairs[0].high, a.pairs[1].high, a.pairs[2].high, a.pairs[3].high};
  const unsigned low[4] = {a.pairs[0].low, a.pairs[1].low, a.pairs[2].low, a.pairs[3].low};
  multiply_add(sums, high, first.high, second.high);
  multiply_add(sums, high, first.low, second.low);
  multiply_add(sums, low, first.high, second.high);
}

/// sums += A B^T: two adjacent sums.
__device__ __forceinline__ void multiply_by_transposed(float (&left)[4], float (&right)[4], const Tile& a,
                                                       const Tile& b) {
  multiply_add(left, a, b.pairs[0], b.pairs[2]);
  multiply_add(right, a, b.pairs[1], b.pairs[3]);
}

/// 16 rows of a product.
template <int kTiles>
struct TileRow {
  float sums[kTiles][2][4] = {};

  __device__ __forceinline__ Tile tile(int number) const { return to_tile(sums[number][0], sums[number][1]); }
  /// Calls function(two, row, column) for each pair of elements, beginning at the given position; rows are
  /// counted from the first.
  template <typename Function>
  __device__ __forceinline__ void for_each_pair(const Function& function) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        function(&sums[n][i / 2][i % 2 * 2], tile_row(i), 16 * n + tile_column(i));
      }
    }
  }
};

}  // namespace limpid::cuda
