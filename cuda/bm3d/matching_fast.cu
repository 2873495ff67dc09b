// SPDX-License-Identifier: MIT
#include <algorithm>
#include <type_traits>

#include "cuda/bm3d/matching_warp.h"
#include "cuda/runtime/launch.h"

// Matching of patches of 8x8 on tensor cores. With the reference patch a and a candidate b, |a - b|^2 = |a|^2
// + |b|^2 - 2ab, and the products ab of 16 references (4 x 4 of the grid) with 8 candidates at consecutive
// columns are one small matrix product: A holds the references' 64 samples in its rows, B the candidates' in
// its columns. Accumulators that start at -|b|^2 / 2 - (|a|^2 - expected) / 2 end as the candidate's offset:
// minus half of the deviation of its distance from the expected one, by which it is ranked.
//
// Samples are half floats, 11 bits and a sign, minus a number that is constant for a block. Products are
// exact, and sums are floats. They are exact below 2^23: if the samples of both patches are within 90 code
// values of that number, on average; otherwise their relative error is 2^-24 of their energies.
//
// A warp processes 4 x 4 references and walks through the union of their search windows, 8 columns at a time,
// from top to bottom. Two passes compute the same offsets:
//   1. The least of each of 64 interleaved sets of candidates, per reference. At least N candidates are
//      within the N-th least of these.
//   2. Candidates within that bound (about 18 for N = 16, 43 for N = 32) are added to a pool of 88 per
//      reference in shared memory, and the pool is sorted. Since few pass, four rows are compared before
//      any lane processes those that passed; the offsets wait in shared memory, where a lane can index them.
//
// If many distances are equal, as in flat areas, many more candidates are within the bound. A full pool is
// thinned out: keys (distance, then position) that are not among the N least so far are removed, and the
// greatest key kept is the new bound. As the walk proceeds downward, candidates at this distance are soon
// behind its position, so that only closer ones are considered from then on.
//
// Shared memory holds words of two adjacent samples, so that a fragment of B is one word at any position. A
// matrix product takes rows i and i + 4 of the patch, whose words are a pair of registers for four rows of
// candidates; a lane that walks down needs one new word per row. With a pitch of 4 mod 8 words, the loads
// have no bank conflicts.
//
// 8 warps of 4 x 2 x (4 x 4) references, 112 KiB of shared memory at spacing 3 and windows of 39, at most 128
// registers: two blocks per multiprocessor. Bound by instruction issue: four matrix products, two loads, and
// four additions and minima or comparisons per row of 8 candidates and lane.
//
// Distant references need such a large region that a block has room for at most half as many. Two warps then
// share 4 x 4 references, and each walks through half of the columns: the number of busy warps stays the
// same, and the latencies, which are the bound there, are halved. Warps also share references if windows have
// more positions than 12 bits of a key; keys then have 64 bits.

namespace limpid::cuda {
namespace {

constexpr int kPitch = 92;       // words from one row to the next
constexpr int kReferences = 16;  // per tile
constexpr int kTilesY = 2;
constexpr int kMaxTilesX = 4;
constexpr int kMaxWarps = kMaxTilesX * kTilesY;
constexpr int kMaxUnion = 64;  // rows and columns of the union of windows
constexpr int kMaxWideUnion = 80;
constexpr int kExtraColumns = 6;  // words of the last candidates beyond the union
constexpr int kProducts = 4;      // matrix products per 64 samples
constexpr int kWindowPairs = 7;   // for four consecutive rows of candidates
constexpr int kBisections = 8;
static_assert(kPitch % 8 == 4,
              "loads of matrices would have bank conflicts, and vectors would not be aligned");
static_assert(kMaxWideUnion + kExtraColumns <= kPitch,
              "the last candidates' words would lie in the next row");

template <bool kWide>
using PoolOf = std::conditional_t<kWide, Candidates<128, unsigned long long>, Candidates<kMaxUnion>>;

struct FastArguments {
  MatchingPlane plane;
  ReferenceGrid grid;
  Groups groups;
  int radius;
  MatchingDistances distances;
  int tiles_x;
  int union_rows;     // a multiple of 4
  int union_columns;  // a multiple of 8
  int sample_rows;    // of the region that a block loads
  int position_rows;
};

bool is_wide(const FastArguments& arguments) {
  return std::max(arguments.union_rows, arguments.union_columns) > kMaxUnion;
}

// The number of warps that share a tile.
int parts_of(const FastArguments& arguments) { return arguments.tiles_x * kTilesY <= kMaxWarps / 2 ? 2 : 1; }

// A warp's data for each reference of its tile: the candidates so far, and the limits for further ones.
template <typename Key, int kRoom>
struct Selection {
  Key keys[kReferences][kRoom];
  Key last[kReferences];            // greater keys are rejected
  unsigned counts[kReferences];     // number of keys; more than kRoom if some had no room
  float limits[kReferences];        // offsets below it are accepted
  int last_rows[kReferences];       // in rows up to this one,
  float limits_below[kReferences];  // and offsets below this in later rows
};

// The number of candidates per reference for which shared memory has room.
template <int kParts, bool kWide>
constexpr int kRoomOf = kParts == 1 ? 88
                        : kWide     ? 44
                                    : 76;

template <int kParts, bool kWide>
using SelectionOf = Selection<typename PoolOf<kWide>::Key, kRoomOf<kParts, kWide>>;
static_assert(kRoomOf<1, false> % 4 == 0 && kRoomOf<2, false> % 4 == 0 && kRoomOf<2, true> % 4 == 0,
              "four lanes share a pool");
static_assert(kRoomOf<1, false> > kWarp && kRoomOf<2, false> > kWarp && kRoomOf<2, true> > kWarp,
              "a pool holds the greatest group");

struct SharedRegion {
  float4* offsets;        // [warps][4][kWarp]: offsets of four rows, in the layout of the lanes
  unsigned* words;        // [sample_rows][kPitch]
  float* energies;        // [position_rows][kPitch]: -|b|^2 / 2
  std::byte* selections;  // [warps]
  float* bounds;          // [tiles][kReferences], if warps share tiles

