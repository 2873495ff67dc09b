// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>

#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/powers.h"

// The patches' distances at one offset are a box sum of the squared differences of the plane and the shifted
// plane, along columns, then along rows: two products with matrices of ones and zeros, on tensor cores. A
// warp makes 16 x 32 samples. For each offset its lanes hold 24 x 40 squared differences, in pairs of rows,
// as the right operand of
//
//   16 x 24 ones where their rows are up to radius apart    x    24 x 8 squares    (5 times)
//
// whose result, 16 x 40 column sums in half floats, is, transposed, the right operand of
//
//   16 x 24 of `patch` where their columns are up to radius apart    x    24 x 8 column sums    (4 times)
//
// which gives the weights' negative exponents. A lane's results are pairs of rows, too: words of the halves
// (x, y) and (x, y + 1) in shared memory. The order of a product's rows, and of the terms it sums, is
// arbitrary: the first 16 of the 24 rows (32 of the 40 columns) are the warp's own; the margin's eight
// follow, those after them before those before them. Thus the lane that has a sample's weight has its
// difference. Terms that depend on the difference are added to the exponents by a product of the squares with
// the identity, two pairs per instruction. Exponents are floats if an offset is subtracted, otherwise halves:
// rounding these, by about 2^-11 relatively, changes a weight 2^-E by less than E 2^-E 2^-11.
//
// Samples are held in units of 16 code values relative to mid-gray, so that squares fit half floats: these
// have a relative error of 2^-12, the column sums one of 2^-11. Samples outside the plane are NaN: they only
// occur in warps at the border, which give them no weight.
//
// 4 warps form a block of 32 rows and 32 columns: two, one above the other, for the first half of the search
// window, and two for the second half. A block thus takes half as long, and the last blocks leave fewer
// multiprocessors idle. Shared memory: the block's tile with its margin, 4 bytes per sample, 16 KiB for a
// window of 21 x 21, and 16 KiB of sums, for which there are not enough registers. Registers: 128. Bound by
// instruction issue, 9 per sample and offset, and nearly as much by the special function unit and by shared
// memory.

namespace limpid::cuda {
namespace {

constexpr int kMargin = 4;  // samples around the warp's, for patches: the maximum patch radius
constexpr int kBlockRows = 32;
constexpr int kColumns = 32;  // of a block and of a warp
constexpr int kWarpRows = 16;
constexpr int kThreads = 128;
constexpr int kRowBlocks = 3;     // of 8 rows each, the last one in the margin
constexpr int kColumnBlocks = 5;  // of 8 columns each, the last one in the margin
static_assert(8 * kRowBlocks == kWarpRows + 2 * kMargin && 8 * kColumnBlocks == kColumns + 2 * kMargin);
static_assert(kThreads / 32 == 2 * kBlockRows / kWarpRows, "each half of the window has two warps");
constexpr int kRowsAtATime = 8;
constexpr int kMostHalfSums = 32;  // maximum number of weights that a half float adds up
constexpr int kQuarters = 4;       // of a lane's results, two pairs of samples each
constexpr float kUnits = 16;       // unit of samples, in code values
constexpr float kMostFactor =
    32768;  // of squared differences in exponents: half floats have no 0 times infinity
constexpr float kMostOffset = 80;  // beyond this, distances in half floats are too coarse for the weights

struct FastArguments {
  PatchPlane plane;
  FloatPlane out;
  PatchWeights weights;
  int rows;  // of the tile in shared memory
  int pitch;
  float patch;  // factor of distances in units of kUnits^-2, a half float
  // Zeros that the compiler does not see as equal. It would keep one register for equal values and copy it to
  // the operands of products again and again.
  unsigned zeros[12] = {};
  float starts[4];  // start values of exponents, all equal
};

// A pair of halves that are one or zero.
__device__ unsigned pair_of_ones(bool low, bool high) {
  return (low ? 0x3C00U : 0U) | (high ? 0x3C000000U : 0U);
}
__device__ unsigned pair_mask(bool low, bool high) {
  return (low ? 0xFFFFU : 0U) | (high ? 0xFFFF0000U : 0U);
}

// The row (or column), of `size` and the margin around them, that is the i-th of block `block`.
__device__ int place_in_block(int block, int i, int size) {
  return block < size / 8 ? 8 * block + i : i < kMargin ? size + i : i - 2 * kMargin;
}

// 1 / the number of samples i - radius to i + radius that lie in 0 to size - 1 together with those of i +
// offset; 0 if none do.
__device__ float share_of_pair(int i, int offset, int radius, int size) {
  const int pairs = min(i + radius, size - 1 - max(offset, 0)) - max(i - radius, max(-offset, 0)) + 1;
  float share = 0;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(share) : "f"(static_cast<float>(pairs)));
  return share;
}

// Sums of a lane's samples: quarter q has columns group and group + 8, from 16 (q % 2) on, and rows 2
// in_group and the next, from 8 (q / 2) on. Neighbors' weights and weighted differences from the own samples
// are added in halves, and these sums in shared memory: kQuarters vectors each, interleaved by kThreads.
struct Sums {
  __half2 weight[kQuarters][2];
  __half2 difference[kQuarters][2];
  float4* totals;

