// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/filter_warp.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"

// Filtering of groups of up to 32 patches of 8x8 samples, on tensor cores and in registers.
//
// A warp filters one group at a time. The 2D transform M X M^T of two patches X is two small matrix products:
// M is multiplied by the patches' columns, and the result, whose accumulators have the layout of a left
// operand, by M^T. Lane 4 g + t then has the coefficients (g, 2 t) and (g, 2 t + 1) of every patch, so the
// transform across the group takes place within each lane. The inverse is the same pair of products with the
// inverse matrix; it leaves the patch transposed, with column g of rows 2 t and 2 t + 1 in lane 4 g + t.
//
// Operands are half floats, sums and all other values are floats. Mid-gray is subtracted from samples:
// samples of 8 to 11 bits are exact, and samples of the basic estimate have errors of at most 2^-5 code
// values.
// M is scaled so that its first row is all ones and the mean keeps its precision. The transform across the
// group is not normalized: level l of Haar leaves coefficients too great by 2^(l / 2), which thresholds and
// sigma compensate.
//
// In the second step the basic estimate's group comes first. It leaves one number per coefficient, the
// complement sigma^2 / (S^2 + sigma^2) of the Wiener factor, as a half float: it is small where the factor
// must be exact.
//
// A block of 8 warps processes a tile of up to 8 x 16 reference patches. It loads the samples in reach of
// their groups into shared memory, as words of two samples one above the other, which serve as operands
// unchanged, and adds the results to 32-bit fixed-point sums beside them. These are moved to the plane's sums
// before they could overflow, and at the end. The pitch of both avoids bank conflicts when a warp accesses a
// patch. Shared memory at step 3 and windows of 39: 61 KiB for groups of 16 in the first step, 90 KiB for
// groups of 32 in the second. Registers: 80 and 128. Bound by instruction issue, and by latency while a tile
// is loaded.

namespace limpid::cuda {
namespace {

constexpr int kWarps = 8;
// Contents of a tile's row, in words: the samples, the sums, and a second part of the samples, either the
// basic estimate's or the rounding errors of the first part's half floats.
constexpr int kTileWidth = 84;  // maximum width of a tile's groups, in samples
constexpr int kSums = kTileWidth;
constexpr int kSecondPart = 2 * kTileWidth;
// Twice the pitch is 8 or 24 words off a multiple of the 32 banks.
constexpr int tile_pitch(bool two_parts) { return two_parts ? 3 * kTileWidth : 2 * kTileWidth + 4; }
static_assert(2 * tile_pitch(false) % 16 == 8 && 2 * tile_pitch(true) % 16 == 8,
              "accesses to patches would have bank conflicts");
static_assert(kTileWidth % 4 == 0 && tile_pitch(false) % 4 == 0 && tile_pitch(true) % 4 == 0,
              "vectors of sums would not be aligned");

// The first step is computed in single precision, since the second step's matching is sensitive to the least
// change of the basic estimate. The second step's errors are smaller than the error of rounding to 8 bits.
enum class Mode {
  kHard,      // the first step, for samples that half floats hold exactly
  kHardFine,  // the first step, for other samples, which are rounded to pairs of half floats
  kWiener,
};

struct Arguments {
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  const float* brightness;
  int radius;
  int tile_columns;  // in reference patches
  int tile_rows;
  float levels[6];  // threshold (first step) or sigma^2 after l levels across the group
  LaneNoise noise[kWarp];
  NoiseCurve curve;
  float variance_scale;         // integer units per relative variance, for sums of lanes' variances
  float variance_unit;          // its reciprocal
  float offset_coefficient;     // coefficient of the offset, for a group of one; second step
  float most_hits;              // maximum of the window's weights that a group adds up at one sample
  float worst_group;            // maximum contribution of a group to a sum, in units of the sums
  float weight_scale;           // 2^weight_bits
  float sum_scale;              // unit of weight units * (sample - offset)
  float greatest_contribution;  // limit of weight * (sample - offset)
  FilterTables tables;
};

constexpr int levels_of(int size) {
  int levels = 0;
  while (size > 1) {
    size /= 2;
    ++levels;
  }
  return levels;
}

// The number of levels through which coefficient i of a group of `size` has passed.
template <bool kHaar>
constexpr int level_of(int i, int size) {
  int level = levels_of(size);
  if (kHaar) {
    for (int l = 1; l <= levels_of(size); ++l) {
      if (i % (1 << l) != 0) {
        level = std::min(level, l);
      }
    }
  }
  return level;
}

// The part of a group in one lane: two coefficients or samples of each of N patches. Groups of 1, 2 and 4
// share the code for 4; missing patches are 0.
template <bool kHaar, int N>
struct Group {
  float x[N][2];
  int size;