  __device__ SharedRegion(float4* memory, const FastArguments& arguments, int parts, int selection_bytes) {
    const int warps = arguments.tiles_x * kTilesY * parts;
    offsets = memory;
    words = reinterpret_cast<unsigned*>(offsets + warps * 4 * kWarp);
    energies = reinterpret_cast<float*>(words + arguments.sample_rows * kPitch);
    selections = reinterpret_cast<std::byte*>(energies + arguments.position_rows * kPitch);
    bounds = reinterpret_cast<float*>(selections + warps * selection_bytes);
  }
  static std::size_t bytes(const FastArguments& arguments) {
    const int parts = parts_of(arguments);
    const auto tiles = static_cast<std::size_t>(arguments.tiles_x) * kTilesY;
    const std::size_t selection = is_wide(arguments) ? sizeof(SelectionOf<2, true>)
                                  : parts == 1       ? sizeof(SelectionOf<1, false>)
                                                     : sizeof(SelectionOf<2, false>);
    return tiles * parts * (4 * kWarp * sizeof(float4) + selection) +
           (static_cast<std::size_t>(arguments.sample_rows + arguments.position_rows) * kPitch +
            (parts == 1 ? 0 : tiles * kReferences)) *
               sizeof(float);
  }
};

// Sums of rows extend into the selections.
template <typename Selection>
constexpr bool kSumsFit = kTilesY * sizeof(Selection) >= 7 * kPitch * sizeof(int);
static_assert(kSumsFit<SelectionOf<1, false>> && kSumsFit<SelectionOf<2, false>> &&
              kSumsFit<SelectionOf<2, true>>);

// Loads the region whose first sample is (x0, y0) of the plane with margins. Energies are sums of squares
// along rows, then along columns; eight are computed from one another by adding the entering and subtracting
// the leaving value.
__device__ void load_region(const FastArguments& arguments, const SharedRegion& region, int x0, int y0) {
  constexpr int kRun = 8;
  constexpr int kPairs = kPitch / 2;
  constexpr int kRuns = kPitch / kRun;
  constexpr int kPositions = kRuns * kRun;
  __shared__ int least;
  __shared__ int greatest;
  clear_range(least, greatest);
  // Two words made of three samples, which are in two aligned pairs.
  const int pitch = arguments.plane.pitch / 2;
  const bool odd = x0 % 2 != 0;
  const auto* pairs = reinterpret_cast<const unsigned*>(arguments.plane.samples) +
                      static_cast<std::ptrdiff_t>(y0) * pitch + x0 / 2;
  auto* words = reinterpret_cast<uint2*>(region.words);
  int own_least = INT_MAX;
  int own_greatest = INT_MIN;
#pragma unroll 4
  for (int i = threadIdx.x; i < arguments.sample_rows * kPairs; i += blockDim.x) {
    const unsigned* in = pairs + i / kPairs * pitch + i % kPairs;
    const unsigned between = __funnelshift_r(in[0], in[1], 16);
    const uint2 two = odd ? make_uint2(between, in[1]) : make_uint2(in[0], between);
    own_least = min(own_least, min(low_sample(two.x), high_sample(two.x)));
    own_greatest = max(own_greatest, max(low_sample(two.x), high_sample(two.x)));
    words[i] = two;
  }
  const int middle = middle_of_range(least, greatest, own_least, own_greatest);

  int* sums = reinterpret_cast<int*>(region.energies);
  for (int i = threadIdx.x; i < (arguments.position_rows + kRun - 1) * kRuns; i += blockDim.x) {
    const int at = i / kRuns * kPitch + i % kRuns * kRun;
    int squares[2 * kRun];
#pragma unroll
    for (int c = 0; c < 2 * kRun; c += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(region.words + at + c);
      const auto square = [&](unsigned word) {
        const int value = low_sample(word) - middle;
        return value * value;
      };
      squares[c] = square(four.x);
      squares[c + 1] = square(four.y);
      squares[c + 2] = square(four.z);
      squares[c + 3] = square(four.w);
    }
    store_sums(squares, sums + at);
  }
  __syncthreads();
#pragma unroll 2
  for (int i = threadIdx.x; i < arguments.sample_rows * kPairs; i += blockDim.x) {
    const uint2 two = words[i];
    const int first = low_sample(two.x) - middle;
    const int second = low_sample(two.y) - middle;
    const int third = high_sample(two.y) - middle;
    words[i] = make_uint2(half_pair(first, second), half_pair(second, third));
  }
  sums_to_energies<kPitch, kPositions>(sums, arguments.position_rows, arguments.plane, x0, y0,
                                       [&](int y, int /*r*/) { return y < arguments.position_rows; });
}

// Waits for the warps that share a tile.
static_assert(kMaxTilesX / 2 * kTilesY < 16, "a block has 16 barriers, of which the first is everybody's");
template <int kParts>
__device__ __forceinline__ void sync_tile(int tile) {
  if constexpr (kParts == 1) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + tile), "r"(kParts * kWarp) : "memory");
  }
}

