#include <algorithm>
#include <type_traits>

#include "cuda/bm3d/matching_warp.h"
#include "cuda/runtime/launch.h"

// Matching of patches of 8x8 on tensor cores. With a the reference patch and b a candidate, |a - b|^2 = |a|^2
// + |b|^2 - 2ab, and the products ab of 16 references (4 x 4 of the grid) with 8 candidates at consecutive
// columns are one small matrix product: A holds the references' 64 samples in its rows, B the candidates' in
// its columns. With accumulators that start at -|b|^2 / 2 - (|a|^2 - expected) / 2, what comes out, the
// candidate's offset, is half of what its distance deviates from the expected one, which it is ranked by, but
// for the sign.
//
// Samples are half floats, 11 bits and a sign, less a number that is the same for a whole block; products are
// exact, and sums are floats. They are exact below 2^23: where the samples of both patches are within 90 code
// values of that number, on average, and otherwise right to 2^-24 of their energies.
//
// A warp owns 4 x 4 references and walks the union of their search windows, 8 columns at a time, from top to
// bottom. Two passes compute the same offsets:
//   1. The least of each of 64 interleaved groups of candidates, per reference. At least N candidates are
//      within the N-th least of these.
//   2. Candidates within that bound (about 18 for N = 16, 43 for N = 32) go to a pool of 88 per reference in
//      shared memory, and the pool is sorted. Since they are few, four rows are compared before any lane
//      looks at what passed; the offsets wait in shared memory, where a lane can index them.
//
// Where many distances are equal, as in flats, many more are within the bound. A full pool is thinned out:
// what is not among the N least keys so far, which are distances and then places, goes, and the greatest key
// kept is the new bound. Walking down, candidates as far as that are soon behind its place, so that from
// there on only closer ones are looked at.
//
// Shared memory holds words of two samples side by side, so that a fragment of B is one word wherever it
// begins. A matrix product takes rows i and i + 4 of the patch, whose words are a pair of registers for four
// rows of candidates; a lane which walks down needs one new word per row. With a pitch of 4 mod 8 words, the
// loads have no bank conflicts.
//
// 8 warps of 4 x 2 x (4 x 4) references, 112 KiB of shared memory at step 3 and windows of 39, at most 128
// registers: two blocks per multiprocessor. Bound by instruction issue: four matrix products, two loads, and
// four additions and minima or comparisons per row of 8 candidates and lane.
//
// References far apart need so much of the picture that a block has no room for more than half as many. Two
// warps then share 4 x 4 references, each walking half of the columns: as many are busy, and the waits of a
// single one, which bind there, are half as long. So they do where windows are wider than 12 bits of a key
// can tell places in; keys have 64 bits there.

