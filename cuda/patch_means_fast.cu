#include <cuda_fp16.h>

#include <algorithm>

#include "cuda/launch.h"
#include "cuda/patch_means.h"

// Patches' distances at one offset are a box sum of the squared differences of the plane and the shifted
// plane, along columns, then along rows: two products with matrices of ones and zeros, which tensor cores do.
// A warp makes 16 x 32 samples. Of an offset its lanes hold 24 x 40 squared differences, in pairs of rows, as
// the right operand of
//
//   16 x 24 ones where column - row is 0 to 2 radius    x    24 x 8 squared differences    (5 times)
//
// whose result, 16 x 40 column sums, is the left operand of
//
//   16 x 16 column sums    x    16 x 8 of `patch` where row - column is 0 to 2 radius    (4 times)
//
// starting from the negative offset: the weights' exponents, of which maxima with 0 are taken in packing them
// to half floats. The left matrix's row m stands for the tile's row 2m, and for 2(m - 8) + 1 from 8 on, so
// that a lane's results are pairs of rows, too, and one tile in shared memory serves both operands: words of
// the halves (x, y) and (x, y + 1). Sums of weights and of weighted differences are halves for a row of the
// search window, then floats.
//
// Samples are held in units of 16 code values from mid-grey, so that squares fit half floats: those have a
// relative error of 2^-12, so have the column sums.
//
// 4 warps make a block of 32 rows and 64 columns. Shared memory: the block's tile with its margin, 4 bytes a
// sample, 24 KiB for a window of 21 x 21. Registers: 128. Bound by instruction issue, 9 a sample and offset,
// and nearly as much by the special function unit and by shared memory.

namespace limpid::cuda {
namespace {

constexpr int kMaxPatchRadius = 4;
constexpr int kBlockRows = 32;
constexpr int kBlockColumns = 64;
constexpr int kWarpRows = 16;
constexpr int kWarpColumns = 32;
constexpr int kThreads = 128;
constexpr int kSquareRows = 24;
constexpr int kSquareBlocks = 5;  // of 8 columns
constexpr int kResultBlocks = 4;
constexpr int kMostHalfSums = 32;  // weights that a half float adds up
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
};

__device__ unsigned bits_of(__half2 pair) { return *reinterpret_cast<const unsigned*>(&pair); }
__device__ __half2 pair_of(unsigned bits) { return *reinterpret_cast<const __half2*>(&bits); }

// Halves of ones and zeros.
__device__ unsigned pair_of_ones(bool low, bool high) {
  return (low ? 0x3C00U : 0U) | (high ? 0x3C000000U : 0U);
}
__device__ unsigned pair_mask(bool low, bool high) {
  return (low ? 0xFFFFU : 0U) | (high ? 0xFFFF0000U : 0U);
}

// d = start + a b.
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1, float start) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %10, %10, %10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(start));
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

__device__ __half2 power_of_two(__half2 exponents) {
  unsigned powers = 0;
#if __CUDA_ARCH__ >= 800
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(powers) : "r"(bits_of(exponents)));
#endif
  return pair_of(powers);
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

// A warp's 16 x 32 samples. kBorder: patches or neighbours may lie outside of the plane. kRange: weights have
// a factor for the difference of the samples and for the offset.
template <bool kBorder, bool kRange>
__device__ void average(const FastArguments& arguments, const unsigned* tile, int x0, int y0) {
  const FloatPlane& samples = arguments.plane.samples;
  const PatchWeights& weights = arguments.weights;
  const int radius = weights.patch_radius;
  const int pitch = arguments.pitch;
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);

  // The left operand of the sums of columns, and the right one of the sums of rows.
  unsigned ones[4];
  unsigned last_ones[2];
#pragma unroll
  for (int i = 0; i < 6; ++i) {
    const int row = 2 * group + i % 2;
    const int column = 2 * in_group + i / 2 * 8;
    const auto one = [&](int k) { return k >= row && k <= row + 2 * radius; };
    (i < 4 ? ones[i % 4] : last_ones[i % 2]) = pair_of_ones(one(column), one(column + 1));
  }
  unsigned factors[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int row = 2 * in_group + 8 * i;
    const auto factor = [&](int k) {
      return k >= group && k <= group + 2 * radius ? (kBorder ? 1.0F : arguments.patch) : 0.0F;
    };
    factors[i] = bits_of(__floats2half2_rn(factor(row), factor(row + 1)));
  }

  // At no offset: the words of squares and of results.
  const unsigned* origin = tile + weights.search_radius_y * pitch + weights.search_radius_x;
  const unsigned* square_words = origin + 2 * in_group * pitch + group;
  const unsigned* result_words = origin + (2 * group + radius) * pitch + 2 * in_group + radius;
  __half2 own_squares[kSquareRows / 8][kSquareBlocks];
  __half2 own[kResultBlocks][2];