  __device__ __forceinline__ bool has_level(int half) const { return N > 4 || size > half; }

  // Calls combine(a, b) with all pairs of coefficients at a distance of `half` patches in a level.
  template <class Combine>
  __device__ __forceinline__ void for_pairs(int half, const Combine& combine) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (kHaar ? i % (2 * half) == 0 : (i & half) == 0) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          combine(x[i][j], x[i + half][j]);
        }
      }
    }
  }

  // Replaces pairs by their sum and difference.
  __device__ __forceinline__ void forward() {
#pragma unroll
    for (int half = 1; half < N; half *= 2) {
      if (has_level(half)) {
        for_pairs(half, [](float& first, float& second) {
          const float a = first;
          first = a + second;
          second = a - second;
        });
      }
    }
  }

  // Inverts forward().
  __device__ __forceinline__ void inverse() {
    const float scale = N > 4 ? 1.0F / N : reciprocal(static_cast<float>(size));
#pragma unroll
    for (int i = 0; i < (kHaar ? 1 : N); ++i) {
      x[i][0] *= scale;
      x[i][1] *= scale;
    }
#pragma unroll
    for (int half = N / 2; half >= 1; half /= 2) {
      if (has_level(half)) {
        const float detail_scale = kHaar ? 0.5F / static_cast<float>(half) : 1.0F;
        for_pairs(half, [detail_scale](float& first, float& second) {
          const float a = first;
          first = fmaf(second, detail_scale, a);
          second = fmaf(second, -detail_scale, a);
        });
      }
    }
  }

  // The number of levels of coefficient i, as an index of the arguments' tables.
  __device__ __forceinline__ int level(int i) const {
    if constexpr (N > 4) {
      return level_of<kHaar>(i, N);
    } else {
      const int top = size >= 4 ? 2 : size - 1;
      return kHaar && i > 0 ? min(level_of<true>(i, 4), top) : top;
    }
  }
};

// The lane's words of a tile's samples or sums, for the patch `member` bytes after the tile's first.
__device__ __forceinline__ unsigned* of_patch(unsigned* lane_words, int member) {
  return reinterpret_cast<unsigned*>(reinterpret_cast<char*>(lane_words) + member);
}

// Transforms the patches at `members`, whose samples begin at lane_words.
template <bool kExact, bool kLow, bool kHaar, int N>
__device__ __forceinline__ void load_group(const Matrix& matrix, unsigned* lane_words, const int* members,
                                           Group<kHaar, N>& group) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const int4 four = *reinterpret_cast<const int4*>(members + i);
    const int member[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int pair = 0; pair < 4; pair += 2) {
      Operand patches[2] = {};
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        if (N > 4 || pair + j < group.size) {
          const unsigned* words = of_patch(lane_words, member[pair + j]);
          patches[j].high = *words;
          if constexpr (kLow) {
            patches[j].low = words[kSecondPart];
          }
        }
      }
      float coefficients[4];
      transform_pair<kExact, kLow>(matrix, patches[0], patches[1], coefficients);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        group.x[i + pair + j / 2][j % 2] = coefficients[j];
      }
    }
  }
  group.forward();
}

// Values that depend on the range of the plane's samples. A tile holds samples minus the offset, in units of
// this range.
struct Ranged {
  float levels[6];
  float offset_coefficient;
  float mean_scale;  // scale of the first coefficient of a group of one

  __device__ void set(const Arguments& arguments, bool wiener, float unit) {
    for (int level = 0; level < 6; ++level) {
      levels[level] = arguments.levels[level] / (wiener ? unit * unit : unit);
    }
    mean_scale = unit / 64;
    offset_coefficient = arguments.offset_coefficient / unit;
  }
};

struct Lane {
  int lane;
  Matrix forward;
  Matrix inverse;
  float window[2];  // for rows 2 t and 2 t + 1 in column g
  unsigned* words;  // of the tile's first patch
};

// Contribution of a group to a tile's sums.
struct Added {
  int weight;  // weight of the group, in units of 2^-weight_bits
  float most;  // maximum contribution to one sum
};

