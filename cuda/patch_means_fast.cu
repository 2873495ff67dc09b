#include <cuda_fp16.h>

#include <algorithm>

#include "cuda/launch.h"
#include "cuda/patch_means.h"
#include "cuda/powers.h"

// Patches' distances at one offset are a box sum of the squared differences of the plane and the shifted
// plane, along columns, then along rows: two products with matrices of ones and zeros, which tensor cores do.
// A warp makes 16 x 32 samples. Of an offset its lanes hold 24 x 40 squared differences, in pairs of rows, as
// the right operand of
//
//   16 x 24 ones where column - row is 0 to 2 radius    x    24 x 8 squared differences    (5 times)
//
// whose result, 16 x 40 column sums in half floats, is, transposed, the right operand of
//
//   16 x 24 of `patch` where column - row is 0 to 2 radius    x    24 x 8 column sums    (4 times)
//
// starting from the negative offset: the weights' exponents, of which maxima with 0 are taken in packing them
// to half floats. A lane's results are pairs of rows, too, so that one tile in shared memory serves the
// squares and the results: words of the halves (x, y) and (x, y + 1). Sums of weights and of weighted samples
// are floats, added up by products with the identity: two pairs by one instruction.
//
// Samples are held in units of 16 code values from mid-grey, so that squares fit half floats: those have a
// relative error of 2^-12, the column sums one of 2^-11.
//
// 4 warps make a block of 32 rows and 32 columns: two, one above the other, for the upper half of the search
// window, and two for the lower one. So a block takes half as long, and the last ones leave fewer
// multiprocessors idle. Shared memory: the block's tile with its margin, 4 bytes a sample, 16 KiB for a
// window of 21 x 21. Registers: 128. Bound by instruction issue, 9 a sample and offset, and nearly as much by
// the special function unit and by shared memory.

namespace limpid::cuda {
namespace {

constexpr int kMaxPatchRadius = 4;
constexpr int kBlockRows = 32;
constexpr int kColumns = 32;  // of a block and of a warp
constexpr int kWarpRows = 16;
constexpr int kThreads = 128;
constexpr int kSquareRows = 24;
constexpr int kSquareBlocks = 5;   // of 8 columns
constexpr int kQuarters = 4;       // of a lane's results, two pairs of samples each
constexpr float kUnits = 16;       // of samples, in code values
constexpr float kMostOffset = 80;  // beyond, half floats' distances are too coarse for the weights

struct FastArguments {
  PatchPlane plane;
  FloatPlane out;
  PatchWeights weights;
  int rows;  // of the tile in shared memory
  int pitch;
  float patch;  // for distances in units of kUnits^-2, a half float unless the block is at the border
  float offset;
  float border_patch;  // per sample of the patch
  float border_offset;
  // What compilers know to be equal or zero they copy beside each other for every product that needs it so.
  // They don't know of these.
  unsigned zero = 0;
  float starts[4];  // all -offset
};

// Halves of ones and zeros.
__device__ unsigned pair_of_ones(bool low, bool high) {
  return (low ? 0x3C00U : 0U) | (high ? 0x3C000000U : 0U);
}
__device__ unsigned pair_mask(bool low, bool high) {
  return (low ? 0xFFFFU : 0U) | (high ? 0xFFFF0000U : 0U);
}

// d = a b, of halves.
__device__ void multiply(unsigned (&d)[2], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %8};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(0));
#endif
}

// d += a b, of halves.
__device__ void multiply_add(unsigned (&d)[2], const unsigned (&a)[2], unsigned b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

// d = start + a b.
__device__ void multiply(float (&d)[4], const unsigned (&a)[2], unsigned b, const float (&start)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "f"(start[0]), "f"(start[1]), "f"(start[2]), "f"(start[3]));
#endif
}

// d += a b.
__device__ void multiply_add(float (&d)[4], const unsigned (&a)[2], unsigned b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
#endif
}

// max(value, 0) as halves.
__device__ unsigned pack_positive(float low, float high) {
  unsigned pair = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
  return pair;
}

// 1 / how many of the samples i - radius to i + radius lie in 0 to size - 1 with i + offset's, if any do.
__device__ float share_of_pair(int i, int offset, int radius, int size) {
  const int pairs = min(i + radius, size - 1 - max(offset, 0)) - max(i - radius, max(-offset, 0)) + 1;
  float share = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(share) : "f"(static_cast<float>(pairs)));
  return share;
}

__device__ bool both_inside(int i, int offset, int size) {
  return i >= 0 && i < size && i + offset >= 0 && i + offset < size;
}

