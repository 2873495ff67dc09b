// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>

#include "cuda/bm3d/matching_warp.h"
#include "cuda/runtime/launch.h"

// Matching of patches of 8x8 on tensor cores in windows of up to 25x25, which have so few candidates that a
// warp keeps all of their offsets in registers: every product is computed once.
//
// With the reference patch a and a candidate b, |a - b|^2 = |a|^2 + |b|^2 - 2ab, see matching_fast.cu.
// Accumulators that start at -|b|^2 / 2 - (|a|^2 - expected) / 2 end as minus half of the deviation of the
// distance from the expected one. Samples are half floats minus a number that is constant for a block, which
// makes products exact. Here the rows of A are two adjacent references, each at 8 positions: in row 8 h + s,
// patch h is moved s samples to the right, and the 16 samples of a row of K have zeros around it. The columns
// of B are 16 samples each from columns 0, 8, 16 and 24 of two rows of the picture. Thus 8 matrix products,
// one for each row of the patch, compare both references with 32 x 2 candidates.
//
// The candidates within a bound are added to a pool in shared memory, which is sorted. At least N candidates
// of a reference are within the N-th least of the least offsets of 64 sets of candidates. If too many are
// within the bound, because many distances are equal, bisection over all of them finds a suitable bound, and
// of the candidates at that bound the first rows are selected.
//
// Shared memory holds words of two adjacent samples, those that begin in even columns before those in odd
// ones, so that the words of B are in 16 consecutive banks; with a pitch of 16 mod 32 words, those of the
// other row are in the other banks. The pitch of energies is 8 mod 32 for the same reason.
//
// 8 warps, up to 16 x 16 references, 96 KiB of shared memory at spacing 8 and windows of 19, at most 128
// registers: two blocks per multiprocessor. Bound by instruction issue: about 1200 instructions for two
// references, a quarter of which are products and their operands.

namespace limpid::cuda {
namespace {

constexpr int kWarps = 8;
constexpr int kShifts = 8;           // positions of a reference in A
constexpr int kReach = 32;           // columns of candidates
constexpr int kWords = 56;           // beginning in even columns, per row of the region
constexpr int kPitch = 2 * kWords;   // words from one row to the next
constexpr int kEnergyPitch = 104;    // energies
constexpr int kAlignment = 8;        // samples in a vector load
constexpr int kMaxSampleRows = 88;   // of the region
constexpr int kPool = 96;            // candidates per reference
constexpr int kMostReferences = 16;  // in each direction of a block
constexpr int kBisections = 7;
static_assert(kPitch % 32 == 16 && kEnergyPitch % 32 == 8,
              "both rows of B, or of energies, would share banks");
static_assert(kWords % 4 == 0 && kEnergyPitch % 4 == 0, "vectors would not be aligned");
static_assert(kPool > kWarp, "a pool holds the greatest group");
using Pool = Candidates<kReach>;

constexpr int iterations_of(int max_radius) { return max_radius + 1; }

// The number of vectors of four offsets of one reference in a lane.
constexpr int vectors_of(int max_radius) { return (2 * iterations_of(max_radius) + 3) / 4; }

struct NarrowArguments {
  MatchingPlane plane;
  ReferenceGrid grid;
  Groups groups;
  int radius;
  MatchingDistances distances;
  int columns;      // columns of references of a block; even
  int rows;         // rows of references of a block
  int sample_rows;  // of the region that a block loads
};

struct SharedRegion {
  unsigned* words;  // [sample_rows][kPitch]
  float* energies;  // [sample_rows][kEnergyPitch]: -|b|^2 / 2; the last 7 rows are not used
  float4* offsets;  // [warps][vectors][kWarp]: offsets of one reference, in the layout of the lanes
  uint2* raw;       // [sample_rows][kWords / 2], in the same memory: samples as loaded
  unsigned* pools;  // [warps][2][kPool]