#pragma unroll
  for (int k = 0; k < kSquareRows / 8; ++k) {
#pragma unroll
    for (int j = 0; j < kSquareBlocks; ++j) {
      own_squares[k][j] = pair_of(square_words[8 * k * pitch + 8 * j]);
    }
  }
#pragma unroll
  for (int j = 0; j < kResultBlocks; ++j) {
    own[j][0] = pair_of(result_words[8 * j]);
    own[j][1] = pair_of(result_words[8 * j + 1]);
  }
  // Of column 2 in_group + c of block j: rows 2 group and 2 group + 1.
  float weight[kResultBlocks][2][2] = {};
  float sum[kResultBlocks][2][2] = {};
  const __half2 range = __float2half2_rn(kUnits * sqrtf(weights.range));

  for (int dy = -weights.search_radius_y; dy <= weights.search_radius_y; ++dy) {
    [[maybe_unused]] unsigned row_masks[kSquareRows / 8];
    [[maybe_unused]] unsigned neighbour_rows = 0;
    [[maybe_unused]] float row_factors[2];
    if constexpr (kBorder) {
#pragma unroll
      for (int k = 0; k < kSquareRows / 8; ++k) {
        const int y = y0 - radius + 8 * k + 2 * in_group;
        row_masks[k] = pair_mask(both_inside(y, dy, samples.height), both_inside(y + 1, dy, samples.height));
      }
      const int y = y0 + 2 * group;
      neighbour_rows = pair_mask(both_inside(y, dy, samples.height), both_inside(y + 1, dy, samples.height));
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        row_factors[i] = arguments.border_patch * share_of_pair(y + i, dy, radius, samples.height);
      }
    }
    for (int first = -weights.search_radius_x; first <= weights.search_radius_x; first += kMostHalfSums) {
      const int last = min(first + kMostHalfSums - 1, weights.search_radius_x);
      __half2 half_weights[kResultBlocks][2];
      __half2 half_sums[kResultBlocks][2];
#pragma unroll
      for (int j = 0; j < kResultBlocks; ++j) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          half_weights[j][c] = pair_of(0);
          half_sums[j][c] = pair_of(0);
        }
      }
      const unsigned* squares_at = square_words + dy * pitch + first;
      const unsigned* results_at = result_words + dy * pitch + first;
      for (int dx = first; dx <= last; ++dx) {
        float start = -arguments.offset;
        if constexpr (kRange) {
          start += weights.spatial * static_cast<float>(dx * dx + dy * dy);
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
          float sums[4] = {};
          multiply(sums, ones, squares[0], squares[1], 0.0F);
          multiply_add(sums, last_ones, squares[2]);
          column_sums[j][0] = bits_of(__floats2half2_rn(sums[0], sums[1]));
          column_sums[j][1] = bits_of(__floats2half2_rn(sums[2], sums[3]));
        }
#pragma unroll
        for (int j = 0; j < kResultBlocks; ++j) {
          float distances[4] = {};
          const unsigned left[4] = {column_sums[j][0], column_sums[j][1], column_sums[j + 1][0],
                                    column_sums[j + 1][1]};
          multiply(distances, left, factors[0], factors[1], kBorder ? 0.0F : start);
#pragma unroll
          for (int c = 0; c < 2; ++c) {
            [[maybe_unused]] bool neighbour_column = true;
            float low = distances[c];
            float high = distances[2 + c];
            if constexpr (kBorder) {
              const int x = x0 + 8 * j + 2 * in_group + c;
              neighbour_column = both_inside(x, dx, samples.width);
              const float column_factor = share_of_pair(x, dx, radius, samples.width);
              low = fmaf(low, row_factors[0] * column_factor, start);
              high = fmaf(high, row_factors[1] * column_factor, start);
            }
            __half2 exponents = pair_of(pack_positive(low, high));
            const __half2 difference = __hsub2(pair_of(results_at[8 * j + c]), own[j][c]);
            if constexpr (kRange) {
              const __half2 ranged = __hmul2(difference, range);
              exponents = __hfma2(ranged, ranged, exponents);
            }
            __half2 w = power_of_two(__hneg2(exponents));
            if constexpr (kBorder) {
              w = pair_of(bits_of(w) & (neighbour_column ? neighbour_rows : 0U));
            }
            half_weights[j][c] = __hadd2(half_weights[j][c], w);
            half_sums[j][c] = __hfma2(w, difference, half_sums[j][c]);
          }
        }
        ++squares_at;
        ++results_at;
      }