  __device__ explicit Sums(float4* vectors) : totals(vectors) {
    clear();
#pragma unroll
    for (int i = 0; i < 2 * kQuarters; ++i) {
      totals[i * kThreads] = {};
    }
  }
  __device__ void clear() {
#pragma unroll
    for (int q = 0; q < kQuarters; ++q) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        weight[q][c] = pair_of(0);
        difference[q][c] = pair_of(0);
      }
    }
  }
  __device__ void flush() {
    asm volatile("" ::: "memory");  // prevents compilers from keeping the totals in registers
    const auto add = [](float4& total, const __half2(&two)[2]) {
      const float2 first = __half22float2(two[0]);
      const float2 second = __half22float2(two[1]);
      total = {total.x + first.x, total.y + first.y, total.z + second.x, total.w + second.y};
    };
#pragma unroll
    for (int q = 0; q < kQuarters; ++q) {
      add(totals[q * kThreads], weight[q]);
      add(totals[(kQuarters + q) * kThreads], difference[q]);
    }
    clear();
  }
};

// The left operands of the products that add up a patch: ones (for rows, arguments.patch) where rows or
// columns are up to the radius apart. The first 16 columns and the last 8 for the sums of columns, then for
// the sums of rows. At the border, sums are multiplied by the ratio of a patch's rows or columns to those
// that both patches have in the plane, for each half of the warp's columns.
template <bool kBorder>
struct BoxFactors {
  unsigned ones[6];
  unsigned columns[4];
  unsigned last_columns[2];
  unsigned rows[kBorder ? 2 : 1][3][2];

  __device__ __forceinline__ BoxFactors(const FastArguments& arguments, int group, int in_group) {
    const int radius = arguments.weights.patch_radius;
    const unsigned patch = bits_of(__float2half2_rn(arguments.patch));
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      const int row = group + i % 2 * 8;
      const int first = place_in_block(i / 2, 2 * in_group, 16);
      const auto near = [&](int k) { return abs(k - row) <= radius; };
      ones[i] = pair_of_ones(near(first), near(first + 1)) | arguments.zeros[i];
      (i < 4 ? columns[i % 4] : last_columns[i % 2]) = ones[i];
      rows[0][i / 2][i % 2] = (patch & pair_mask(near(first), near(first + 1))) | arguments.zeros[6 + i];
    }
  }

  // `y`: row of the lane's first sample.
  __device__ __forceinline__ void set_columns(const FastArguments& arguments, int y, int dy) {
    const int radius = arguments.weights.patch_radius;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float share =
          side_of(radius) * share_of_pair(y + 8 * h, dy, radius, arguments.plane.samples.height);
      columns[h] = scale(ones[h], share);
      columns[2 + h] = scale(ones[2 + h], share);
      last_columns[h] = scale(ones[4 + h], share);
    }
  }
  // `x`: column of the lane's first sample.
  __device__ __forceinline__ void set_rows(const FastArguments& arguments, int x, int dx) {
    const int radius = arguments.weights.patch_radius;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float share = arguments.patch * side_of(radius) *
                          share_of_pair(x + 8 * i, dx, radius, arguments.plane.samples.width);
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        rows[i / 2][k][i % 2] = scale(ones[2 * k + i % 2], share);
      }
    }
  }

 private:
  __device__ static float side_of(int radius) { return static_cast<float>(2 * radius + 1); }
  __device__ __forceinline__ static unsigned scale(unsigned factors, float share) {
    return bits_of(__hmul2(pair_of(factors), __float2half2_rn(fminf(share, 60000))));
  }
};