// The sums of a lane's samples. Quarter q has columns group and group + 8, from 16 (q % 2) on, and rows
// 2 in_group and the next, from 8 (q / 2) on.
struct Sums {
  float weight[kQuarters][4] = {};
  float sample[kQuarters][4] = {};
};

// A warp's 16 x 32 samples, over the rows first_dy to last_dy of the search window. kBorder: patches or
// neighbours may lie outside of the plane. kRange: weights have a factor for the difference of the samples
// and for the offset.
template <bool kBorder, bool kRange>
__device__ void average(const FastArguments& arguments, const unsigned* tile, int x0, int y0, int first_dy,
                        int last_dy, Sums& sums) {
  const FloatPlane& samples = arguments.plane.samples;
  const PatchWeights& weights = arguments.weights;
  const int radius = weights.patch_radius;
  const int pitch = arguments.pitch;
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);

  // The left operands: the first 16 columns and the last 8 of the sums of columns', then of the sums of
  // rows'.
  unsigned ones[4];
  unsigned last_ones[2];
  unsigned factors[3][2];
  const unsigned patch = kBorder ? pair_of_ones(true, true) : bits_of(__float2half2_rn(arguments.patch));
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const int row = group + i % 2 * 8;
    const int column = 2 * in_group + i / 2 * 8;
    const auto inside = [&](int k) { return k >= row && k <= row + 2 * radius; };
    (i < 4 ? ones[i % 4] : last_ones[i % 2]) =
        pair_of_ones(inside(column), inside(column + 1)) | arguments.zero;
    factors[i / 2][i % 2] = (patch & pair_mask(inside(column), inside(column + 1))) | arguments.zero;
  }

  const unsigned identity = pair_of_ones(group == 2 * in_group, group == 2 * in_group + 1);

  // At no offset: the words of squares and of results.
  const unsigned* origin = tile + weights.search_radius_y * pitch + weights.search_radius_x;
  const unsigned* square_words = origin + 2 * in_group * pitch + group;
  const unsigned* result_words = square_words + radius * pitch + radius;
  __half2 own_squares[kSquareRows / 8][kSquareBlocks];
#pragma unroll
  for (int k = 0; k < kSquareRows / 8; ++k) {
#pragma unroll
    for (int j = 0; j < kSquareBlocks; ++j) {
      own_squares[k][j] = pair_of(square_words[8 * k * pitch + 8 * j]);
    }
  }
  [[maybe_unused]] __half2 own[kQuarters][2];
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      own[q][c] = pair_of(result_words[q / 2 * 8 * pitch + q % 2 * 16 + 8 * c]);
    }
  }
  const __half2 range = __float2half2_rn(kUnits * sqrtf(weights.range));
  // What distances start from.
  float starts[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    starts[i] = kBorder ? 0.0F : arguments.starts[i];
  }

  for (int dy = first_dy; dy <= last_dy; ++dy) {
    [[maybe_unused]] unsigned row_masks[kSquareRows / 8];
    [[maybe_unused]] unsigned neighbour_rows[2];
    [[maybe_unused]] float2 row_factors[2];
    if constexpr (kBorder) {
#pragma unroll
      for (int k = 0; k < kSquareRows / 8; ++k) {
        const int y = y0 - radius + 8 * k + 2 * in_group;
        row_masks[k] = pair_mask(both_inside(y, dy, samples.height), both_inside(y + 1, dy, samples.height));
      }
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int y = y0 + 8 * h + 2 * in_group;
        const auto factor = [&](int row) {
          return arguments.border_patch * share_of_pair(row, dy, radius, samples.height);
        };
        neighbour_rows[h] =
            pair_mask(both_inside(y, dy, samples.height), both_inside(y + 1, dy, samples.height));
        row_factors[h] = {factor(y), factor(y + 1)};
      }
    }
    const unsigned* squares_at = square_words + dy * pitch - weights.search_radius_x;
    const unsigned* results_at = result_words + dy * pitch - weights.search_radius_x;
    for (int dx = -weights.search_radius_x; dx <= weights.search_radius_x; ++dx) {
      float shift = 0;
      if constexpr (kRange) {
        shift = weights.spatial * static_cast<float>(dx * dx + dy * dy);
        if constexpr (!kBorder) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            starts[i] = arguments.starts[i] + shift;
          }
        }
      }
      unsigned column_sums[kSquareBlocks][2];