// Clears the selection of a warp. has_self: the selection contains the references themselves, with the key 0.
template <typename Key, int kRoom>
__device__ __forceinline__ void clear(Selection<Key, kRoom>& selection, bool has_self, int lane) {
  if (lane < kReferences) {
    selection.counts[lane] = has_self ? 1 : 0;
    selection.keys[lane][0] = 0;
    selection.last[lane] = static_cast<Key>(~Key{0});
    selection.last_rows[lane] = -1;
  }
}

// Thins out a warp's pools. In pools with `wanted` keys or more, at least the `wanted` least stay, and not
// many more, and the greatest of these becomes the bound. This includes pools that are not full, because with
// equal distances they soon will be. Four lanes share a reference. Returns the greatest of the references'
// last rows.
template <typename Pool, int kRoom>
__device__ int thin_out(Selection<typename Pool::Key, kRoom>& selection, int wanted, const int (&shift)[2],
                        int lane) {
  using Key = typename Pool::Key;
  const int g = lane / 4;
  const int t = lane % 4;
  const int enough = wanted + (kRoom - wanted) / 8;
#pragma unroll 1
  for (int h = 0; h < 2; ++h) {
    const int r = g + 8 * h;
    const int own_shift = h == 0 ? shift[0] : shift[1];
    Key* keys = selection.keys[r];
    const int count = min(static_cast<int>(selection.counts[r]), kRoom);
    const bool bounded = count >= wanted;
    if (!__any_sync(kAllLanes, bounded)) {
      continue;
    }
    // Finds the bound by bisection. The reference's own key, 0, always stays.
    Key low = Pool::kNone;
    Key high = 0;
#pragma unroll kRoom / 8
    for (int i = t; i < kRoom; i += 4) {
      const Key key = keys[i];
      low = key == 0 || i >= count ? low : min(low, key);
      high = i >= count ? high : max(high, key);
    }
    const auto quad_sum = [](int value) {
      value += __shfl_xor_sync(kAllLanes, value, 1);
      return value + __shfl_xor_sync(kAllLanes, value, 2);
    };
    const auto count_within = [&](Key bound) {
      int within = 0;
#pragma unroll kRoom / 8
      for (int i = t; i < kRoom; i += 4) {
        within += i < count && keys[i] <= bound ? 1 : 0;
      }
      return quad_sum(within);
    };
#pragma unroll
    for (int i = 1; i < 4; i *= 2) {
      low = min(low, __shfl_xor_sync(kAllLanes, low, i));
      high = max(high, __shfl_xor_sync(kAllLanes, high, i));
    }
    low -= 1;
    high = min(high, selection.last[r]);
    int within = count_within(high);
#pragma unroll 1
    while (true) {
      const bool open = bounded && high - low > 1 && within > enough;
      if (!__any_sync(kAllLanes, open)) {
        break;
      }
      const Key middle = low + (high - low) / 2;
      const int within_middle = count_within(middle);
      if (open) {
        if (within_middle >= wanted) {
          high = middle;
          within = within_middle;
        } else {
          low = middle;
        }
      }
    }
    const bool crowded = bounded && count > within;
    if (__any_sync(kAllLanes, crowded)) {
      int kept = 0;
#pragma unroll 2
      for (int i = 0; i < kRoom; i += 4) {
        const Key key = keys[i + t];
        const bool stays = crowded && i + t < count && key <= high;
        const unsigned four = __ballot_sync(kAllLanes, stays) >> 4 * g & 0xFU;
        if (stays) {
          keys[kept + __popc(four & ((1U << t) - 1))] = key;
        }
        kept += __popc(four);
      }
    }
    if (bounded && t == 0) {
      selection.counts[r] = within;
      selection.last[r] = high;
      selection.last_rows[r] = Pool::row(high);
      selection.limits[r] = fminf(selection.limits[r], Pool::limit_after(high, own_shift));
      selection.limits_below[r] = fminf(selection.limits_below[r], Pool::limit_at(high, own_shift));
    }
  }
  __syncwarp();
  return greatest_of_warp(selection.last_rows[lane % kReferences]);
}