  __device__ SharedRegion(float4* memory, int sample_rows, int vectors)
      : offsets(memory), raw(reinterpret_cast<uint2*>(memory)) {
    words = reinterpret_cast<unsigned*>(memory) + offset_words(sample_rows, vectors);
    energies = reinterpret_cast<float*>(words + sample_rows * kPitch);
    pools = reinterpret_cast<unsigned*>(energies + sample_rows * kEnergyPitch);
  }
  LIMPID_HOST_DEVICE static int offset_words(int sample_rows, int vectors) {
    const int offsets = kWarps * vectors * kWarp * 4;
    const int raw = sample_rows * kWords;
    return offsets > raw ? offsets : raw;
  }
  static std::size_t bytes(int sample_rows, int vectors) {
    return sizeof(unsigned) * (static_cast<std::size_t>(offset_words(sample_rows, vectors)) +
                               sample_rows * (kPitch + kEnergyPitch) + kWarps * 2 * kPool);
  }
};

// The index of the word of samples x and x + 1 in its row.
__device__ __forceinline__ int word_at(int x) { return (x & 1) * kWords + (x >> 1); }

// Loads the region whose first sample is (x0, y0) of the plane with margins; x0 is a multiple of kAlignment.
__device__ void load_region(const NarrowArguments& arguments, const SharedRegion& region, int x0, int y0) {
  constexpr int kRun = 8;
  constexpr int kVectors = kWords / 4;
  __shared__ int least;
  __shared__ int greatest;
  clear_range(least, greatest);
  auto* raw = reinterpret_cast<uint4*>(region.raw);
  const std::int16_t* in =
      arguments.plane.samples + static_cast<std::ptrdiff_t>(y0) * arguments.plane.pitch + x0;
  unsigned own_least = 0x7FFF7FFFU;
  unsigned own_greatest = 0x80008000U;
#pragma unroll 4
  for (int i = threadIdx.x; i < arguments.sample_rows * kVectors; i += blockDim.x) {
    const uint4 eight = *reinterpret_cast<const uint4*>(
        in + static_cast<std::ptrdiff_t>(i / kVectors) * arguments.plane.pitch + i % kVectors * kAlignment);
    own_least = __vmins2(own_least, __vmins2(__vmins2(eight.x, eight.y), __vmins2(eight.z, eight.w)));
    own_greatest = __vmaxs2(own_greatest, __vmaxs2(__vmaxs2(eight.x, eight.y), __vmaxs2(eight.z, eight.w)));
    raw[i] = eight;
  }
  const int middle = middle_of_range(least, greatest, min(low_sample(own_least), high_sample(own_least)),
                                     max(low_sample(own_greatest), high_sample(own_greatest)));

  // Sums of squares along rows; eight are computed from one another by adding the entering and subtracting
  // the leaving value.
  int* sums = reinterpret_cast<int*>(region.energies);
  for (int i = threadIdx.x; i < arguments.sample_rows * kVectors; i += blockDim.x) {
    const int y = i / kVectors;
    const int run = i % kVectors;
    int values[2 * kRun];
    const auto unpack = [&](int first, const uint4& eight) {
      const unsigned words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        values[first + 2 * w] = low_sample(words[w]) - middle;
        values[first + 2 * w + 1] = high_sample(words[w]) - middle;
      }
    };
    unpack(0, raw[i]);
    // No candidate begins in the last run.
    unpack(kRun, run + 1 < kVectors ? raw[i + 1] : uint4{});
    unsigned even[5];
#pragma unroll
    for (int w = 0; w < 5; ++w) {
      even[w] = half_pair(values[2 * w], values[2 * w + 1]);
    }
    const auto odd = [&](int w) { return __byte_perm(even[w], even[w + 1], 0x5432); };
    unsigned* words = region.words + y * kPitch + run * 4;
    *reinterpret_cast<uint4*>(words) = make_uint4(even[0], even[1], even[2], even[3]);
    *reinterpret_cast<uint4*>(words + kWords) = make_uint4(odd(0), odd(1), odd(2), odd(3));
    if (run * kRun < kEnergyPitch) {
#pragma unroll
      for (int& value : values) {
        value *= value;
      }
      store_sums(values, sums + y * kEnergyPitch + run * kRun);
    }
  }
  __syncthreads();