// The words of a lane: their offsets from the warp's first sample, and their samples.
struct LaneSamples {
  int rows[kRowBlocks];
  int columns[kColumnBlocks];
  __half2 own[kRowBlocks][kColumnBlocks];

  __device__ __forceinline__ LaneSamples(const unsigned* samples_at, int pitch, int group, int in_group) {
#pragma unroll
    for (int k = 0; k < kRowBlocks; ++k) {
      rows[k] = place_in_block(k, 2 * in_group, kWarpRows) * pitch;
    }
#pragma unroll
    for (int j = 0; j < kColumnBlocks; ++j) {
      columns[j] = place_in_block(j, group, kColumns);
    }
#pragma unroll
    for (int k = 0; k < kRowBlocks; ++k) {
#pragma unroll
      for (int j = 0; j < kColumnBlocks; ++j) {
        own[k][j] = pair_of(samples_at[rows[k] + columns[j]]);
      }
    }
  }
};

// The differences of neighbors at one offset from the own samples, and their squares.
template <bool kBorder>
struct Differences {
  __half2 values[kRowBlocks][kColumnBlocks];
  unsigned squares[kRowBlocks][kColumnBlocks];
  unsigned column_sums[kColumnBlocks][2];

  __device__ __forceinline__ Differences(const unsigned* neighbors, const LaneSamples& lane,
                                         const BoxFactors<kBorder>& box) {
#pragma unroll
    for (int j = 0; j < kColumnBlocks; ++j) {
#pragma unroll
      for (int k = 0; k < kRowBlocks; ++k) {
        values[k][j] = __hsub2(pair_of(neighbors[lane.rows[k] + lane.columns[j]]), lane.own[k][j]);
        __half2 square = __hmul2(values[k][j], values[k][j]);
        if constexpr (kBorder) {
          square = __hmax2(square, pair_of(0));  // 0 for NaN
        }
        squares[k][j] = bits_of(square);
      }
      multiply(column_sums[j], box.columns, squares[0][j], squares[1][j]);
      multiply_add(column_sums[j], box.last_columns, squares[2][j]);
    }
  }
};