// A warp's tile of 4 x 4 references, from the view of lane 4 g + t. Rows g and g + 8 of A are the lane's two
// references: those of columns g % 4 and rows g / 4 and g / 4 + 2. Columns and rows of candidates are counted
// from the beginning of the union of search windows.
struct Tile {
  const FastArguments& arguments;
  int lane;
  int g;
  int t;
  int first_column;  // position of the tile's references in the grid
  int first_row;
  int x;  // position in the plane: radius to the right of the union's beginning,
  int y;  // and below it
  const unsigned* words;
  const float* energies;
  int diameter;  // of windows, minus 1
  int window_x;  // beginning of the windows of the lane's two references
  int window_y[2];
  int first_y[2];  // rows of the windows of all the tile's first references, and of all its second ones
  int last_y[2];

  // The beginning of the windows of the tile's references of a column or row.
  __device__ __forceinline__ int window_x_of(int column) const {
    const ReferenceGrid& grid = arguments.grid;
    return grid.x(min(first_column + column, grid.columns - 1)) - x;
  }
  __device__ __forceinline__ int window_y_of(int row) const {
    return arguments.grid.y(min(first_row + row, arguments.groups.last_row - 1)) - y;
  }
  __device__ __forceinline__ bool column_is_valid(int column) const {
    return static_cast<unsigned>(column - window_x) <= diameter;
  }
  __device__ __forceinline__ bool row_is_valid(int row, int h) const {
    return static_cast<unsigned>(row - window_y[h]) <= diameter;
  }
  // True if every reference has candidates in all of rows y to y + 3.
  __device__ __forceinline__ bool all_valid(int row) const {
    return row >= 3 * arguments.grid.spacing && row + 3 <= diameter;
  }
  // True if any of the references h has candidates in one of these rows. Used for distant references.
  __device__ __forceinline__ bool any_valid(int row, int h) const {
    return row + 3 >= first_y[h] && row <= last_y[h];
  }
};

// The tile whose first reference is at a column and row of the grid, in a block whose first reference is at
// (block_x, block_y) of the plane.
__device__ __forceinline__ Tile make_tile(const FastArguments& arguments, const SharedRegion& region,
                                          int block_x, int block_y, int first_column, int first_row,
                                          int lane) {
  const int region_x = (arguments.grid.x(first_column) - block_x) & ~1;  // even, for pairs of energies
  const int region_y = arguments.grid.y(first_row) - block_y;
  const int at = region_y * kPitch + region_x;
  Tile tile{arguments,
            lane,
            lane / 4,
            lane % 4,
            first_column,
            first_row,
            block_x + region_x,
            block_y + region_y,
            region.words + at,
            region.energies + at,
            2 * arguments.radius};
  tile.window_x = tile.window_x_of(tile.g % 4);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    tile.window_y[h] = tile.window_y_of(tile.g / 4 + 2 * h);
    tile.first_y[h] = tile.window_y_of(2 * h);
    tile.last_y[h] = tile.window_y_of(2 * h + 1) + tile.diameter;
    // Prevents the compiler from computing them again for every four rows.
    asm volatile("" : "+r"(tile.first_y[h]), "+r"(tile.last_y[h]));
  }
  return tile;
}

// A lane's part of the tile's references.
struct References {
  unsigned a[kProducts][4];
  float start[2];  // (expected - |a|^2) / 2
};

__device__ __forceinline__ References load_references(const Tile& tile) {
  const int radius = tile.arguments.radius;
  References references;
#pragma unroll
  for (int i = 0; i < kProducts; ++i) {
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int row = i + quarter / 2 * 4;
      references.a[i][quarter] = tile.words[(radius + tile.window_y[quarter % 2] + row) * kPitch + radius +
                                            tile.window_x + 2 * tile.t];
    }
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    references.start[h] = tile.energies[(radius + tile.window_y[h]) * kPitch + radius + tile.window_x] +
                          0.5F * static_cast<float>(tile.arguments.distances.expected);
  }
  return references;
}

// A lane's four offsets per row: 0 and 1 belong to the first reference and the candidates in columns 2 t and
// 2 t + 1, 2 and 3 to the second reference.
using FourRows = float[4][4];