// The first step: sets coefficients to zero that do not exceed their thresholds, except the group's mean, and
// returns the weight.
template <bool kWhite, bool kHaar, int N>
__device__ __forceinline__ float threshold_group(const Ranged& ranged, const GroupNoise<kWhite>& noise,
                                                 float deviation, const Lane& lane, Group<kHaar, N>& group) {
  const LaneNoise own = noise.of(lane);
  const float bounds[2] = {own.deviations[0] * deviation, own.deviations[1] * deviation};
  int units[2] = {1, 1};
  if constexpr (!kWhite) {
    units[0] = noise.units_of(own.variances[0]);
    units[1] = noise.units_of(own.variances[1]);
  }
  int kept = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const float threshold = ranged.levels[group.level(i)];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const bool keep = fabsf(group.x[i][j]) > threshold * bounds[j] || (i == 0 && j == 0 && lane.lane == 0);
      kept += keep ? units[j] : 0;
      group.x[i][j] = keep ? group.x[i][j] : 0.0F;
    }
  }
  return kWhite ? 1.0F / static_cast<float>(sum_over_warp(kept)) : noise.weight_of(kept);
}

// The second step: replaces a group of the basic estimate by the complements of the Wiener factors. Returns
// the weight.
template <bool kWhite, bool kHaar, int N>
__device__ __forceinline__ float find_complements(const Ranged& ranged, const GroupNoise<kWhite>& noise,
                                                  float deviation, const Lane& lane,
                                                  const Group<kHaar, N>& basic, __half2 (&complement)[N]) {
  const LaneNoise own = noise.of(lane);
  const float ratio = deviation * deviation;
  const float variances[2] = {own.variances[0] * ratio, own.variances[1] * ratio};
  float energy = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    float factors[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float variance = ranged.levels[basic.level(i)] * variances[j];
      factors[j] = variance * reciprocal(fmaf(basic.x[i][j], basic.x[i][j], variance));
      const float kept = fmaf(-own.deviations[j], factors[j], own.deviations[j]);
      energy = fmaf(kept, kept, energy);
    }
    complement[i] = __floats2half2_rn(factors[0], factors[1]);
  }
  return noise.weight_of(noise.units_of(energy));
}

// Multiplies the noisy group by the Wiener factors. `offset` is the offset of the group's mean, which is
// shrunk toward black.
template <bool kHaar, int N>
__device__ __forceinline__ void shrink_group(const __half2 (&complement)[N], float offset,
                                             Group<kHaar, N>& group) {
  group.x[0][0] = fmaf(-__low2float(complement[0]), group.x[0][0] + offset, group.x[0][0]);
  group.x[0][1] = fmaf(-__high2float(complement[0]), group.x[0][1], group.x[0][1]);
#pragma unroll
  for (int i = 1; i < N; ++i) {
    const float2 c = __half22float2(complement[i]);
    group.x[i][0] = fmaf(-c.x, group.x[i][0], group.x[i][0]);
    group.x[i][1] = fmaf(-c.y, group.x[i][1], group.x[i][1]);
  }
}

// Transforms the group back to samples and returns the greatest magnitude in the lane.
template <bool kExact, bool kHaar, int N>
__device__ __forceinline__ float restore_group(const Matrix& matrix, Group<kHaar, N>& group) {
  group.inverse();
  float greatest = 0;
#pragma unroll
  for (int i = 0; i < N; i += 2) {
    float samples[4];
    transform_pair<kExact, kExact>(matrix, split<kExact>(group.x[i][0], group.x[i][1]),
                                   split<kExact>(group.x[i + 1][0], group.x[i + 1][1]), samples);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      group.x[i + j / 2][j % 2] = samples[j];
      greatest = fmaxf(greatest, fabsf(samples[j]));
    }
  }
  return greatest;
}

// Adds the group's samples times `scales`, one for each of the lane's two rows, to the tile's sums.
template <int kPitch, bool kHaar, int N>
__device__ __forceinline__ void add_group(const Group<kHaar, N>& group, unsigned* lane_words,
                                          const int* members, const float (&scales)[2]) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const int4 four = *reinterpret_cast<const int4*>(members + i);
    const int member[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      if (N > 4 || j < group.size) {
        int* out = reinterpret_cast<int*>(of_patch(lane_words + kSums, member[j]));
        // Adding 1.5 * 2^23 moves the integer part, rounded to nearest, to the low bits.
        constexpr float kRound = 12582912.0F;
        atomicAdd(out, __float_as_int(fmaf(group.x[i + j][0], scales[0], kRound)) - __float_as_int(kRound));
        atomicAdd(out + kPitch,
                  __float_as_int(fmaf(group.x[i + j][1], scales[1], kRound)) - __float_as_int(kRound));
      }
    }
  }
}