namespace limpid::cuda {
namespace {

constexpr int kPitch = 92;       // words from one row to the next
constexpr int kReferences = 16;  // per tile
constexpr int kTilesY = 2;
constexpr int kMaxTilesX = 4;
constexpr int kMaxWarps = kMaxTilesX * kTilesY;
constexpr int kMaxUnion = 64;  // rows and columns of a union of windows
constexpr int kMaxWideUnion = 80;
constexpr int kExtraColumns = 6;  // that the last candidates' words reach beyond the union
constexpr int kProducts = 4;      // matrix products per 64 samples
constexpr int kWindowPairs = 7;   // that four consecutive rows of candidates need
static_assert(kPitch % 8 == 4, "loads of matrices would have bank conflicts");
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

// Warps that share a tile.
int parts_of(const FastArguments& arguments) { return arguments.tiles_x * kTilesY <= kMaxWarps / 2 ? 2 : 1; }

// What a warp has of each reference of its tile: candidates, and which further ones it takes.
template <typename Key, int kRoom>
struct Selection {
  Key keys[kReferences][kRoom];
  Key last[kReferences];            // greater ones are not wanted any more
  unsigned counts[kReferences];     // of keys; more than kRoom where some had no room
  float limits[kReferences];        // offsets below it are taken
  int last_rows[kReferences];       // in rows up to this one,
  float limits_below[kReferences];  // and in those below, offsets below this
};

// Candidates of a reference that a warp has room for, as shared memory allows.
template <int kParts, bool kWide>
constexpr int kRoomOf = kParts == 1 ? 88
                        : kWide     ? 44
                                    : 76;

template <int kParts, bool kWide>
using SelectionOf = Selection<typename PoolOf<kWide>::Key, kRoomOf<kParts, kWide>>;

struct SharedRegion {
  float4* offsets;        // [warps][4][kWarp]: those of four rows, as the lanes have them
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

// Loads the region whose first sample is (x0, y0) of the margined plane. Energies are sums of squares along
// rows, then down columns, eight of one another by adding what enters and subtracting what leaves; sums of
// rows reach into the selections.
__device__ void load_region(const FastArguments& arguments, const SharedRegion& region, int x0, int y0) {
  constexpr int kRun = 8;
  constexpr int kPairs = kPitch / 2;
  constexpr int kRuns = kPitch / kRun;
  constexpr int kPositions = kRuns * kRun;
  __shared__ int least;
  __shared__ int greatest;
  clear_range(least, greatest);
  // Two words, made of three samples, which lie in two aligned pairs.
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
    slide<kRun>(squares);
    *reinterpret_cast<int4*>(sums + at) = make_int4(squares[0], squares[1], squares[2], squares[3]);
    *reinterpret_cast<int4*>(sums + at + 4) = make_int4(squares[4], squares[5], squares[6], squares[7]);
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
template <int kParts>
__device__ __forceinline__ void sync_tile(int tile) {
  if constexpr (kParts == 1) {
    __syncwarp();
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + tile), "r"(kParts * kWarp) : "memory");
  }
}

// A warp thins out its pools: of those with `wanted` keys or more, at least the `wanted` least stay, and not
// many more, and the greatest of these becomes the bound. Not only those that are full: where distances tie,
// others soon will be. Four lanes share a reference. Returns the greatest of the references' last rows.
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
    Key* keys = selection.keys[r];
    const int count = min(static_cast<int>(selection.counts[r]), kRoom);
    const bool bounded = count >= wanted;
    if (!__any_sync(kAllLanes, bounded)) {
      continue;
    }
    // By bisection. The reference's own key, 0, stays in any case.
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
      selection.limits[r] = fminf(selection.limits[r], Pool::limit_after(high, shift[h]));
      selection.limits_below[r] = fminf(selection.limits_below[r], Pool::limit_at(high, shift[h]));
    }
  }
  __syncwarp();
  return greatest_of_warp(selection.last_rows[lane % kReferences]);
}