// Computes the offsets in columns 8 j to 8 j + 7 and calls visit(y, i, offsets) for four rows at a time, with
// i = y / 4 % 4 if kUnrolled. Code size matters: the warps of a multiprocessor execute different parts of it.
template <bool kUnrolled, typename Visit>
__device__ __forceinline__ void sweep(const Tile& tile, const References& references, int j,
                                      const Visit& visit) {
  const unsigned* next_words = tile.words + tile.g + 2 * tile.t + 8 * j;
  const float* next_energies = tile.energies + 2 * tile.t + 8 * j;
  const auto pair = [&](int row) { return *reinterpret_cast<const float2*>(next_energies + row * kPitch); };
  float starts[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    starts[i] = tile.column_is_valid(8 * j + 2 * tile.t + i % 2) ? references.start[i / 2] : kFar;
  }
  struct {
    unsigned upper;  // word of row i
    unsigned lower;  // of row i + 4
  } window[kWindowPairs];
  float2 next[4];
#pragma unroll
  for (int s = 0; s < 4; ++s) {
    next[s] = pair(s);
  }
#pragma unroll
  for (int i = 0; i < kWindowPairs; ++i) {
    window[i] = {next_words[i * kPitch], next_words[(i + 4) * kPitch]};
  }
  const auto four_rows = [&](int y, int quad) {
    FourRows offsets;
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      offsets[s][0] = next[s].x + starts[0];
      offsets[s][1] = next[s].y + starts[1];
      offsets[s][2] = next[s].x + starts[2];
      offsets[s][3] = next[s].y + starts[3];
    }
#pragma unroll
    for (int i = 0; i < kProducts; ++i) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        multiply_add(offsets[s], references.a[i], window[s + i].upper, window[s + i].lower);
      }
    }
    const unsigned lower[4] = {window[3].lower, window[4].lower, window[5].lower, window[6].lower};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      window[i] = window[i + 4];
    }
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      window[3 + s] = {lower[s], next_words[(s + 11) * kPitch]};
      next[s] = pair(s + 4);
    }
    next_words += 4 * kPitch;
    next_energies += 4 * kPitch;
    visit(y, quad, offsets);
  };
  if constexpr (kUnrolled) {
    for (int base = 0; base < tile.arguments.union_rows; base += 16) {
#pragma unroll
      for (int quad = 0; quad < 4; ++quad) {
        if (base + 4 * quad < tile.arguments.union_rows) {
          four_rows(base + 4 * quad, quad);
        }
      }
    }
  } else {
#pragma unroll 1
    for (int y = 0; y < tile.arguments.union_rows; y += 4) {
      four_rows(y, 0);
    }
  }
}

// The columns that a warp sweeps, eight at a time: its part of the tile's columns.
struct Sweeps {
  int first;
  int last;
};

template <int kParts>
__device__ __forceinline__ Sweeps sweeps_of(const FastArguments& arguments, int part) {
  const int sweeps = arguments.union_columns / 8;
  return {sweeps * part / kParts, sweeps * (part + 1) / kParts};
}

// Pass 1. Rows at a distance of 16 and columns at a distance of 16 share a least offset; the least offsets of
// the other columns rotate.
template <int kParts>
__device__ __forceinline__ void find_least(const Tile& tile, const References& references,
                                           const Sweeps& sweeps, float (&least)[2][16]) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      least[h][i] = kFar;
    }
  }
#pragma unroll 1
  for (int j = sweeps.first; j < sweeps.last; ++j) {
    sweep<true>(tile, references, j, [&](int y, int quad, const FourRows& offsets) {
      const auto take = [&](int s, int h) {
        float& even = least[h][4 * quad + s];
        float& odd = least[h][(4 * quad + s + 8) % 16];
        even = fminf(even, fabsf(offsets[s][2 * h]));
        odd = fminf(odd, fabsf(offsets[s][2 * h + 1]));
      };
      if (kParts == 1 && tile.all_valid(y)) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          take(i / 2, i % 2);
        }
      } else {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if (kParts == 1 || tile.any_valid(y, h)) {
#pragma unroll
            for (int s = 0; s < 4; ++s) {
              if (tile.row_is_valid(y + s, h)) {
                take(s, h);
              }
            }
          }
        }
      }
    });
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float first = least[h][i];
        least[h][i] = least[h][i + 4];
        least[h][i + 4] = least[h][i + 8];
        least[h][i + 8] = least[h][i + 12];
        least[h][i + 12] = first;
      }
    }
  }
}

// The bound of a reference from its 64 least offsets, 16 of which are in each of the four lanes with the same
// g.
__device__ __forceinline__ float bound_of(const FastArguments& arguments, const float (&least)[16]) {
  float low[1] = {kFar};
  float high[1] = {0};
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    low[0] = fminf(low[0], least[i]);
    high[0] = fmaxf(high[0], if_reachable(least[i]));
  }