// Filters the group at `members`, offsets in bytes from the tile's first patch, and adds it to the tile's
// sums.
template <bool kHaar, Mode kMode, int N, bool kWhite>
__device__ __forceinline__ Added filter_group(const Arguments& arguments, const Ranged& ranged,
                                              const GroupNoise<kWhite>& noise, const Lane& lane,
                                              const int* members, int size, const float* brightness) {
  constexpr bool kExact = kMode != Mode::kWiener;
  Group<kHaar, N> group;
  group.size = size;
  const float mean_scale = ranged.mean_scale * reciprocal(static_cast<float>(size));
  float deviation;
  float weight;
  if constexpr (kMode == Mode::kWiener) {
    load_group<false, false>(lane.forward, lane.words + kSecondPart, members, group);
    // The mean is shrunk toward black, not toward the offset.
    const float offset = lane.lane == 0 ? ranged.offset_coefficient * static_cast<float>(size) : 0.0F;
    group.x[0][0] += offset;
    __half2 complement[N];
    deviation = noise.deviation_of(brightness, group.x[0][0], mean_scale, 0);
    weight = find_complements(ranged, noise, deviation, lane, group, complement);
    load_group<false, false>(lane.forward, lane.words, members, group);
    shrink_group(complement, offset, group);
  } else {
    load_group<true, kMode == Mode::kHardFine>(lane.forward, lane.words, members, group);
    deviation = noise.deviation_of(brightness, group.x[0][0], mean_scale, arguments.sums.offset);
    weight = threshold_group(ranged, noise, deviation, lane, group);
  }
  float greatest = restore_group<kExact>(lane.inverse, group);
  if constexpr (!kWhite) {
    // Limits contributions to those of white noise.
    greatest = greatest_of_warp(greatest);
    weight *= weight_factor(arguments.curve.least, deviation);
    weight = fminf(weight, arguments.greatest_contribution * reciprocal(greatest));
  }
  // Numerators and denominators must have equal weights, so the weight is rounded once for both.
  const int weight_units = max(__float2int_rd(weight * arguments.weight_scale), 1);
  const float scale = static_cast<float>(weight_units) * arguments.sum_scale;
  const float scales[2] = {scale * lane.window[0], scale * lane.window[1]};
  add_group<tile_pitch(kMode != Mode::kHard)>(group, lane.words, members, scales);
  return {weight_units,
          fmaf(scale * arguments.most_hits, kWhite ? greatest_of_warp(greatest) : greatest, 64.0F)};
}

// The work of a block: reference patches, and in shared memory the samples in reach of their groups.
struct Tile {
  unsigned* words;
  int first_column;  // position of the reference patches in the grid
  int first_row;
  int columns;
  int rows;
  int x;  // position of the samples in the plane
  int y;
  int width;
  int height;
};

__device__ __forceinline__ Tile tile_of_block(const Arguments& arguments, unsigned* words) {
  const ReferenceGrid& grid = arguments.grid;
  Tile tile;
  tile.words = words;
  tile.first_column = blockIdx.x * arguments.tile_columns;
  tile.first_row = arguments.groups.first_row + blockIdx.y * arguments.tile_rows;
  tile.columns = min(arguments.tile_columns, grid.columns - tile.first_column);
  tile.rows = min(arguments.tile_rows, arguments.groups.last_row - tile.first_row);
  tile.x = max(grid.x(tile.first_column) - arguments.radius, 0);
  tile.y = max(grid.y(tile.first_row) - arguments.radius, 0);
  tile.width = min(grid.x(tile.first_column + tile.columns - 1) + arguments.radius + 8, grid.width) - tile.x;
  tile.height = min(grid.y(tile.first_row + tile.rows - 1) + arguments.radius + 8, grid.height) - tile.y;
  return tile;
}

template <int kPitch>
__device__ __forceinline__ void clear_tile_sums(const Tile& tile) {
  constexpr int kQuads = kTileWidth / 4;
  for (int i = threadIdx.x; i < tile.height * kQuads; i += kWarp * kWarps) {
    *reinterpret_cast<int4*>(tile.words + i / kQuads * kPitch + kSums + i % kQuads * 4) = {};
  }
}