  sums_to_energies<kEnergyPitch, kEnergyPitch>(sums, arguments.sample_rows - kPatch + 1, arguments.plane, x0,
                                               y0,
                                               [&](int y, int r) { return y + r < arguments.sample_rows; });
}

// For a reference with more candidates within a bound than the pool has room for: a bit mask of the first
// `wanted` ones by distance, row and column, and of few others. Bit kOffsets - 1 - k is for offset k % 2 of
// iteration k / 2. within(distance) returns the bits within a distance; `distance` is the bound's distance,
// `least` one that no candidate is within.
template <int kOffsets, typename Within>
__device__ unsigned first_candidates(int wanted, int least, int distance, unsigned candidates,
                                     const Within& within) {
  const auto count = [](unsigned bits) { return sum_over_warp(__popc(bits)); };
  unsigned nearer = 0;  // fewer than `wanted`
  while (distance - least > 1) {
    const int middle = least + (distance - least) / 2;
    const unsigned bits = candidates & within(middle);
    const int found = count(bits);
    if (found < wanted) {
      least = middle;
      nearer = bits;
      continue;
    }
    distance = middle;
    candidates = bits;
    if (found < kPool) {
      return candidates;
    }
  }
  // All others have one distance: takes those of two rows at a time.
  unsigned rows = 0;
  unsigned taken = nearer;
  for (int k = 0; count(taken) < wanted && k < kOffsets; k += 2) {
    rows |= 3U << (kOffsets - 2 - k);
    taken = nearer | (candidates & rows);
  }
  return taken;
}

// The layout of the products in lane 4 g + t. Row g of A is the first reference, moved by g; row g + 8 is the
// second. Column g of B begins in column 8 (g % 4) of row g / 4. The candidates of accumulators 0 and 1 with
// the first reference, and of 2 and 3 with the second, are in columns g + 16 (t % 2), and 8 further, of row t
// / 2. Columns and rows of candidates are counted from the beginning of the first reference's window.
struct Lane {
  int lane;
  int g;
  int t;
  int first_column;
  int first_row;
  int low_column;  // columns of the words in a row of the patch that are in the lower and upper 8 samples of
                   // K,
  int high_column;
  unsigned low_mask;  // and masks of their two samples
  unsigned high_mask;

  __device__ __forceinline__ explicit Lane(int number)
      : lane(number),
        g(number / 4),
        t(number % 4),
        first_column(g + t % 2 * 16),
        first_row(t / 2),
        low_column(max(2 * t - g, -1)),
        high_column(min(2 * t - g + kShifts, kPatch - 1)),
        low_mask(2 * t >= g       ? ~0U
                 : 2 * t + 1 == g ? 0xFFFF0000U
                                  : 0U),
        high_mask(2 * t >= g       ? 0U
                  : 2 * t + 1 == g ? 0xFFFFU
                                   : ~0U) {}
};

// Two adjacent references in a row of a block's region. With a single reference, both are equal.
struct Pair {
  int radius;
  int x[2];
  int y;
  int base_x;  // beginning of the first one's window
  int base_y;
};

// The references at a column and row of the grid and beside it, in the region that begins at (x0, y0) of the
// plane with margins.
__device__ __forceinline__ Pair place_pair(const NarrowArguments& arguments, int x0, int y0, int column,
                                           int row, int references) {
  Pair pair;
  pair.radius = arguments.radius;
  pair.x[0] = arguments.grid.x(column) + MatchingPlane::kMargin - x0;
  pair.x[1] = arguments.grid.x(column + references - 1) + MatchingPlane::kMargin - x0;
  pair.y = arguments.grid.y(row) + MatchingPlane::kMargin - y0;
  pair.base_x = pair.x[0] - pair.radius;
  pair.base_y = pair.y - pair.radius;
  return pair;
}

// A lane's offsets from two references: kIterations times two rows and columns of candidates of the first,
// then of the second.
template <int kIterations>
struct Offsets {
  static constexpr int kCount = 2 * kIterations;  // for each reference
  float values[kIterations][4];

  __device__ __forceinline__ float of(int h, int k) const { return values[k / 2][2 * h + k % 2]; }

  // Bit kCount - 1 - k is for offset k of reference h.
  __device__ __forceinline__ unsigned below(int h, float limit) const {
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      bits = append_if_below(bits, of(h, k), limit);
    }
    return bits;
  }