#pragma unroll
  for (int i = 1; i < 4; i *= 2) {
    low[0] = fminf(low[0], __shfl_xor_sync(kAllLanes, low[0], i));
    high[0] = fmaxf(high[0], __shfl_xor_sync(kAllLanes, high[0], i));
  }
  float bound[1];
  find_bounds<kBisections>(arguments.distances, low, high, bound,
                           [&](const float(&bounds)[1], bool(&enough)[1]) {
                             int count = 0;
#pragma unroll
                             for (int i = 0; i < 16; ++i) {
                               count += least[i] <= bounds[0] ? 1 : 0;
                             }
                             count += __shfl_xor_sync(kAllLanes, count, 1);
                             count += __shfl_xor_sync(kAllLanes, count, 2);
                             enough[0] = count >= arguments.groups.capacity;
                           });
  return bound[0];
}

// The bounds of a lane's two references; own_offsets is the lane's part of its warp's offsets in shared
// memory.
template <int kParts>
__device__ __forceinline__ void bound_references(const Tile& tile, const SharedRegion& region,
                                                 float4* own_offsets, int tile_of_block, int part,
                                                 const float (&least)[2][16], float (&bound)[2]) {
  if constexpr (kParts == 1) {
    bound[0] = bound_of(tile.arguments, least[0]);
    bound[1] = bound_of(tile.arguments, least[1]);
  } else {
    // Each warp bounds one half of the references, with the other warp's least offsets, and then they
    // exchange the bounds.
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      own_offsets[i * kWarp] =
          part == 0
              ? make_float4(least[1][4 * i], least[1][4 * i + 1], least[1][4 * i + 2], least[1][4 * i + 3])
              : make_float4(least[0][4 * i], least[0][4 * i + 1], least[0][4 * i + 2], least[0][4 * i + 3]);
    }
    sync_tile<kParts>(tile_of_block);
    const float4* other_offsets = own_offsets + (part == 0 ? 1 : -1) * 4 * kWarp;
    float merged[16];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float4 others = other_offsets[i * kWarp];
      const auto merge = [&](int c, float value) {
        merged[4 * i + c] = fminf(part == 0 ? least[0][4 * i + c] : least[1][4 * i + c], value);
      };
      merge(0, others.x);
      merge(1, others.y);
      merge(2, others.z);
      merge(3, others.w);
    }
    float* bounds = region.bounds + tile_of_block * kReferences;
    bounds[part * 8 + tile.g] = bound_of(tile.arguments, merged);
    sync_tile<kParts>(tile_of_block);
    bound[0] = bounds[tile.g];
    bound[1] = bounds[8 + tile.g];
  }
}

// A lane's part of pass 2.
template <int kParts, bool kWide>
struct Collector {
  using Pool = PoolOf<kWide>;
  static constexpr int kRoom = kRoomOf<kParts, kWide>;

  const Tile& tile;
  SelectionOf<kParts, kWide>& selection;
  float4* own_offsets;  // the lane's part of its warp's offsets, in shared memory
  int self[2];          // positions of the lane's references
  int shift[2];         // shift of distances that makes them fit into keys
  float limit[2];       // limit of offsets within the bound
  int last_row;         // greatest of the references' last rows