template <int kParts, bool kWide>
__global__ void __launch_bounds__(kWarp* kMaxWarps, 2) match_fast_kernel(FastArguments arguments) {
  using Pool = PoolOf<kWide>;
  using Key = typename Pool::Key;
  follow_stream();
  extern __shared__ float4 shared_memory[];
  constexpr int kRoom = kRoomOf<kParts, kWide>;
  const SharedRegion region(shared_memory, arguments, kParts, sizeof(SelectionOf<kParts, kWide>));
  const ReferenceGrid& grid = arguments.grid;
  const int radius = arguments.radius;
  const int lane = threadIdx.x % kWarp;
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int tile = warp / kParts;
  const int part = warp % kParts;
  const int block_column = blockIdx.x * arguments.tiles_x * 4;
  const int block_row = arguments.groups.first_row + blockIdx.y * kTilesY * 4;
  const int block_x = grid.x(block_column);
  const int block_y = grid.y(block_row);
  load_region(arguments, region, block_x - radius + MatchingPlane::kMargin,
              block_y - radius + MatchingPlane::kMargin);
  auto& selection = reinterpret_cast<SelectionOf<kParts, kWide>*>(region.selections)[warp];
  if (lane < kReferences) {
    selection.counts[lane] = part == 0 ? 1 : 0;  // the reference itself, whose key is 0
    selection.keys[lane][0] = 0;
    selection.last[lane] = Pool::kNone;
    selection.last_rows[lane] = -1;
  }
  __syncthreads();
  const int first_column = block_column + tile % arguments.tiles_x * 4;
  const int first_row = block_row + tile / arguments.tiles_x * 4;
  if (first_column >= grid.columns || first_row >= arguments.groups.last_row) {
    return;
  }

  // Lane = 4 g + t, as the matrix fragments have it. Rows g and g + 8 of A are the references of columns g %
  // 4 and rows g / 4 and g / 4 + 2. Loads of pairs of energies want even columns.
  const int g = lane / 4;
  const int t = lane % 4;
  const int union_x = (grid.x(first_column) - block_x) & ~1;
  const int union_y = grid.y(first_row) - block_y;
  const auto offset_in_union_x = [&](int i) {
    return grid.x(min(first_column + i, grid.columns - 1)) - block_x - union_x;
  };
  const auto offset_in_union_y = [&](int i) {
    return grid.y(min(first_row + i, arguments.groups.last_row - 1)) - block_y - union_y;
  };
  const unsigned* words = region.words + union_y * kPitch + union_x;
  const float* energies = region.energies + union_y * kPitch + union_x;
  const int ox = offset_in_union_x(g % 4);
  const int oy[2] = {offset_in_union_y(g / 4), offset_in_union_y(g / 4 + 2)};
  unsigned a[kProducts][4];
#pragma unroll
  for (int i = 0; i < kProducts; ++i) {
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
      const int row = i + quarter / 2 * 4;
      a[i][quarter] = words[(radius + oy[quarter % 2] + row) * kPitch + radius + ox + 2 * t];
    }
  }
  float start[2];  // (expected - |a|^2) / 2
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    start[h] = energies[(radius + oy[h]) * kPitch + radius + ox] +
               0.5F * static_cast<float>(arguments.distances.expected);
  }
  const unsigned* lane_words = words + g + 2 * t;
  const float* lane_energies = energies + 2 * t;
  const int diameter = 2 * radius;
  const auto column_is_valid = [&](int column) { return static_cast<unsigned>(column - ox) <= diameter; };
  const auto row_is_valid = [&](int row, int h) { return static_cast<unsigned>(row - oy[h]) <= diameter; };
  // Whether every reference has candidates in all of rows y to y + 3.
  const auto all_valid = [&](int y) { return y >= 3 * grid.step && y + 3 <= diameter; };

  // Whether any of the references h has in one of them. Asked where references are far apart.
  const int first_y[2] = {offset_in_union_y(0), offset_in_union_y(2)};
  const int last_y[2] = {offset_in_union_y(1) + diameter, offset_in_union_y(3) + diameter};
  const auto any_valid = [&](int y, int h) { return y + 3 >= first_y[h] && y <= last_y[h]; };

  // Offsets in columns 8 j to 8 j + 7, four rows at a time: visit(y, i, offsets), i = y / 4 % 4 if kUnrolled.
  // Of a row's offsets, 0 and 1 are the first reference's with the candidates in columns 2 t and 2 t + 1, 2
  // and 3 the second's. Code size matters: the warps of a multiprocessor are at different places of it.
  const auto sweep = [&]<bool kUnrolled>(int j, auto&& visit) {
    const unsigned* next_words = lane_words + 8 * j;
    const float* next_energies = lane_energies + 8 * j;
    const auto pair = [&](int row) { return *reinterpret_cast<const float2*>(next_energies + row * kPitch); };
    float starts[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      starts[i] = column_is_valid(8 * j + 2 * t + i % 2) ? start[i / 2] : kFar;
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
      float offsets[4][4];
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
          multiply_add(offsets[s], a[i], window[s + i].upper, window[s + i].lower);
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
      for (int base = 0; base < arguments.union_rows; base += 16) {
#pragma unroll
        for (int quad = 0; quad < 4; ++quad) {
          if (base + 4 * quad < arguments.union_rows) {
            four_rows(base + 4 * quad, quad);
          }
        }
      }
    } else {
#pragma unroll 1
      for (int y = 0; y < arguments.union_rows; y += 4) {
        four_rows(y, 0);
      }
    }
  };

  // Pass 1. Rows 16 apart and columns 16 apart share a least offset; those of the other columns rotate.
  float least[2][16];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      least[h][i] = kFar;
    }
  }
  const int sweeps = arguments.union_columns / 8;
  const int first_sweep = sweeps * part / kParts;
  const int last_sweep = sweeps * (part + 1) / kParts;
