// SPDX-License-Identifier: MIT
#include <cstddef>

#include "core/vnlb/vnlb_parameters.h"
#include "cuda/runtime/launch.h"
#include "cuda/vnlb/patch_groups.h"
#include "cuda/vnlb/tiles.h"

// A warp replaces the eigenvalues of a group's products by factors. For the inversion, each lane has one or
// two columns in registers. In each step the pivot's column, which one lane has, is passed to all others
// through shared memory, and elements move up by a row, so that the pivot is always in the first register.
// The inverse is then in shared memory. Products of the resulting symmetric matrices are computed by tensor
// cores from registers, in which they stay. Bound by instruction issue.

namespace limpid::cuda {
namespace {

struct NoiseEdges {
  float of[limpid::vnlb::kSlices][limpid::vnlb::kMostPatches + 1];  // [slices - 1][patches]
};

NoiseEdges noise_edges() {
  NoiseEdges edges{};
  for (int slices = 1; slices <= limpid::vnlb::kSlices; ++slices) {
    for (int patches = 2; patches <= limpid::vnlb::kMostPatches; ++patches) {
      edges.of[slices - 1][patches] =
          limpid::vnlb::noise_edge(patches, slices * limpid::vnlb::kPatch * limpid::vnlb::kPatch);
    }
  }
  return edges;
}

template <int kSize>
struct InverseMemory {
  static constexpr int kPitch = kSize + 8;  // pairs of a tile's rows are in different banks
  float inverse[kSize * kPitch];
  float4 pivots[kSize / 4];  // the pivot's column, from the pivot on, cyclically
};

// The inverse of matrix + bound I, in shared memory.
template <int kSize>
__device__ __forceinline__ void invert(const float* matrix, float bound, InverseMemory<kSize>& memory) {
  constexpr int kOfLane = (kSize + kWarp - 1) / kWarp;
  const int lane = static_cast<int>(threadIdx.x);
  float columns[kOfLane][kSize];
#pragma unroll
  for (int q = 0; q < kOfLane; ++q) {
    const int column = lane + q * kWarp;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      columns[q][i] = column < kSize ? matrix[i * kSize + column] : 0.0F;
      columns[q][i] += i == column ? bound : 0.0F;
    }
  }
#pragma unroll
  for (int pivot = 0; pivot < kOfLane; ++pivot) {
    const int steps = min(kWarp, kSize - pivot * kWarp);
#pragma unroll 1
    for (int k = 0; k < steps; ++k) {
      const bool owns = lane == k;
      if (owns) {
#pragma unroll
        for (int i = 0; i < kSize; i += 4) {
          float* const four = &columns[pivot][i];
          memory.pivots[i / 4] = make_float4(four[0], four[1], four[2], four[3]);
          four[0] = four[1] = four[2] = four[3] = 0;
        }
      }
      __syncwarp();
      float4 four = memory.pivots[0];
      const float reciprocal = 1 / four.x;
      float row[kOfLane];
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        row[q] = owns && q == pivot ? reciprocal : columns[q][0] * reciprocal;
      }
#pragma unroll
      for (int i = 1; i < kSize; ++i) {
        if (i % 4 == 0) {
          four = memory.pivots[i / 4];
        }
        const float factor = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
#pragma unroll
        for (int q = 0; q < kOfLane; ++q) {
          columns[q][i - 1] = fmaf(-factor, row[q], columns[q][i]);
        }
      }
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        columns[q][kSize - 1] = row[q];
      }
      __syncwarp();
    }
  }
#pragma unroll
  for (int q = 0; q < kOfLane; ++q) {
    if (const int column = lane + q * kWarp; column < kSize) {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        memory.inverse[i * InverseMemory<kSize>::kPitch + column] = columns[q][i];
      }
    }
  }
  __syncwarp();
}

// A symmetric matrix in a warp's registers.
template <int kSize>
struct SymmetricMatrix {
  static constexpr int kTiles = kSize / 16;
  Tile tiles[kTiles][kTiles];

  // 16 rows of the product of this and another matrix that commutes with it.
  __device__ __forceinline__ TileRow<kTiles> product_row(int row, const SymmetricMatrix& other) const {
    TileRow<kTiles> result;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int k = 0; k < kTiles; ++k) {
        multiply_by_transposed(result.sums[n][0], result.sums[n][1], tiles[row][k], other.tiles[n][k]);
      }
    }
    return result;
  }
  __device__ __forceinline__ TileRow<kTiles> row(int m) const {
    TileRow<kTiles> result;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 two = elements_of(tiles[m][n].pairs[i]);
        result.sums[n][i / 2][i % 2 * 2] = two.x;
        result.sums[n][i / 2][i % 2 * 2 + 1] = two.y;
      }
    }
    return result;
  }
  __device__ __forceinline__ void set_row(int row, const TileRow<kTiles>& to) {
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      tiles[row][n] = to.tile(n);
    }
  }
  // Loads a I + b M of the matrix M in shared memory.
  __device__ __forceinline__ void load(float a, float b, const float* matrix, int pitch) {
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = 16 * m + tile_row(i);
          const int column = 16 * n + tile_column(i);
          const auto two = *reinterpret_cast<const float2*>(matrix + row * pitch + column);
          tiles[m][n].pairs[i] = split<true>(fmaf(b, two.x, row == column ? a : 0.0F),
                                             fmaf(b, two.y, row == column + 1 ? a : 0.0F));
        }
      }
    }
  }
};