#pragma unroll
      for (int j = 0; j < kSquareBlocks; ++j) {
        unsigned squares[kSquareRows / 8];
#pragma unroll
        for (int k = 0; k < kSquareRows / 8; ++k) {
          const __half2 difference = __hsub2(pair_of(squares_at[8 * k * pitch + 8 * j]), own_squares[k][j]);
          squares[k] = bits_of(__hmul2(difference, difference));
          if constexpr (kBorder) {
            const bool inside = both_inside(x0 - radius + 8 * j + group, dx, samples.width);
            squares[k] &= inside ? row_masks[k] : 0U;
          }
        }
        multiply(column_sums[j], ones, squares[0], squares[1]);
        multiply_add(column_sums[j], last_ones, squares[2]);
      }
#pragma unroll
      for (int q = 0; q < kQuarters; ++q) {
        const int h = q / 2;
        const int j = q % 2 * 2;
        float distances[4];
        multiply(distances, factors[0], column_sums[j][h], starts);
        multiply_add(distances, factors[1], column_sums[j + 1][h]);
        multiply_add(distances, factors[2], column_sums[j + 2][h]);
        unsigned half_weights[2];
        unsigned half_samples[2];
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          [[maybe_unused]] bool neighbour_column = true;
          float low = distances[2 * c];
          float high = distances[2 * c + 1];
          if constexpr (kBorder) {
            const int x = x0 + 8 * (j + c) + group;
            neighbour_column = both_inside(x, dx, samples.width);
            const float column_factor = share_of_pair(x, dx, radius, samples.width);
            low = fmaf(low, row_factors[h].x * column_factor, shift - arguments.offset);
            high = fmaf(high, row_factors[h].y * column_factor, shift - arguments.offset);
          }
          __half2 exponents = pair_of(pack_positive(low, high));
          const __half2 neighbours = pair_of(results_at[8 * h * pitch + 8 * (j + c)]);
          if constexpr (kRange) {
            const __half2 ranged = __hmul2(__hsub2(neighbours, own[q][c]), range);
            exponents = __hfma2(ranged, ranged, exponents);
          }
          unsigned& w = half_weights[c];
          w = bits_of(power_of_two(__hneg2(exponents)));
          if constexpr (kBorder) {
            w &= neighbour_column ? neighbour_rows[h] : 0U;
          }
          half_samples[c] = bits_of(__hmul2(pair_of(w), neighbours));
        }
        multiply_add(sums.weight[q], half_weights, identity);
        multiply_add(sums.sample[q], half_samples, identity);
      }
      ++squares_at;
      ++results_at;
    }
  }
}

// Writes the means of a warp's samples.
__device__ void store(const FloatPlane& out, const Sums& sums, int x0, int y0) {
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int x = x0 + q % 2 * 16 + i / 2 * 8 + group;
      const int y = y0 + q / 2 * 8 + 2 * in_group + i % 2;
      if (x < out.width && y < out.height) {
        out.data[static_cast<std::ptrdiff_t>(y) * out.pitch + x] =
            fmaf(kUnits, sums.sample[q][i] / sums.weight[q][i], 128.0F);
      }
    }
  }
}

__host__ __device__ int blocks(int size, int per_block) { return (size + per_block - 1) / per_block; }

// Which block of the plane the number-th is. Those at the border take twice as long, so they come first: the
// top and the bottom row, then the columns from both sides inwards.
__device__ int2 block_place(int number, int columns, int rows) {
  if (number < 2 * columns) {
    return {number % columns, number / columns * (rows - 1)};
  }
  const int inner = number - 2 * columns;
  const int column = inner / (rows - 2);
  return {column % 2 == 0 ? column / 2 : columns - 1 - column / 2, 1 + inner % (rows - 2)};
}