// The weights of a quarter of a lane's samples. `range`: left operand for the difference of the samples;
// `start`: exponent for the offset.
template <bool kBorder, bool kRange>
__device__ __forceinline__ void weigh(const FastArguments& arguments, const Differences<kBorder>& differences,
                                      const BoxFactors<kBorder>& box, int q, unsigned range, unsigned start,
                                      __half2 (&weights)[2]) {
  const int h = q / 2;
  const int j = q % 2 * 2;
  const auto& factors = box.rows[kBorder ? q % 2 : 0];
  const auto& column_sums = differences.column_sums;
  // The four columns after these 16 are the first of the other 16, or the margin's; the four columns before
  // them are the last of the other 16, or the margin's.
  const bool after = static_cast<int>(threadIdx.x % 4) < kMargin / 2;
  const unsigned margin_sums = after == (j == 0) ? column_sums[j == 0 ? 2 : 1][h] : column_sums[4][h];
  if constexpr (kRange) {
    unsigned exponents[2];
    multiply(exponents, factors[0], column_sums[j][h], start);
    multiply_add(exponents, factors[1], column_sums[j + 1][h]);
    multiply_add(exponents, factors[2], margin_sums);
    const unsigned range_squares[2] = {differences.squares[h][j], differences.squares[h][j + 1]};
    multiply_add(exponents, range_squares, range);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      weights[c] = power_of_two(__hneg2(pair_of(exponents[c])));
    }
  } else {
    float exponents[4];
    multiply(exponents, factors[0], column_sums[j][h], arguments.starts);
    multiply_add(exponents, factors[1], column_sums[j + 1][h]);
    multiply_add(exponents, factors[2], margin_sums);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      weights[c] =
          __hmin2(__floats2half2_rn(power_of_two(-exponents[2 * c]), power_of_two(-exponents[2 * c + 1])),
                  __float2half2_rn(1));
    }
  }
}

// Adds the neighbors at one offset to the sums.
template <bool kBorder, bool kRange>
__device__ __forceinline__ void add_neighbors(const FastArguments& arguments, const unsigned* neighbors,
                                              const LaneSamples& lane, const BoxFactors<kBorder>& box,
                                              unsigned range, unsigned start, Sums& sums) {
  const Differences<kBorder> differences(neighbors, lane, box);
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
    __half2 weights[2];
    weigh<kBorder, kRange>(arguments, differences, box, q, range, start, weights);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      __half2 w = weights[c];
      __half2 difference = differences.values[q / 2][q % 2 * 2 + c];
      if constexpr (kBorder) {
        const unsigned inside = __heq2_mask(difference, difference);  // not NaN
        w = pair_of(bits_of(w) & inside);
        difference = pair_of(bits_of(difference) & inside);
      }
      sums.weight[q][c] = __hadd2(sums.weight[q][c], w);
      sums.difference[q][c] = __hfma2(w, difference, sums.difference[q][c]);
    }
  }
}

// Adds up a warp's 16 x 32 samples over one half of the search window: up to its own sample, or after it.
// kBorder: patches or neighbors may lie outside the plane, where samples are NaN. kRange: weights have a
// factor for the difference of the samples, and patches' weights need no limit of 1; kSpatial: weights have a
// factor for the offset. `samples_at` is the warp's first sample in the tile.
template <bool kBorder, bool kRange, bool kSpatial>
__device__ void average(const FastArguments& arguments, const unsigned* samples_at, int x0, int y0,
                        bool second_half, Sums& sums) {
  const PatchWeights& weights = arguments.weights;
  const int pitch = arguments.pitch;
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);
  BoxFactors<kBorder> box(arguments, group, in_group);
  const LaneSamples lane(samples_at, pitch, group, in_group);
  const unsigned range = bits_of(__float2half2_rn(fminf(kUnits * kUnits * weights.range, kMostFactor))) &
                         pair_mask(group == 2 * in_group, group == 2 * in_group + 1);
  const int first_dy = second_half ? 0 : -weights.search_radius_y;
  const int last_dy = second_half ? weights.search_radius_y : 0;
  for (int dy = first_dy; dy <= last_dy; ++dy) {
    if constexpr (kBorder) {
      box.set_columns(arguments, y0 + group, dy);
    }
    const int first_dx = second_half && dy == 0 ? 1 : -weights.search_radius_x;
    const int last_dx = !second_half && dy == 0 ? 0 : weights.search_radius_x;
    for (int first = first_dx; first <= last_dx; first += kMostHalfSums) {
      const unsigned* neighbors = samples_at + dy * pitch + first;
      const int last = min(first + kMostHalfSums - 1, last_dx);
      for (int dx = first; dx <= last; ++dx) {
        if constexpr (kBorder) {
          box.set_rows(arguments, x0 + group, dx);
        }
        const unsigned start =
            kSpatial ? bits_of(__float2half2_rn(weights.spatial * static_cast<float>(dx * dx + dy * dy))) : 0;
        add_neighbors<kBorder, kRange>(arguments, neighbors, lane, box, range, start, sums);
        ++neighbors;
      }
      sums.flush();
    }
  }
}