// Loads the tile's samples of a plane to `out`, each with the sample below it; if kLow, also the rounding
// errors of half floats. A thread has nine loads in flight.
template <bool kLow, int kPitch>
__device__ __forceinline__ void load_tile(const Tile& tile, const FloatPlane& plane, float offset,
                                          float scale, unsigned* out) {
  constexpr int kRows = 3;
  constexpr int kColumns = (kTileWidth + kWarp - 1) / kWarp;
  const float* in = plane.data + static_cast<std::ptrdiff_t>(tile.y) * plane.pitch + tile.x;
  const int lane = threadIdx.x % kWarp;
  for (int first = threadIdx.x / kWarp; first < tile.height; first += kRows * kWarps) {
    float samples[kRows][kColumns];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int y = first + r * kWarps;
        const int x = lane + c * kWarp;
        samples[r][c] =
            y < tile.height && x < tile.width ? in[static_cast<std::ptrdiff_t>(y) * plane.pitch + x] : offset;
      }
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int y = first + r * kWarps;
        const int x = lane + c * kWarp;
        if (y < tile.height && x < tile.width) {
          const float sample = (samples[r][c] - offset) * scale;
          const __half high = __float2half_rn(sample);
          // The upper half of a word; the lower half of the word in the row above.
          auto* words = reinterpret_cast<__half*>(out + y * kPitch + x);
          words[0] = high;
          if (y > 0) {
            words[1 - 2 * kPitch] = high;
          }
          if constexpr (kLow) {
            const __half low = __float2half_rn(sample - __half2float(high));
            words[2 * kSecondPart] = low;
            if (y > 0) {
              words[2 * kSecondPart + 1 - 2 * kPitch] = low;
            }
          }
        }
      }
    }
  }
}

// Moves a sum of the tile to the plane's sample (x, y). Other blocks may add to it at the same time.
__device__ __forceinline__ void empty_sum(const Arguments& arguments, unsigned* sum, int x, int y) {
  const long long value = static_cast<int>(atomicExch(sum, 0U));
  if (value != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(arguments.sums.numerator) +
                  static_cast<std::ptrdiff_t>(y) * arguments.grid.width + x,
              static_cast<unsigned long long>(value));
  }
}

// Moves all sums to the plane, by all warps of a block.
template <int kPitch>
__device__ __forceinline__ void empty_tile(const Arguments& arguments, const Tile& tile) {
  for (int y = threadIdx.x / kWarp; y < tile.height; y += kWarps) {
    for (int x = threadIdx.x % kWarp; x < tile.width; x += kWarp) {
      empty_sum(arguments, tile.words + y * kPitch + kSums + x, tile.x + x, tile.y + y);
    }
  }
}

// Sums have 31 bits. A warp may add kBudget to each sum before it searches for sums above kGreatestKept and
// moves them, so that the kept sums and all warps' contributions fit: kGreatestKept + kWarps * kBudget <
// 2^31.
constexpr int kGreatestKept = 1 << 28;
constexpr float kBudget = 0.99F * (0x1p31F - kGreatestKept) / kWarps;
static_assert(kGreatestKept + static_cast<double>(kWarps) * kBudget < 0x1p31);

template <int kPitch>
__device__ __forceinline__ void relieve_tile(const Arguments& arguments, const Tile& tile) {
  constexpr int kQuads = kTileWidth / 4;
  for (int i = threadIdx.x % kWarp; i < tile.height * kQuads; i += kWarp) {
    const int x = i % kQuads * 4;
    const int y = i / kQuads;
    unsigned* sums = tile.words + y * kPitch + kSums + x;
    const int4 four = *reinterpret_cast<const int4*>(sums);
    const auto is_great = [](int sum) { return abs(sum) > kGreatestKept; };
    if (is_great(four.x) || is_great(four.y) || is_great(four.z) || is_great(four.w)) {
#pragma unroll 1
      for (int j = 0; j < 4; ++j) {
        empty_sum(arguments, sums + j, tile.x + x + j, tile.y + y);
      }
    }
  }
}

// The number of blocks that the registers allow.
constexpr int blocks_per_multiprocessor(Mode mode, int greatest) {
  return greatest >= 32 ? 2 : mode == Mode::kHard && greatest <= 8 ? 4 : 3;
}

template <int kPitch>
__device__ __forceinline__ Lane make_lane(const Arguments& arguments, const Tile& tile) {
  Lane lane;
  lane.lane = threadIdx.x % kWarp;
  const int g = lane.lane / 4;
  const int t = lane.lane % 4;
  // Constant memory is slow if lanes read different words. After a shuffle the compiler does not read it
  // again.
  const auto own = [&](unsigned value) { return __shfl_sync(kAllLanes, value, lane.lane); };
  const Matrix& forward = arguments.tables.forward[lane.lane];
  const Matrix& inverse = arguments.tables.inverse[lane.lane];
  lane.forward = {own(forward.high), own(forward.low)};
  lane.inverse = {own(inverse.high), own(inverse.low)};
  lane.window[0] = arguments.tables.window[g] * arguments.tables.window[2 * t];
  lane.window[1] = arguments.tables.window[g] * arguments.tables.window[2 * t + 1];
  lane.words = tile.words + 2 * t * kPitch + g;
  return lane;
}

// The group that a warp filters. Values per lane belong to patch `lane`, or to the reference patch if the
// group has fewer patches.
struct LoadedGroup {
  int size;
  int x;  // position of the patch in the plane
  int y;
  int* weight;              // sum of the patch's weights
  const float* brightness;  // brightness of the group; may be null
};