  // Begins with the bounds of pass 1.
  __device__ __forceinline__ void begin(float (&bound)[2]) {
    const FastArguments& arguments = tile.arguments;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      shift[h] = Pool::shift_for(bound[h]);
      if (tile.first_column + tile.g % 4 >= arguments.grid.columns ||
          tile.first_row + tile.g / 4 + 2 * h >= arguments.groups.last_row) {
        bound[h] = -1;
      }
      limit[h] = just_above(bound[h]);
      self[h] = Pool::place(arguments.radius + tile.window_x, arguments.radius + tile.window_y[h]);
    }
    last_row = -1;
    if (tile.t == 0) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        selection.limits[tile.g + 8 * h] = limit[h];
        selection.limits_below[tile.g + 8 * h] = limit[h];
      }
    }
    __syncwarp();
  }

  __device__ __forceinline__ void take_limits(const float* limits) {
    limit[0] = limits[tile.g];
    limit[1] = limits[tile.g + 8];
  }

  // A bit mask of the offsets in rows y to y + 3 below the limits: bit 15 - k is for reference k / 8, row k /
  // 2 % 4 and offset k % 2.
  __device__ __forceinline__ unsigned find_passing(int y, const FourRows& offsets) {
    unsigned passed = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (kParts == 1 || tile.any_valid(y, h)) {
        passed = append_below(passed, offsets, h, limit[h]);
      } else {
        passed <<= 8;
      }
    }
    if (kParts > 1 || !tile.all_valid(y)) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        passed &= tile.row_is_valid(y + i % 4, i / 4) ? ~0U : ~(0xC000U >> 2 * i);
      }
    }
    return y <= last_row ? passed & find_near(y, offsets) : passed;
  }

  // The bit mask for pools that have been thinned out: in rows after the position of the greatest key,
  // offsets must be below a lower limit.
  __device__ __forceinline__ unsigned find_near(int y, const FourRows& offsets) {
    unsigned near = 0;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float below = selection.limits_below[tile.g + 8 * h];
      near = append_below(near, offsets, h, below);
      const int rows = min(max(selection.last_rows[tile.g + 8 * h] + 1 - y, 0), 4);
      near |= 0xFF00U >> 2 * rows & 0xFFU;
      limit[h] = y + 4 <= last_row ? limit[h] : below;
    }
    return near;
  }

  __device__ __forceinline__ static unsigned append_below(unsigned bits, const FourRows& offsets, int h,
                                                          float below) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int c = 2 * h; c < 2 * h + 2; ++c) {
        bits = append_if_below(bits, offsets[s][c], below);
      }
    }
    return bits;
  }

  // Adds the candidates that passed, in rows y to y + 3 from column 8 j on, whose offsets are in own_offsets,
  // to the pools. Returns those without room.
  __device__ __forceinline__ unsigned add(unsigned passed, int j, int y) {
    unsigned refused = 0;
    if (passed != 0) {
      const int first_place = Pool::place(8 * j + 2 * tile.t, y);
      do {
        const auto k = static_cast<unsigned>(__clz(static_cast<int>(passed)) - 16);
        passed ^= 0x8000U >> k;
        const bool second = k >= 8;
        const unsigned row = k / 2 % 4;
        const int place = first_place + Pool::place(static_cast<int>(k % 2), static_cast<int>(row));
        if (place != (second ? self[1] : self[0])) {
          const float offset = reinterpret_cast<const float*>(own_offsets + row * kWarp)[k / 8 * 2 + k % 2];
          const int r = tile.g + (second ? 8 : 0);
          const unsigned slot = atomicAdd(&selection.counts[r], 1U);
          if (slot < kRoom) {
            selection.keys[r][slot] = Pool::key(offset, second ? shift[1] : shift[0], place);
          } else {
            refused |= 0x8000U >> k;
          }
        }
      } while (passed != 0);
    }
    return refused;
  }

  // Adds all offsets that pass in rows y to y + 3 from column 8 j on.
  __device__ __forceinline__ void visit(int j, int y, const FourRows& offsets) {
    unsigned passed = find_passing(y, offsets);
    if (!__any_sync(kAllLanes, passed != 0)) {
      return;
    }
    if (passed != 0) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        own_offsets[s * kWarp] = make_float4(offsets[s][0], offsets[s][1], offsets[s][2], offsets[s][3]);
      }
    }
    while (true) {
      passed = add(passed, j, y);
      if (!__any_sync(kAllLanes, passed != 0)) {
        break;
      }
      __syncwarp();
      last_row = thin_out<Pool, kRoom>(selection, tile.arguments.groups.capacity, shift, tile.lane);
      take_limits(y + 4 <= last_row ? selection.limits : selection.limits_below);
    }
  }
};

template <int kParts, bool kWide>
__device__ __forceinline__ void collect(const Tile& tile, const References& references, const Sweeps& sweeps,
                                        Collector<kParts, kWide>& collector) {
#pragma unroll 1
  for (int j = sweeps.first; j < sweeps.last; ++j) {
    collector.take_limits(collector.selection.limits);
    sweep<false>(tile, references, j,
                 [&](int y, int /*quad*/, const FourRows& offsets) { collector.visit(j, y, offsets); });
  }
}

// Writes a warp's part of the tile's groups from the candidates of all the tile's warps, one warp after the
// other.
template <int kParts, bool kWide>
__device__ __forceinline__ void write_tile(const Tile& tile, int part,
                                           const SelectionOf<kParts, kWide>* selections) {
  using Pool = PoolOf<kWide>;
  const Groups& groups = tile.arguments.groups;
  const ReferenceGrid& grid = tile.arguments.grid;
  const int radius = tile.arguments.radius;
#pragma unroll 1
  for (int i = part; i < kReferences / 2; i += kParts) {
    const int column = tile.first_column + i % 2 * 2;
    const int row = tile.first_row + i / 2;
    const int own[2] = {static_cast<int>(selections[0].counts[2 * i]),
                        static_cast<int>(selections[0].counts[2 * i + 1])};
    int found[2] = {own[0], own[1]};
    if constexpr (kParts == 2) {
      found[0] += static_cast<int>(selections[1].counts[2 * i]);
      found[1] += static_cast<int>(selections[1].counts[2 * i + 1]);
    }
    write_groups<Pool>(
        groups, (row - groups.first_row) * grid.columns + column,
        row < groups.last_row ? min(grid.columns - column, 2) : 0, found,
        [&](int c, int k) {
          return kParts == 1 || k < own[c] ? selections[0].keys[2 * i + c][k]
                                           : selections[kParts - 1].keys[2 * i + c][k - own[c]];
        },
        [&](int c) {
          return Pool::place(radius + tile.window_x_of(i % 2 * 2 + c), radius + tile.window_y_of(i / 2));
        },
        tile.lane);
  }
}