// Writes the means of a warp's samples from its two sets of totals.
__device__ void store(const FloatPlane& out, const unsigned* own, int pitch, const float4* first,
                      const float4* second, int x0, int y0) {
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);
#pragma unroll
  for (int q = 0; q < kQuarters; ++q) {
    const auto total = [&](int vector, int i) {
      return reinterpret_cast<const float*>(first + vector * kThreads)[i] +
             reinterpret_cast<const float*>(second + vector * kThreads)[i];
    };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = q % 2 * 16 + i / 2 * 8 + group;
      const int row = q / 2 * 8 + 2 * in_group + i % 2;
      if (x0 + column < out.width && y0 + row < out.height) {
        const float sample = __low2float(pair_of(own[row * pitch + column]));
        out.data[static_cast<std::ptrdiff_t>(y0 + row) * out.pitch + x0 + column] =
            fmaf(kUnits, sample + total(kQuarters + q, i) / total(q, i), 128.0F);
      }
    }
  }
}

// The position of block `number` in the plane. Blocks at the border take longer, so they come first: the top
// and the bottom row, then the columns from both sides inward.
__device__ int2 block_place(int number, int columns, int rows) {
  if (number < 2 * columns) {
    return {number % columns, number / columns * (rows - 1)};
  }
  const int inner = number - 2 * columns;
  const int column = inner / (rows - 2);
  return {column % 2 == 0 ? column / 2 : columns - 1 - column / 2, 1 + inner % (rows - 2)};
}

// Fills the tile, whose first sample is (x0, y0). A lane loads a column of rows before it stores any, so that
// the latencies overlap.
__device__ void fill_tile(const FastArguments& arguments, int x0, int y0, unsigned* tile) {
  const FloatPlane& samples = arguments.plane.samples;
  const float unit = 1 / (kUnits * static_cast<float>(arguments.plane.scale.scale));
  for (int first = static_cast<int>(threadIdx.x) / 32 * kRowsAtATime; first < arguments.rows;
       first += kThreads / 32 * kRowsAtATime) {
    for (int column = static_cast<int>(threadIdx.x) % 32; column < arguments.pitch; column += 32) {
      const int x = x0 + column;
      const int read_x = min(max(x, 0), samples.width - 1);
      float values[kRowsAtATime + 1];
#pragma unroll
      for (int k = 0; k <= kRowsAtATime; ++k) {
        const int y = y0 + first + k;
        const int read_y = min(max(y, 0), samples.height - 1);
        const std::int16_t value =
            arguments.plane.values[static_cast<std::ptrdiff_t>(read_y) * samples.pitch + read_x];
        values[k] = read_x == x && read_y == y ? static_cast<float>(value) * unit : NAN;
      }
#pragma unroll
      for (int k = 0; k < kRowsAtATime; ++k) {
        if (first + k < arguments.rows) {
          tile[(first + k) * arguments.pitch + column] = bits_of(__floats2half2_rn(values[k], values[k + 1]));
        }
      }
    }
  }
}