  // The least offset of all lanes.
  __device__ __forceinline__ float nearest(int h) const {
    float offset = kFar;
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      offset = fminf(offset, fabsf(of(h, k)));
    }
    return least_of_warp(offset);
  }
};

// Accumulators before the products: (expected - |a|^2 - |b|^2) / 2.
template <int kIterations>
__device__ __forceinline__ void load_energies(const NarrowArguments& arguments, const SharedRegion& region,
                                              const Lane& lane, const Pair& pair,
                                              Offsets<kIterations>& offsets) {
  float start[2][2];  // (expected - |a|^2) / 2
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const float own = region.energies[pair.y * kEnergyPitch + pair.x[h]] +
                      0.5F * static_cast<float>(arguments.distances.expected);
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int from_window = pair.base_x + lane.first_column + 8 * c - (pair.x[h] - pair.radius);
      start[h][c] = static_cast<unsigned>(from_window) <= 2 * pair.radius ? own : kFar;
    }
  }
  const float* energies =
      region.energies + (pair.base_y + lane.first_row) * kEnergyPitch + pair.base_x + lane.first_column;
#pragma unroll
  for (int k = 0; k < kIterations; ++k) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const float energy = energies[2 * k * kEnergyPitch + 8 * c];
      offsets.values[k][c] = energy + start[0][c];
      offsets.values[k][2 + c] = energy + start[1][c];
    }
  }
}

// Adds the products of both references with all candidates to the accumulators, kRows rows of the patch at a
// time.
template <int kRows, int kIterations>
__device__ __forceinline__ void multiply_patches(const SharedRegion& region, const Lane& lane,
                                                 const Pair& pair, Offsets<kIterations>& offsets) {
  const unsigned* candidates =
      region.words + (pair.base_y + lane.g / 4) * kPitch + word_at(pair.base_x) + lane.g % 4 * 4 + lane.t;
#pragma unroll
  for (int part = 0; part < kPatch; part += kRows) {
    unsigned a[kRows][4];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const unsigned* words = region.words + (pair.y + part + r) * kPitch;
        a[r][h] = words[word_at(pair.x[h] + lane.low_column)] & lane.low_mask;
        a[r][2 + h] = words[word_at(pair.x[h] + lane.high_column)] & lane.high_mask;
      }
    }
    uint2 window[kRows];
    const auto load = [&](int r) {
      return make_uint2(candidates[(part + r) * kPitch], candidates[(part + r) * kPitch + 4]);
    };
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      window[r] = load(r);
    }
#pragma unroll
    for (int k = 0; k < kIterations; ++k) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        multiply_add(offsets.values[k], a[r], window[r].x, window[r].y);
      }
      if (k + 1 < kIterations) {
#pragma unroll
        for (int r = 0; r + 2 < kRows; ++r) {
          window[r] = window[r + 2];
        }
        window[kRows - 2] = load(2 * k + kRows);
        window[kRows - 1] = load(2 * k + kRows + 1);
      }
    }
  }
}

// Rows below the window have no candidates.
template <int kMaxRadius, int kIterations>
__device__ __forceinline__ void drop_rows_below(const Lane& lane, const Pair& pair,
                                                Offsets<kIterations>& offsets) {
  if (pair.radius == kMaxRadius) {
#pragma unroll
    for (float& offset : offsets.values[kIterations - 1]) {
      offset = lane.first_row == 0 ? offset : kFar;
    }
  } else {
#pragma unroll
    for (int k = 0; k < kIterations; ++k) {
#pragma unroll
      for (float& offset : offsets.values[k]) {
        offset = 2 * k + lane.first_row <= 2 * pair.radius ? offset : kFar;
      }
    }
  }
}