#pragma unroll 1
  for (int j = first_sweep; j < last_sweep; ++j) {
    sweep.template operator()<true>(j, [&](int y, int quad, const float(&offsets)[4][4]) {
      const auto take = [&](int s, int h) {
        float& even = least[h][4 * quad + s];
        float& odd = least[h][(4 * quad + s + 8) % 16];
        even = fminf(even, fabsf(offsets[s][2 * h]));
        odd = fminf(odd, fabsf(offsets[s][2 * h + 1]));
      };
      if (kParts == 1 && all_valid(y)) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          take(i / 2, i % 2);
        }
      } else {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if (kParts == 1 || any_valid(y, h)) {
#pragma unroll
            for (int s = 0; s < 4; ++s) {
              if (row_is_valid(y + s, h)) {
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

  // A bound that at least N of a reference's 64 least offsets are within, if there are N, close to the N-th
  // by bisection; the four lanes with the same g share a reference. It is never greater than tau allows.
  const int wanted = arguments.groups.capacity;
  const auto bound_of = [&](const float(&values)[16]) {
    float low = kFar;
    float high = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      low = fminf(low, values[i]);
      high = fmaxf(high, values[i] < kReachable ? values[i] : 0.0F);
    }
#pragma unroll
    for (int i = 1; i < 4; i *= 2) {
      low = fminf(low, __shfl_xor_sync(kAllLanes, low, i));
      high = fmaxf(high, __shfl_xor_sync(kAllLanes, high, i));
    }
    const auto within = [&](float offset) {
      int count = 0;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        count += values[i] <= offset ? 1 : 0;
      }
      count += __shfl_xor_sync(kAllLanes, count, 1);
      return count + __shfl_xor_sync(kAllLanes, count, 2);
    };
    const bool enough = within(high) >= wanted;
    low = fmaxf(low, kLeastBound);
    high = fmaxf(high, kLeastBound);
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const float middle = geometric_middle(low, high);
      if (within(middle) >= wanted) {
        high = middle;
      } else {
        low = middle;
      }
    }
    const float greatest = 0.5F * static_cast<float>(arguments.distances.greatest);
    return enough ? fminf(greatest, high) : greatest;
  };
  float4* own_offsets = region.offsets + warp * 4 * kWarp + lane;
  float bound[2];
  if constexpr (kParts == 1) {
    bound[0] = bound_of(least[0]);
    bound[1] = bound_of(least[1]);
  } else {
    // Each warp bounds one half of the references, with the other's least offsets, and then they swap.
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      own_offsets[i * kWarp] =
          part == 0
              ? make_float4(least[1][4 * i], least[1][4 * i + 1], least[1][4 * i + 2], least[1][4 * i + 3])
              : make_float4(least[0][4 * i], least[0][4 * i + 1], least[0][4 * i + 2], least[0][4 * i + 3]);
    }
    sync_tile<kParts>(tile);
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
    float* bounds = region.bounds + tile * kReferences;
    bounds[part * 8 + g] = bound_of(merged);
    sync_tile<kParts>(tile);
    bound[0] = bounds[g];
    bound[1] = bounds[8 + g];
  }
  int shift[2];  // of distances, so that they fit in the keys' 20 bits
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    shift[h] = Pool::shift_for(bound[h]);
    if (first_column + g % 4 >= grid.columns || first_row + g / 4 + 2 * h >= arguments.groups.last_row) {
      bound[h] = -1;
    }
  }

  // Pass 2. Offsets below the limit are within the bound.
  float limit[2] = {nextafterf(bound[0], kFar), nextafterf(bound[1], kFar)};
  if (t == 0) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      selection.limits[g + 8 * h] = limit[h];
      selection.limits_below[g + 8 * h] = limit[h];
    }
  }
  __syncwarp();
  const int self[2] = {Pool::place(radius + ox, radius + oy[0]), Pool::place(radius + ox, radius + oy[1])};
  int last_row = -1;  // the greatest of the references'