template <bool kRange, bool kSpatial>
__global__ void __launch_bounds__(kThreads, 4) nlm_fast_kernel(FastArguments arguments) {
  extern __shared__ unsigned tile[];
  const FloatPlane& samples = arguments.plane.samples;
  const PatchWeights& weights = arguments.weights;
  const int margin_x = kMargin + weights.search_radius_x;
  const int margin_y = kMargin + weights.search_radius_y;
  const int2 place = block_place(static_cast<int>(blockIdx.x), blocks_for(samples.width, kColumns),
                                 blocks_for(samples.height, kBlockRows));
  const int x0 = place.x * kColumns;
  const int y0 = place.y * kBlockRows;
  fill_tile(arguments, x0 - margin_x, y0 - margin_y, tile);
  __syncthreads();
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int row = warp % 2 * kWarpRows;
  const bool second_half = warp >= 2;
  const int y = y0 + row;
  const unsigned* own = tile + (margin_y + row) * arguments.pitch + margin_x;
  float4* totals = reinterpret_cast<float4*>(tile + arguments.rows * arguments.pitch) + threadIdx.x;
  Sums sums(totals);
  if (y >= samples.height) {
    // None of the warp's samples is in the plane.
  } else if (x0 < margin_x || x0 + kColumns + margin_x > samples.width || y < margin_y ||
             y + kWarpRows + margin_y > samples.height) {
    average<true, kRange, kSpatial>(arguments, own, x0, y, second_half, sums);
  } else {
    average<false, kRange, kSpatial>(arguments, own, x0, y, second_half, sums);
  }
  __syncthreads();
  if (!second_half) {
    store(arguments.out, own, arguments.pitch, totals, totals + kThreads / 2, x0, y);
  }
}

// A warp's words are 2 pitch apart along columns (in the margin, too, up to a multiple of 8 pitch) and 1
// apart along rows: no bank conflicts with these pitches.
int tile_pitch(const PatchWeights& weights) {
  const int columns = kColumns + 2 * (kMargin + weights.search_radius_x);
  return (columns - 4 + 15) / 16 * 16 + 4;
}

int tile_rows(const PatchWeights& weights) {
  return kBlockRows + 2 * (kMargin + weights.search_radius_y) - 1;
}

std::size_t shared_bytes(const PatchWeights& weights) {
  return static_cast<std::size_t>(tile_rows(weights)) * tile_pitch(weights) * sizeof(unsigned) +
         2 * kQuarters * kThreads * sizeof(float4);
}

}  // namespace

bool can_average_fast(const NlmJob& job, const DeviceLimits& device) {
  const PatchWeights& weights = job.weights;
  return device.compute_capability >= 80 && job.plane.exact && weights.patch_radius <= kMargin &&
         weights.offset <= kMostOffset &&
         (weights.offset == 0 || (weights.range == 0 && weights.spatial == 0)) &&
         shared_bytes(weights) <= device.shared_memory;
}

void nlm_fast(const NlmJob& job, cudaStream_t stream) {
  const PatchWeights& weights = job.weights;
  FastArguments arguments{};
  arguments.plane = job.plane;
  arguments.out = job.out;
  arguments.weights = weights;
  arguments.rows = tile_rows(weights);
  arguments.pitch = tile_pitch(weights);
  const auto side = static_cast<float>(2 * weights.patch_radius + 1);
  const float values = kUnits * static_cast<float>(job.plane.scale.scale);  // matching values per unit
  const float patch = weights.patch * values * values / (side * side);
  arguments.patch = __half2float(__float2half(std::min(patch, kMostFactor)));
  // The offset is scaled by the rounding of the factor to a half float, like the distance.
  const float offset = patch > 0 ? weights.offset * (arguments.patch / patch) : weights.offset;
  std::fill_n(arguments.starts, 4, -offset);
  const std::size_t bytes = shared_bytes(weights);
  const auto kernel = weights.spatial > 0 ? nlm_fast_kernel<true, true>
                      : weights.range > 0 ? nlm_fast_kernel<true, false>
                                          : nlm_fast_kernel<false, false>;
  allow_shared_memory(kernel, bytes);
  const int grid = blocks_for(job.out.width, kColumns) * blocks_for(job.out.height, kBlockRows);
  kernel<<<static_cast<unsigned>(grid), kThreads, bytes, stream>>>(arguments);
  check_launch();
}

}  // namespace limpid::cuda