// Loads 16 rows, from number 16 m on, of a I + b M.
template <int kTiles>
__device__ __forceinline__ void combine(float a, float b, int m, TileRow<kTiles>& row) {
  row.for_each_pair([&](float* two, int of_row, int column) {
    two[0] = fmaf(b, two[0], 16 * m + of_row == column ? a : 0.0F);
    two[1] = fmaf(b, two[1], 16 * m + of_row == column + 1 ? a : 0.0F);
  });
}

template <int kTiles>
__device__ __forceinline__ void add(TileRow<kTiles>& to, float factor, const TileRow<kTiles>& row) {
#pragma unroll
  for (int n = 0; n < kTiles; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      to.sums[n][i / 4][i % 4] = fmaf(factor, row.sums[n][i / 4][i % 4], to.sums[n][i / 4][i % 4]);
    }
  }
}

template <int kTiles>
__device__ __forceinline__ void store(TileRow<kTiles>& row, float scale, int m, float* to) {
  row.for_each_pair([&](const float* two, int of_row, int column) {
    *reinterpret_cast<float2*>(to + (16 * m + of_row) * 16 * kTiles + column) =
        make_float2(scale * two[0], scale * two[1]);
  });
}

template <bool kSecondStep, int kSize>
__global__ void __launch_bounds__(kWarp)
    filter_kernel(PatchGroups groups, const __grid_constant__ NoiseEdges edges) {
  __shared__ InverseMemory<kSize> memory;
  using Matrix = SymmetricMatrix<kSize>;
  follow_stream();
  const std::ptrdiff_t group = blockIdx.x;
  const int shape = groups.shapes[group];
  const int patches = shape % PatchGroups::kSlicesUnit;
  const int slices =
      shape / PatchGroups::kSlicesUnit % (PatchGroups::kDirectionUnit / PatchGroups::kSlicesUnit);
  float* const matrix = groups.matrices + group * kSize * kSize;
  float* const kept = groups.kept + group * kSize * kSize;
  if (patches < 2) {
    for (int i = threadIdx.x; i < kSize * kSize; i += kWarp) {
      matrix[i] = 0;
      if constexpr (kSecondStep) {
        kept[i] = 0;
      }
    }
    return;
  }
  float sum = 0;
  for (int i = threadIdx.x; i < patches; i += kWarp) {
    sum += matrix[i * kSize + i];
  }
  sum = combine_warp(sum, [](float a, float b) { return a + b; });
  const limpid::vnlb::EigenvalueFilter filter =
      limpid::vnlb::eigenvalue_filter(kSecondStep, patches, edges.of[slices - 1][patches], sum);
  invert<kSize>(matrix, filter.bound, memory);
  Matrix sign;
  sign.load(1, -2 * filter.bound, memory.inverse, InverseMemory<kSize>::kPitch);
  constexpr int kRounds = limpid::vnlb::eigenvalue_filter(kSecondStep, 2, 0, 0).rounds;
  Matrix factor;
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int m = 0; m < Matrix::kTiles; ++m) {
      TileRow<Matrix::kTiles> row = sign.product_row(m, sign);
      combine(1.5F, -0.5F, m, row);
      factor.set_row(m, row);
    }
#pragma unroll
    for (int m = 0; m < Matrix::kTiles; ++m) {
      sign.set_row(m, sign.product_row(m, factor));
    }
  }
  // P (constant I + R inverse), and H = P - e P R. Small values are processed last, as products are of
  // halves.
  factor.load(filter.constant, kSecondStep ? 1.0F : filter.inverse, memory.inverse,
              InverseMemory<kSize>::kPitch);
#pragma unroll
  for (int m = 0; m < Matrix::kTiles; ++m) {
    TileRow<Matrix::kTiles> row = sign.row(m);
    combine(0.5F, 0.5F, m, row);
    sign.set_row(m, row);
    TileRow<Matrix::kTiles> result = sign.product_row(m, factor);
    if constexpr (kSecondStep) {
      add(row, -filter.bound, result);
      store(row, 1, m, kept);
    }
    store(result, kSecondStep ? filter.inverse : 1.0F, m, matrix);
  }
}

}  // namespace

void filter_eigenvalues(const PatchGroups& groups, int count, bool second_step, cudaStream_t stream) {
  const NoiseEdges edges = noise_edges();
  PatchGroups::with_capacity(groups.capacity, [&](auto capacity) {
    constexpr int kSize = decltype(capacity)::value;
    launch(second_step ? filter_kernel<true, kSize> : filter_kernel<false, kSize>, count, kWarp, 0, stream,
           groups, edges);
  });
}

}  // namespace limpid::cuda