template <bool kRange>
__global__ void __launch_bounds__(kThreads, 4) patch_means_fast_kernel(FastArguments arguments) {
  extern __shared__ unsigned tile[];
  const FloatPlane& samples = arguments.plane.samples;
  const PatchWeights& weights = arguments.weights;
  const int margin_x = weights.patch_radius + weights.search_radius_x;
  const int margin_y = weights.patch_radius + weights.search_radius_y;
  const int2 place = block_place(static_cast<int>(blockIdx.x), blocks(samples.width, kColumns),
                                 blocks(samples.height, kBlockRows));
  const float unit = 1 / (kUnits * static_cast<float>(arguments.plane.scale.scale));
  const int x0 = place.x * kColumns;
  const int y0 = place.y * kBlockRows;
  for (int row = threadIdx.x / 32; row < arguments.rows; row += kThreads / 32) {
    const int y = y0 - margin_y + row;
    for (int column = threadIdx.x % 32; column < arguments.pitch; column += 32) {
      const int x = x0 - margin_x + column;
      const auto value = [&](int v) {
        const bool inside = x >= 0 && x < samples.width && v >= 0 && v < samples.height;
        return inside ? static_cast<float>(
                            arguments.plane.values[static_cast<std::ptrdiff_t>(v) * samples.pitch + x]) *
                            unit
                      : 0.0F;
      };
      tile[row * arguments.pitch + column] = bits_of(__floats2half2_rn(value(y), value(y + 1)));
    }
  }
  __syncthreads();
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int row = warp % 2 * kWarpRows;
  const bool lower = warp >= 2;
  const int first_dy = lower ? 1 : -weights.search_radius_y;
  const int last_dy = lower ? weights.search_radius_y : 0;
  const int y = y0 + row;
  const unsigned* own_tile = tile + row * arguments.pitch;
  Sums sums;
  if (y >= samples.height) {
    // None of the warp's samples is in the plane.
  } else if (x0 < margin_x || x0 + kColumns + margin_x > samples.width || y < margin_y ||
             y + kWarpRows + margin_y > samples.height) {
    arguments.offset = arguments.border_offset;
    average<true, kRange>(arguments, own_tile, x0, y, first_dy, last_dy, sums);
  } else {
    average<false, kRange>(arguments, own_tile, x0, y, first_dy, last_dy, sums);
  }
  // The lower half's sums take the tile's place.
  __syncthreads();
  auto* others = reinterpret_cast<float2*>(tile) + (warp % 2) * kQuarters * 4 * 32 + lane;
  if (lower) {
#pragma unroll
    for (int i = 0; i < kQuarters * 4; ++i) {
      others[i * 32] = {sums.weight[i / 4][i % 4], sums.sample[i / 4][i % 4]};
    }
  }
  __syncthreads();
  if (!lower) {
#pragma unroll
    for (int i = 0; i < kQuarters * 4; ++i) {
      const float2 other = others[i * 32];
      sums.weight[i / 4][i % 4] += other.x;
      sums.sample[i / 4][i % 4] += other.y;
    }
    store(arguments.out, sums, x0, y);
  }
}

// A warp's squares are (8 pitch) apart down the rows and 1 apart along them: no conflicts for such pitches.
int tile_pitch(const PatchWeights& weights) {
  const int columns = kColumns + 8 + 2 * weights.search_radius_x;
  return (columns - 4 + 15) / 16 * 16 + 4;
}

int tile_rows(const PatchWeights& weights) {
  return kBlockRows - kWarpRows + kSquareRows - 1 + 2 * weights.search_radius_y;
}

std::size_t shared_bytes(const PatchWeights& weights) {
  constexpr std::size_t kSumBytes = 2 * 32 * kQuarters * 4 * sizeof(float2);
  return std::max(kSumBytes,
                  static_cast<std::size_t>(tile_rows(weights)) * tile_pitch(weights) * sizeof(unsigned));
}

}  // namespace

bool can_average_fast(const PatchWeights& weights, const PatchPlane& plane) {
  const DeviceLimits limits = device_limits();
  return limits.compute_capability >= 80 && plane.exact && weights.patch_radius <= kMaxPatchRadius &&
         weights.offset <= kMostOffset && (weights.offset == 0 || weights.spatial == 0) &&
         shared_bytes(weights) <= limits.shared_memory;
}

void patch_means_fast(const PatchWeights& weights, const PatchPlane& plane, const FloatPlane& out,
                      cudaStream_t stream) {
  FastArguments arguments{};
  arguments.plane = plane;
  arguments.out = out;
  arguments.weights = weights;
  arguments.rows = tile_rows(weights);
  arguments.pitch = tile_pitch(weights);
  const auto side = static_cast<float>(2 * weights.patch_radius + 1);
  const float values = kUnits * static_cast<float>(plane.scale.scale);  // matching values in a unit
  arguments.border_patch = weights.patch * values * values;
  arguments.border_offset = weights.offset;
  // What rounding the factor to a half float does to the distance, the offset must suffer too.
  const float patch = arguments.border_patch / (side * side);
  arguments.patch = __half2float(__float2half(std::min(patch, 32768.0F)));
  arguments.offset = patch > 0 ? weights.offset * (arguments.patch / patch) : weights.offset;
  std::fill_n(arguments.starts, 4, -arguments.offset);
  const std::size_t bytes = shared_bytes(weights);
  const auto kernel = weights.range > 0 || weights.spatial > 0 ? patch_means_fast_kernel<true>
                                                               : patch_means_fast_kernel<false>;
  allow_shared_memory(kernel, bytes);
  const int grid = blocks(out.width, kColumns) * blocks(out.height, kBlockRows);
  kernel<<<static_cast<unsigned>(grid), kThreads, bytes, stream>>>(arguments);
  check_launch();
}

}  // namespace limpid::cuda