// The bounds of both references from their 64 least offsets, two of which are in each lane.
template <int kIterations>
__device__ __forceinline__ void bound_references(const NarrowArguments& arguments,
                                                 const Offsets<kIterations>& offsets, float (&bound)[2]) {
  float least[2][2] = {{kFar, kFar}, {kFar, kFar}};
#pragma unroll
  for (int k = 0; k < kIterations; ++k) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      float& group = least[c / 2][k % 2];
      group = fminf(group, fabsf(offsets.values[k][c]));
    }
  }
  float low[2];
  float high[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    low[h] = least_of_warp(fminf(least[h][0], least[h][1]));
    high[h] = greatest_of_warp(fmaxf(if_reachable(least[h][0]), if_reachable(least[h][1])));
  }
  const auto wanted = static_cast<unsigned>(arguments.groups.capacity);
  find_bounds<kBisections>(
      arguments.distances, low, high, bound, [&](const float(&bounds)[2], bool(&enough)[2]) {
        // Numbers of the first and the second reference's candidates within each one's bound, the second's in
        // the upper half.
        unsigned count = 0;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          count +=
              (least[h][0] <= bounds[h] ? 1U << 16 * h : 0) + (least[h][1] <= bounds[h] ? 1U << 16 * h : 0);
        }
        count = sum_over_warp(count);
        enough[0] = (count & 0xFFFFU) >= wanted;
        enough[1] = count >> 16 >= wanted;
      });
}

// A bit mask (Offsets::below()) of the candidates of reference h, other than itself, within the bound, or of
// the first ones if the pool has no room for all.
template <int kIterations>
__device__ __forceinline__ unsigned find_candidates(const NarrowArguments& arguments, const Lane& lane,
                                                    const Pair& pair, const Offsets<kIterations>& offsets,
                                                    int h, float bound) {
  constexpr int kOffsets = Offsets<kIterations>::kCount;
  unsigned passed = offsets.below(h, just_above(bound));
  const int own_column = pair.x[h] - pair.base_x - lane.first_column;
  if (pair.radius % 2 == lane.first_row && (own_column == 0 || own_column == 8)) {
    passed &= ~((1U << (kOffsets - 1)) >> (pair.radius / 2 * 2 + own_column / 8));
  }
  if (sum_over_warp(__popc(passed)) >= kPool) {
    passed = first_candidates<kOffsets>(
        arguments.groups.capacity, __float2int_rd(2 * offsets.nearest(h)) - 1, __float2int_ru(2 * bound),
        passed,
        [&](int distance) { return offsets.below(h, just_above(0.5F * static_cast<float>(distance))); });
  }
  return passed;
}

// Adds a warp's candidates that passed to the pools, after the references themselves. offsets_of_lane is the
// lane's part of its warp's offsets in shared memory, where it can index them.
template <int kIterations>
__device__ __forceinline__ void collect(const Lane& lane, const Offsets<kIterations>& offsets,
                                        const unsigned (&passed)[2], const int (&shift)[2],
                                        float4* offsets_of_lane, unsigned* pool, int (&found)[2]) {
  constexpr int kOffsets = Offsets<kIterations>::kCount;
  // The numbers of candidates of each reference in earlier lanes, the second's in the upper half.
  const auto own_count = static_cast<unsigned>(__popc(passed[0]) | __popc(passed[1]) << 16);
  unsigned count = own_count;
#pragma unroll
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const unsigned before = __shfl_up_sync(kAllLanes, count, distance);
    count += lane.lane >= distance ? before : 0;
  }
  const unsigned counts = __shfl_sync(kAllLanes, count, kWarp - 1);
  count -= own_count;
  found[0] = 1 + static_cast<int>(counts & 0xFFFFU);
  found[1] = 1 + static_cast<int>(counts >> 16);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    unsigned left = passed[h];
    if (left == 0) {
      continue;
    }
#pragma unroll
    for (int k = 0; k < kIterations; k += 2) {
      const int next = k + 1 < kIterations ? k + 1 : k;
      offsets_of_lane[k / 2 * kWarp] =
          make_float4(offsets.values[k][2 * h], offsets.values[k][2 * h + 1], offsets.values[next][2 * h],
                      offsets.values[next][2 * h + 1]);
    }
    const int first_place = Pool::place(lane.first_column, lane.first_row);
    auto slot = static_cast<int>(h == 0 ? count & 0xFFFFU : count >> 16);
    do {
      const int k = __clz(static_cast<int>(left)) - (32 - kOffsets);
      left ^= (1U << (kOffsets - 1)) >> k;
      const float offset = reinterpret_cast<const float*>(offsets_of_lane + k / 4 * kWarp)[k % 4];
      ++slot;
      pool[h * kPool + slot] = Pool::key(offset, shift[h], first_place + Pool::place(k % 2 * 8, k / 2 * 2));
    } while (left != 0);
  }
  __syncwarp();
}