// The groups of a tile that a warp filters one after the other: the reference patches in raster order,
// distributed among the block's warps.
struct WarpGroups {
  const Arguments& arguments;
  const Tile& tile;
  int lane;
  int row_stride;  // from one group to the next
  int column_stride;
  int column;
  int row;
  std::int16_t next;  // fetched one round ahead; undefined beyond the group's members

  __device__ __forceinline__ WarpGroups(const Arguments& all_arguments, const Tile& own_tile, int warp,
                                        int own_lane)
      : arguments(all_arguments),
        tile(own_tile),
        lane(own_lane),
        row_stride(kWarps / own_tile.columns),
        column_stride(kWarps % own_tile.columns),
        column(warp % own_tile.columns),
        row(warp / own_tile.columns),
        next(0) {
    fetch();
  }

  __device__ __forceinline__ bool left() const { return row < tile.rows; }

  __device__ __forceinline__ void fetch() {
    if (left() && lane < arguments.groups.capacity) {
      const std::ptrdiff_t number =
          static_cast<std::ptrdiff_t>(tile.first_row - arguments.groups.first_row + row) *
              arguments.grid.columns +
          tile.first_column + column;
      next = arguments.groups.members[number * arguments.groups.capacity + lane];
    }
  }

  __device__ __forceinline__ LoadedGroup take() {
    LoadedGroup taken;
    taken.size = __shfl_sync(kAllLanes, static_cast<int>(next), 0);
    const std::int16_t member = lane > 0 && lane < taken.size ? next : std::int16_t{0};
    taken.x = arguments.grid.x(tile.first_column + column) + offset_x(member);
    taken.y = arguments.grid.y(tile.first_row + row) + offset_y(member);
    taken.weight =
        arguments.sums.weight + static_cast<std::ptrdiff_t>(taken.y) * arguments.grid.width + taken.x;
    taken.brightness = brightness_of_group(
        arguments.brightness, static_cast<std::ptrdiff_t>(tile.first_row + row) * arguments.grid.columns +
                                  tile.first_column + column);
    row += row_stride;
    column += column_stride;
    if (column >= tile.columns) {
      column -= tile.columns;
      ++row;
    }
    fetch();
    return taken;
  }
};

template <bool kWhite, bool kHaar, Mode kMode, int kGreatest>
__global__ void __launch_bounds__(kWarp* kWarps, blocks_per_multiprocessor(kMode, kGreatest))
    filter_fast_kernel(Arguments arguments) {
  follow_stream();
  extern __shared__ int4 shared_memory[];
  __shared__ alignas(16) int member_offsets[kWarps][kWarp];
  __shared__ Ranged ranged;
  static_assert(sizeof(member_offsets) + sizeof(ranged) <= DeviceLimits::kStaticSharedMemory);
  constexpr int kPitch = tile_pitch(kMode != Mode::kHard);
  // The shuffle shows the compiler that the value is equal for the whole warp.
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  const Tile tile = tile_of_block(arguments, reinterpret_cast<unsigned*>(shared_memory));
  clear_tile_sums<kPitch>(tile);
  const float unit = range_unit(arguments.sums);
  if (threadIdx.x == 0) {
    ranged.set(arguments, kMode == Mode::kWiener, unit);
  }
  __shared__ LaneNoise lane_noise[kWhite ? 1 : kWarp];
  if (!kWhite && threadIdx.x < kWarp) {
    lane_noise[threadIdx.x] = arguments.noise[threadIdx.x];
  }
  const GroupNoise<kWhite> noise{lane_noise, arguments.curve, arguments.variance_scale,
                                 arguments.variance_unit};
  load_tile<kMode == Mode::kHardFine, kPitch>(tile, arguments.noisy, arguments.sums.offset, 1 / unit,
                                              tile.words);
  if constexpr (kMode == Mode::kWiener) {
    load_tile<false, kPitch>(tile, arguments.basic, arguments.sums.offset, 1 / unit,
                             tile.words + kSecondPart);
  }
  const Lane lane = make_lane<kPitch>(arguments, tile);
  int* members = member_offsets[warp];
  __syncthreads();
  WarpGroups groups(arguments, tile, warp, lane.lane);
  float used = 0;
  while (groups.left()) {
    const LoadedGroup group = groups.take();
    __syncwarp();
    members[lane.lane] = static_cast<int>(sizeof(int)) * ((group.y - tile.y) * kPitch + group.x - tile.x);
    __syncwarp();
    if (used + arguments.worst_group > kBudget) {
      relieve_tile<kPitch>(arguments, tile);
      used = 0;
    }
    Added added;
    if (kGreatest >= 32 && group.size == 32) {
      added = filter_group<kHaar, kMode, std::min(kGreatest, 32)>(arguments, ranged, noise, lane, members,
                                                                  group.size, group.brightness);
    } else if (kGreatest >= 16 && group.size == 16) {
      added = filter_group<kHaar, kMode, std::min(kGreatest, 16)>(arguments, ranged, noise, lane, members,
                                                                  group.size, group.brightness);
    } else if (group.size == 8) {
      added = filter_group<kHaar, kMode, 8>(arguments, ranged, noise, lane, members, group.size,
                                            group.brightness);
    } else {
      added = filter_group<kHaar, kMode, 4>(arguments, ranged, noise, lane, members, group.size,
                                            group.brightness);
    }
    if (lane.lane < group.size) {
      atomicAdd(group.weight, added.weight);
    }
    used += added.most;
  }
  __syncthreads();
  empty_tile<kPitch>(arguments, tile);
}