template <int kParts, bool kWide>
__global__ void __launch_bounds__(kWarp* kMaxWarps, 2) match_fast_kernel(FastArguments arguments) {
  follow_stream();
  extern __shared__ float4 shared_memory[];
  const SharedRegion region(shared_memory, arguments, kParts, sizeof(SelectionOf<kParts, kWide>));
  const int lane = threadIdx.x % kWarp;
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int tile_of_block = warp / kParts;
  const int part = warp % kParts;
  const int block_column = blockIdx.x * arguments.tiles_x * 4;
  const int block_row = arguments.groups.first_row + blockIdx.y * kTilesY * 4;
  if (!block_wants(arguments.groups, arguments.grid, block_column, block_row, arguments.tiles_x * 4,
                   kTilesY * 4)) {
    return;
  }
  const int block_x = arguments.grid.x(block_column);
  const int block_y = arguments.grid.y(block_row);
  load_region(arguments, region, block_x - arguments.radius + MatchingPlane::kMargin,
              block_y - arguments.radius + MatchingPlane::kMargin);
  auto* selections = reinterpret_cast<SelectionOf<kParts, kWide>*>(region.selections);
  clear(selections[warp], part == 0, lane);
  __syncthreads();
  const int first_column = block_column + tile_of_block % arguments.tiles_x * 4;
  const int first_row = block_row + tile_of_block / arguments.tiles_x * 4;
  if (first_column >= arguments.grid.columns || first_row >= arguments.groups.last_row) {
    return;
  }

  const Tile tile = make_tile(arguments, region, block_x, block_y, first_column, first_row, lane);
  const References references = load_references(tile);
  const Sweeps sweeps = sweeps_of<kParts>(arguments, part);
  float4* own_offsets = region.offsets + warp * 4 * kWarp + lane;
  float bound[2];
  {
    float least[2][16];
    find_least<kParts>(tile, references, sweeps, least);
    bound_references<kParts>(tile, region, own_offsets, tile_of_block, part, least, bound);
  }
  Collector<kParts, kWide> collector{tile, selections[warp], own_offsets};
  collector.begin(bound);
  collect(tile, references, sweeps, collector);
  sync_tile<kParts>(tile_of_block);
  write_tile<kParts, kWide>(tile, part, selections + warp - part);
}

int union_size(const Bm3dStep& step) { return step.search_window + 3 * step.spacing; }

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

// The region sizes of a block of tiles_x * kTilesY tiles.
FastArguments regions_of(const Bm3dStep& step, int tiles_x) {
  FastArguments arguments{};
  arguments.tiles_x = tiles_x;
  arguments.union_rows = round_up(union_size(step), 4);
  arguments.union_columns = round_up(union_size(step), 8);
  const int further_tiles = (kTilesY - 1) * 4 * step.spacing;
  arguments.sample_rows = further_tiles + arguments.union_rows + 12;
  arguments.position_rows = further_tiles + arguments.union_rows + 4;
  return arguments;
}

}  // namespace

bool can_match_fast(const Bm3dStep& step, const DeviceLimits& device) {
  return fits_products(step, device) && union_size(step) <= kMaxWideUnion &&
         step.search_window / 2 <= MatchingPlane::kMargin &&
         SharedRegion::bytes(regions_of(step, 1)) <= device.shared_memory;
}

void match_fast(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                const MatchingDistances& distances, const Groups& groups, cudaStream_t stream) {
  int tiles_x = (kPitch - round_up(union_size(step), 8) - kExtraColumns) / (4 * grid.spacing) + 1;
  tiles_x = std::min(tiles_x, union_size(step) > kMaxUnion ? kMaxTilesX / 2 : kMaxTilesX);
  const std::size_t most = device_limits().shared_memory;
  while (tiles_x > 1 && SharedRegion::bytes(regions_of(step, tiles_x)) > most) {
    --tiles_x;
  }
  FastArguments arguments = regions_of(step, tiles_x);
  arguments.plane = plane;
  arguments.grid = grid;
  arguments.groups = groups;
  arguments.radius = step.search_window / 2;
  arguments.distances = distances;
  const std::size_t bytes = SharedRegion::bytes(arguments);
  const int parts = parts_of(arguments);
  const auto kernel = is_wide(arguments) ? match_fast_kernel<2, true>
                      : parts == 1       ? match_fast_kernel<1, false>
                                         : match_fast_kernel<2, false>;
  allow_shared_memory(kernel, bytes);
  const dim3 blocks_of_tiles(blocks_for(grid.columns, arguments.tiles_x * 4),
                             blocks_for(groups.last_row - groups.first_row, kTilesY * 4));
  launch(kernel, blocks_of_tiles, arguments.tiles_x * kTilesY * parts * kWarp, bytes, stream, arguments);
}

}  // namespace limpid::cuda