// The pairs of references of a block of threads of which one is wanted, so that all warps have equally many.
struct WantedPairs {
  int count;
  std::uint8_t numbers[kMostReferences / 2 * kMostReferences];

  // Called by all threads.
  __device__ void find(const NarrowArguments& arguments, int block_column, int block_row) {
    static_assert(sizeof(numbers) <= kWarp * kWarps);
    if (threadIdx.x == 0) {
      count = 0;
    }
    __syncthreads();
    const int pairs = arguments.columns / 2;
    const int i = static_cast<int>(threadIdx.x);
    const int column = block_column + i % pairs * 2;
    const int row = block_row + i / pairs;
    if (i < pairs * arguments.rows && column < arguments.grid.columns && row < arguments.groups.last_row) {
      const int number = (row - arguments.groups.first_row) * arguments.grid.columns + column;
      if (arguments.groups.wants(number) ||
          (column + 1 < arguments.grid.columns && arguments.groups.wants(number + 1))) {
        numbers[atomicAdd(&count, 1)] = static_cast<std::uint8_t>(i);
      }
    }
    __syncthreads();
  }
};

template <int kMaxRadius>
__global__ void __launch_bounds__(kWarp* kWarps, 2) match_narrow_kernel(NarrowArguments arguments) {
  follow_stream();
  constexpr int kIterations = iterations_of(kMaxRadius);
  constexpr int kVectors = vectors_of(kMaxRadius);
  // Rows of the patch at a time, limited by registers.
  constexpr int kRows = kMaxRadius < 10 ? kPatch : kPatch / 2;
  extern __shared__ float4 shared_memory[];
  const SharedRegion region(shared_memory, arguments.sample_rows, kVectors);
  const ReferenceGrid& grid = arguments.grid;
  const int radius = arguments.radius;
  const Lane lane(static_cast<int>(threadIdx.x) % kWarp);
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int block_column = blockIdx.x * arguments.columns;
  const int block_row = arguments.groups.first_row + blockIdx.y * arguments.rows;
  __shared__ WantedPairs wanted;
  wanted.find(arguments, block_column, block_row);
  if (wanted.count == 0) {
    return;
  }
  const int x0 = (grid.x(block_column) - radius + MatchingPlane::kMargin) & ~(kAlignment - 1);
  const int y0 = grid.y(block_row) - radius + MatchingPlane::kMargin;
  load_region(arguments, region, x0, y0);
  __syncthreads();

  float4* offsets_of_lane = region.offsets + warp * kVectors * kWarp + lane.lane;
  unsigned* pool = region.pools + warp * 2 * kPool;
  if (lane.lane < 2) {
    pool[lane.lane * kPool] = 0;  // the reference itself, which remains there
  }
  const int pairs = arguments.columns / 2;
#pragma unroll 1
  for (int k = warp; k < wanted.count; k += kWarps) {
    const int i = wanted.numbers[k];
    const int column = block_column + i % pairs * 2;
    const int row = block_row + i / pairs;
    const int references = min(grid.columns - column, 2);
    const int number = (row - arguments.groups.first_row) * grid.columns + column;
    const Pair pair = place_pair(arguments, x0, y0, column, row, references);
    Offsets<kIterations> offsets;
    load_energies(arguments, region, lane, pair, offsets);
    multiply_patches<kRows>(region, lane, pair, offsets);
    drop_rows_below<kMaxRadius>(lane, pair, offsets);
    float bound[2];
    bound_references(arguments, offsets, bound);
    bound[1] = references < 2 ? -1.0F : bound[1];
    unsigned passed[2];
    int shift[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      shift[h] = Pool::shift_for(bound[h]);
      passed[h] = find_candidates(arguments, lane, pair, offsets, h, bound[h]);
    }
    int found[2];
    collect(lane, offsets, passed, shift, offsets_of_lane, pool, found);
    write_groups<Pool>(
        arguments.groups, number, references, found, [&](int c, int k) { return pool[c * kPool + k]; },
        [&](int c) { return Pool::place((c == 0 ? pair.x[0] : pair.x[1]) - pair.base_x, radius); },
        lane.lane);
    __syncwarp();
  }
}