// Maximum width and height of a group in samples.
int reach_of(const Bm3dStep& step) { return step.search_window - 1 + 8; }

std::size_t tile_bytes(const Bm3dStep& step, int tile_rows, bool two_parts) {
  return static_cast<std::size_t>((tile_rows - 1) * step.spacing + reach_of(step)) * tile_pitch(two_parts) *
         sizeof(int);
}

// The number of reference patches that fit into `samples` samples.
int references_in(int samples, const Bm3dStep& step, int most) {
  return std::clamp((samples - reach_of(step)) / step.spacing + 1, 1, most);
}

// The rows of reference patches in a tile, and the number of tiles per multiprocessor at a time.
struct TileFit {
  int rows;
  int blocks;
};

// The highest tiles that allow as many blocks as registers do; fewer blocks if the tiles would be so low that
// they load more than they filter.
TileFit fit_tiles(Mode mode, int greatest, const Bm3dStep& step, const DeviceLimits& device) {
  constexpr std::size_t kMostHeight = 96;  // samples
  constexpr int kFewestRows = 4;
  const std::size_t row_bytes = static_cast<std::size_t>(tile_pitch(mode != Mode::kHard)) * sizeof(int);
  TileFit fit{0, blocks_per_multiprocessor(mode, greatest) + 1};
  do {
    --fit.blocks;
    const std::size_t height = std::min(device.shared_memory_of(fit.blocks) / row_bytes, kMostHeight);
    fit.rows = references_in(static_cast<int>(height), step, kFilterTileRows);
  } while (fit.rows < kFewestRows && fit.blocks > 1);
  return fit;
}

template <bool kWhite, bool kHaar, Mode kMode, int kGreatest>
void launch_tiles(Arguments& arguments, const Bm3dStep& step, cudaStream_t stream) {
  const ReferenceGrid& grid = arguments.grid;
  constexpr bool kTwoParts = kMode != Mode::kHard;
  arguments.tile_columns = references_in(kTileWidth, step, kFilterTileColumns);
  const DeviceLimits device = device_limits();
  const TileFit fit = fit_tiles(kMode, kGreatest, step, device);
  const auto tiles_of = [&](int rows) {
    return dim3(
        static_cast<unsigned>(blocks_for(grid.columns, arguments.tile_columns)),
        static_cast<unsigned>(blocks_for(arguments.groups.last_row - arguments.groups.first_row, rows)));
  };
  // Lower tiles load and move more samples per reference, but may fill the last wave of blocks.
  const auto cost = [&](int rows) {
    const dim3 tiles = tiles_of(rows);
    const int waves = blocks_for(static_cast<int>(tiles.x * tiles.y), device.multiprocessors * fit.blocks);
    return static_cast<float>(waves) *
           (static_cast<float>(rows * step.spacing) + 0.25F * static_cast<float>(reach_of(step)));
  };
  arguments.tile_rows = fit.rows;
  for (int rows = fit.rows - 1; rows >= 1; --rows) {
    if (cost(rows) < cost(arguments.tile_rows)) {
      arguments.tile_rows = rows;
    }
  }
  const std::size_t bytes = tile_bytes(step, arguments.tile_rows, kTwoParts);
  const auto kernel = filter_fast_kernel<kWhite, kHaar, kMode, kGreatest>;
  allow_shared_memory(kernel, bytes);
  launch(kernel, tiles_of(arguments.tile_rows), kWarp * kWarps, bytes, stream, arguments);
}