#pragma unroll
      for (int j = 0; j < kResultBlocks; ++j) {
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          weight[j][c][0] += __low2float(half_weights[j][c]);
          weight[j][c][1] += __high2float(half_weights[j][c]);
          sum[j][c][0] += __low2float(half_sums[j][c]);
          sum[j][c][1] += __high2float(half_sums[j][c]);
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kResultBlocks; ++j) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int x = x0 + 8 * j + 2 * in_group + c;
        const int y = y0 + 2 * group + i;
        if (x < samples.width && y < samples.height) {
          const float center = i == 0 ? __low2float(own[j][c]) : __high2float(own[j][c]);
          arguments.out.data[static_cast<std::ptrdiff_t>(y) * arguments.out.pitch + x] =
              fmaf(kUnits, center + sum[j][c][i] / weight[j][c][i], 128.0F);
        }
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
  const int2 place = block_place(static_cast<int>(blockIdx.x), blocks(samples.width, kBlockColumns),
                                 blocks(samples.height, kBlockRows));
  const float unit = 1 / (kUnits * static_cast<float>(arguments.plane.scale.scale));
  const int x0 = place.x * kBlockColumns;
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
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int column = warp % 2 * kWarpColumns;
  const int row = warp / 2 * kWarpRows;
  const int x = x0 + column;
  const int y = y0 + row;
  if (x >= samples.width || y >= samples.height) {
    return;
  }
  const unsigned* own_tile = tile + row * arguments.pitch + column;
  if (x < margin_x || x + kWarpColumns + margin_x > samples.width || y < margin_y ||
      y + kWarpRows + margin_y > samples.height) {
    arguments.offset = arguments.border_offset;
    average<true, kRange>(arguments, own_tile, x, y);
  } else {
    average<false, kRange>(arguments, own_tile, x, y);
  }
}

// A warp's squares are (8 pitch) apart down the rows and 1 apart along them: no conflicts for such pitches.
int tile_pitch(const PatchWeights& weights) {
  const int columns = kBlockColumns + 8 + 2 * weights.search_radius_x;
  return (columns - 4 + 15) / 16 * 16 + 4;
}

int tile_rows(const PatchWeights& weights) {
  return kBlockRows - kWarpRows + kSquareRows - 1 + 2 * weights.search_radius_y;
}

std::size_t shared_bytes(const PatchWeights& weights) {
  return static_cast<std::size_t>(tile_rows(weights)) * tile_pitch(weights) * sizeof(unsigned);
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
  FastArguments arguments{plane, out, weights, tile_rows(weights), tile_pitch(weights), 0, 0, 0, 0};
  const auto side = static_cast<float>(2 * weights.patch_radius + 1);
  const float values = kUnits * static_cast<float>(plane.scale.scale);  // matching values in a unit
  arguments.border_patch = weights.patch * values * values;
  arguments.border_offset = weights.offset;
  // What rounding the factor to a half float does to the distance, the offset must suffer too.
  const float patch = arguments.border_patch / (side * side);
  arguments.patch = __half2float(__float2half(std::min(patch, 32768.0F)));
  arguments.offset = patch > 0 ? weights.offset * (arguments.patch / patch) : weights.offset;
  const std::size_t bytes = shared_bytes(weights);
  const auto kernel = weights.range > 0 || weights.spatial > 0 ? patch_means_fast_kernel<true>
                                                               : patch_means_fast_kernel<false>;
  allow_shared_memory(kernel, bytes);
  const int grid = blocks(out.width, kBlockColumns) * blocks(out.height, kBlockRows);
  kernel<<<static_cast<unsigned>(grid), kThreads, bytes, stream>>>(arguments);
  check_launch();
}

}  // namespace limpid::cuda