#pragma unroll 1
  for (int j = first_sweep; j < last_sweep; ++j) {
    limit[0] = selection.limits[g];
    limit[1] = selection.limits[g + 8];
    sweep.template operator()<false>(j, [&](int y, int /*quad*/, const float(&offsets)[4][4]) {
      // Bit 15 - k is of the references k / 8, row k / 2 % 4 and offset k % 2. The sign of the difference
      // goes to the low end.
      unsigned passed = 0;
      const auto compare = [&](int s, int h, float below, unsigned& bits) {
#pragma unroll
        for (int c = 2 * h; c < 2 * h + 2; ++c) {
          bits = __funnelshift_l(__float_as_uint(fabsf(offsets[s][c]) - below), bits, 1);
        }
      };
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (kParts == 1 || any_valid(y, h)) {
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            compare(s, h, limit[h], passed);
          }
        } else {
          passed <<= 8;
        }
      }
      if (kParts > 1 || !all_valid(y)) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          passed &= row_is_valid(y + i % 4, i / 4) ? ~0U : ~(0xC000U >> 2 * i);
        }
      }
      if (y <= last_row) {
        unsigned near = 0;
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const float below = selection.limits_below[g + 8 * h];
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            compare(s, h, below, near);
          }
          const int rows = min(max(selection.last_rows[g + 8 * h] + 1 - y, 0), 4);
          near |= 0xFF00U >> 2 * rows & 0xFFU;
          limit[h] = y + 4 <= last_row ? limit[h] : below;
        }
        passed &= near;
      }
      if (__any_sync(kAllLanes, passed != 0)) {
        if (passed != 0) {
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            own_offsets[s * kWarp] = make_float4(offsets[s][0], offsets[s][1], offsets[s][2], offsets[s][3]);
          }
        }
        while (true) {
          unsigned refused = 0;
          if (passed != 0) {
            const int first_place = Pool::place(8 * j + 2 * t, y);
            do {
              const auto k = static_cast<unsigned>(__clz(static_cast<int>(passed)) - 16);
              passed ^= 0x8000U >> k;
              const bool second = k >= 8;
              const unsigned row = k / 2 % 4;
              const int place = first_place + Pool::place(static_cast<int>(k % 2), static_cast<int>(row));
              if (place != (second ? self[1] : self[0])) {
                const float offset =
                    reinterpret_cast<const float*>(own_offsets + row * kWarp)[k / 8 * 2 + k % 2];
                const int r = g + (second ? 8 : 0);
                const unsigned slot = atomicAdd(&selection.counts[r], 1U);
                if (slot < kRoom) {
                  selection.keys[r][slot] = Pool::key(offset, second ? shift[1] : shift[0], place);
                } else {
                  refused |= 0x8000U >> k;
                }
              }
            } while (passed != 0);
          }
          if (!__any_sync(kAllLanes, refused != 0)) {
            break;
          }
          __syncwarp();
          last_row = thin_out<Pool, kRoom>(selection, arguments.groups.capacity, shift, lane);
          const float* limits = y + 4 <= last_row ? selection.limits : selection.limits_below;
          limit[0] = limits[g];
          limit[1] = limits[g + 8];
          passed = refused;
        }
      }
    });
  }
  sync_tile<kParts>(tile);

  // Those that the warps of a tile have found, one warp's behind the other's.
  const auto* selections = &selection - part;
#pragma unroll 1
  for (int i = part; i < kReferences / 2; i += kParts) {
    const int column = first_column + i % 2 * 2;
    const int row = first_row + i / 2;
    const int own[2] = {static_cast<int>(selections[0].counts[2 * i]),
                        static_cast<int>(selections[0].counts[2 * i + 1])};
    int found[2] = {own[0], own[1]};
    if constexpr (kParts == 2) {
      found[0] += static_cast<int>(selections[1].counts[2 * i]);
      found[1] += static_cast<int>(selections[1].counts[2 * i + 1]);
    }
    write_groups<Pool>(
        arguments.groups, (row - arguments.groups.first_row) * grid.columns + column,
        row < arguments.groups.last_row ? min(grid.columns - column, 2) : 0, found,
        [&](int c, int k) {
          return kParts == 1 || k < own[c] ? selections[0].keys[2 * i + c][k]
                                           : selections[kParts - 1].keys[2 * i + c][k - own[c]];
        },
        [&](int c) {
          return Pool::place(radius + offset_in_union_x(i % 2 * 2 + c), radius + offset_in_union_y(i / 2));
        },
        lane);
  }
}

int union_size(const Bm3dStep& step) { return step.search_window + 3 * step.step; }

int round_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

// The sizes of what a block of tiles_x * kTilesY tiles treats.
FastArguments regions_of(const Bm3dStep& step, int tiles_x) {
  FastArguments arguments{};
  arguments.tiles_x = tiles_x;
  arguments.union_rows = round_up(union_size(step), 4);
  arguments.union_columns = round_up(union_size(step), 8);
  const int further_tiles = (kTilesY - 1) * 4 * step.step;
  arguments.sample_rows = further_tiles + arguments.union_rows + 12;
  arguments.position_rows = further_tiles + arguments.union_rows + 4;
  return arguments;
}

}  // namespace

bool can_match_fast(const Bm3dStep& step) {
  if (step.patch_size != 8 || step.max_group_size >= 64 || union_size(step) > kMaxWideUnion ||
      step.search_window / 2 > MatchingPlane::kMargin) {
    return false;
  }
  const DeviceLimits device = device_limits();
  return device.compute_capability >= 80 && SharedRegion::bytes(regions_of(step, 1)) <= device.shared_memory;
}

void match_fast(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                const MatchingDistances& distances, const Groups& groups, cudaStream_t stream) {
  if (can_match_narrow(step)) {
    match_narrow(plane, grid, step, distances, groups, stream);
    return;
  }
  int tiles_x = (kPitch - round_up(union_size(step), 8) - kExtraColumns) / (4 * grid.step) + 1;
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