template <bool kWhite, bool kHaar, Mode kMode>
void launch_for_size(Arguments& arguments, const Bm3dStep& step, cudaStream_t stream) {
  if (arguments.groups.capacity >= 32) {
    launch_tiles<kWhite, kHaar, kMode, 32>(arguments, step, stream);
  } else if (arguments.groups.capacity >= 16) {
    launch_tiles<kWhite, kHaar, kMode, 16>(arguments, step, stream);
  } else {
    launch_tiles<kWhite, kHaar, kMode, 8>(arguments, step, stream);
  }
}

void set_matrix(const std::vector<double>& matrix, double scale, Matrix (&lanes)[kWarp]) {
  for (int lane = 0; lane < kWarp; ++lane) {
    const double* row = matrix.data() + lane / 4 * 8;
    for (int i = 0; i < 2; ++i) {
      const double value = row[lane % 4 * 2 + i] * scale;
      const __half high = __double2half(value);
      const __half low = __double2half(value - static_cast<double>(__half2float(high)));
      lanes[lane].high |= static_cast<unsigned>(__half_as_ushort(high)) << 16 * i;
      lanes[lane].low |= static_cast<unsigned>(__half_as_ushort(low)) << 16 * i;
    }
  }
}

// With narrower windows, the weights of corners are lost in the sums' 32 bits.
constexpr float kGreatestFastBeta = 3;

}  // namespace

FilterTables make_filter_tables(const Bm3dStep& step) {
  FilterTables tables;
  const std::vector<double> window = kaiser_window(step.patch_size, static_cast<double>(step.kaiser_beta));
  for (int i = 0; i < step.patch_size; ++i) {
    tables.window[i] = static_cast<float>(std::sqrt(window[i * step.patch_size + i]));
  }
  if (step.patch_size == 8) {
    const TransformMatrices matrices = transform_matrices(step.transform_2d, 8);
    set_matrix(matrices.forward, kMatrixScale, tables.forward);
    set_matrix(matrices.inverse, 1 / kMatrixScale, tables.inverse);
  }
  return tables;
}

bool can_filter_fast(const Bm3dStep& step, const DeviceLimits& device) {
  return step.patch_size == 8 && step.max_group_size < 64 && reach_of(step) <= kTileWidth &&
         step.kaiser_beta <= kGreatestFastBeta && tile_bytes(step, 1, true) <= device.shared_memory;
}

void filter_fast(const FilterJob& job, cudaStream_t stream) {
  Arguments arguments{};
  arguments.grid = job.grid;
  arguments.groups = job.groups;
  arguments.noisy = job.noisy;
  arguments.basic = job.basic;
  arguments.sums = job.sums;
  arguments.brightness = job.brightness;
  arguments.radius = job.step.search_window / 2;
  const float sigma = job.sigma * kCoefficientScale;
  for (int level = 0; level < 6; ++level) {
    const float energy = std::ldexp(1.0F, level);
    arguments.levels[level] = job.basic.data != nullptr
                                  ? sigma * sigma * energy
                                  : coefficient_threshold(job.lambda, sigma) * std::sqrt(energy);
  }
  set_lane_noise(job.variances, arguments.noise);
  arguments.variance_scale = variance_scale(job.variances);
  arguments.variance_unit = 1 / arguments.variance_scale;
  arguments.curve = make_curve(job.curve);
  const bool white = !job.curve && std::all_of(job.variances.begin(), job.variances.end(),
                                               [](float variance) { return variance == 1; });
  arguments.offset_coefficient = 64 * job.sums.offset;
  arguments.weight_scale = std::ldexp(1.0F, job.sums.weight_bits);
  arguments.sum_scale = std::ldexp(job.sums.numerator_scale, -job.sums.weight_bits);
  arguments.most_hits = job.fixed_point.most_hits;
  arguments.worst_group = job.fixed_point.greatest_contribution * job.fixed_point.most_hits;
  arguments.greatest_contribution = job.fixed_point.greatest_contribution / job.sums.numerator_scale;
  arguments.tables = *job.tables;
  const auto with_group_transform = [&]<Mode kMode>() {
    const auto with_noise = [&]<bool kHaar>() {
      white ? launch_for_size<true, kHaar, kMode>(arguments, job.step, stream)
            : launch_for_size<false, kHaar, kMode>(arguments, job.step, stream);
    };
    job.step.transform_1d == Transform1d::kHaar ? with_noise.template operator()<true>()
                                                : with_noise.template operator()<false>();
  };
  if (job.basic.data != nullptr) {
    with_group_transform.template operator()<Mode::kWiener>();
  } else if (job.samples_are_halves) {
    with_group_transform.template operator()<Mode::kHard>();
  } else {
    with_group_transform.template operator()<Mode::kHardFine>();
  }
}

}  // namespace limpid::cuda