constexpr int kSmallRadius = 9;
constexpr int kGreatRadius = 12;
static_assert(2 * iterations_of(kGreatRadius) <= 32, "a word has a bit for each offset of a reference");
static_assert(2 * kGreatRadius + 1 <= kReach, "a window's rows and columns are places of a key");

// The least radius of the kernels that covers `step`.
int max_radius_of(const Bm3dStep& step) {
  return step.search_window / 2 <= kSmallRadius ? kSmallRadius : kGreatRadius;
}

int sample_rows_of(const Bm3dStep& step, int rows) {
  return (rows - 1) * step.spacing + 2 * iterations_of(max_radius_of(step)) + kPatch - 1;
}

std::size_t shared_bytes_of(const Bm3dStep& step, int rows) {
  return SharedRegion::bytes(sample_rows_of(step, rows), vectors_of(max_radius_of(step)));
}

}  // namespace

bool can_match_narrow(const Bm3dStep& step, const DeviceLimits& device) {
  const int radius = step.search_window / 2;
  return fits_products(step, device) && radius >= 1 && radius <= kGreatRadius &&
         2 * radius + 1 + step.spacing <= kReach && shared_bytes_of(step, 1) <= device.shared_memory;
}

void match_narrow(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                  const MatchingDistances& distances, const Groups& groups, cudaStream_t stream) {
  NarrowArguments arguments{};
  arguments.plane = plane;
  arguments.grid = grid;
  arguments.groups = groups;
  arguments.radius = step.search_window / 2;
  arguments.distances = distances;
  const DeviceLimits device = device_limits();
  const int group_rows = groups.last_row - groups.first_row;
  const auto blocks_of = [&](int columns, int rows) {
    return dim3(static_cast<unsigned>(blocks_for(grid.columns, columns)),
                static_cast<unsigned>(blocks_for(group_rows, rows)));
  };
  // Larger blocks load fewer samples per reference, but may leave the last wave of blocks empty.
  const int last_base = 2 * kWords - (kReach + kPatch) - (kAlignment - 1);
  const int most_columns = std::min(last_base / step.spacing + 2, kMostReferences) / 2 * 2;
  float least_cost = 0;
  for (int rows = 1; rows <= kMostReferences; ++rows) {
    const int sample_rows = sample_rows_of(step, rows);
    if (sample_rows > kMaxSampleRows || shared_bytes_of(step, rows) > device.shared_memory) {
      break;
    }
    for (int columns = 2; columns <= most_columns; columns += 2) {
      constexpr float kRowCost = 0.02F;  // cost of a row of samples, in units of two references
      const dim3 grid_size = blocks_of(columns, rows);
      const int blocks = shared_bytes_of(step, rows) <= device.shared_memory_of(2) ? 2 : 1;
      const int waves =
          blocks_for(static_cast<int>(grid_size.x * grid_size.y), blocks * device.multiprocessors);
      const float cost =
          static_cast<float>(waves) * (static_cast<float>(blocks_for(columns / 2 * rows, kWarps)) +
                                       kRowCost * static_cast<float>(sample_rows));
      if (least_cost == 0 || cost < least_cost) {
        least_cost = cost;
        arguments.columns = columns;
        arguments.rows = rows;
        arguments.sample_rows = sample_rows;
      }
    }
  }
  const std::size_t bytes = shared_bytes_of(step, arguments.rows);
  const auto kernel = max_radius_of(step) == kSmallRadius ? match_narrow_kernel<kSmallRadius>
                                                          : match_narrow_kernel<kGreatRadius>;
  allow_shared_memory(kernel, bytes);
  launch(kernel, blocks_of(arguments.columns, arguments.rows), kWarp * kWarps, bytes, stream, arguments);
}

}  // namespace limpid::cuda
