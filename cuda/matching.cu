#include <algorithm>
#include <climits>
#include <cmath>

#include "cuda/launch.h"
#include "cuda/matching.h"

namespace limpid::cuda {
namespace {

constexpr unsigned kAll = 0xFFFFFFFFU;
constexpr int kWarp = 32;

__device__ int round_down_to_power_of_two(int value) { return 1 << (31 - __clz(value)); }

// ---------------------------------------------------------------------------------------------------------
// Preparation. A block of 32 x 8 threads treats 64 x 16 positions: it loads the samples that their patches
// cover into shared memory, smoothing them on the way, sums along rows, then down columns. Bound by memory.

constexpr int kPrepareColumns = 64;
constexpr int kPrepareRows = 16;
constexpr int kPrepareThreadsX = 32;
constexpr int kPrepareThreadsY = 8;
constexpr int kMaxPatch = 16;

__device__ int matching_value(const MatchingScale& scale, float value) {
  if (scale.bytes) {
    return __float2int_rn(value);
  }
  const auto limit = static_cast<float>(scale.limit);
  return __float2int_rn(fminf(fmaxf((value - 128.0F) * static_cast<float>(scale.scale), -limit), limit));
}

// Position x of 0 .. size - 1, beyond which the samples are repeated.
__device__ int clamped(int x, int size) { return min(max(x, 0), size - 1); }

// The neighbours of a sample at the border are mirrored about it.
__device__ float smoothed(const FloatPlane& guide, int x, int y) {
  constexpr float kSide = kGuideKernelSide;
  constexpr float kCentre = kGuideKernelCentre;
  constexpr float kScale = 1.0F / (kGuideKernelSum * kGuideKernelSum);
  const int left = x > 0 ? x - 1 : 1;
  const int right = x < guide.width - 1 ? x + 1 : guide.width - 2;
  const float* row = guide.data + static_cast<std::ptrdiff_t>(y) * guide.pitch;
  const float* above = guide.data + static_cast<std::ptrdiff_t>(y > 0 ? y - 1 : 1) * guide.pitch;
  const float* below =
      guide.data + static_cast<std::ptrdiff_t>(y < guide.height - 1 ? y + 1 : guide.height - 2) * guide.pitch;
  // Not contracted to fused operations: where a smoothed sample lies half-way between two matching values,
  // which is common where the guide is the mean of three samples, the CPU's order of roundings decides.
  const auto weighted = [&](float sides, float centre) {
    return __fadd_rn(__fmul_rn(kSide, sides), __fmul_rn(kCentre, centre));
  };
  const auto column = [&](int i) { return weighted(__fadd_rn(above[i], below[i]), row[i]); };
  return weighted(__fadd_rn(column(left), column(right)), column(x)) * kScale;
}

// kPatch is the patch size, or 0 for any other.
template <int kPatch>
__global__ void prepare_kernel(FloatPlane guide, bool smooth, int any_patch, MatchingPlane out) {
  const int patch = kPatch != 0 ? kPatch : any_patch;
  __shared__ short samples[kPrepareRows + kMaxPatch - 1][kPrepareColumns + kMaxPatch];
  __shared__ int2 row_sums[kPrepareRows + kMaxPatch - 1][kPrepareColumns];  // of squares, of samples
  const int x0 = blockIdx.x * kPrepareColumns - MatchingPlane::kMargin;
  const int y0 = blockIdx.y * kPrepareRows - MatchingPlane::kMargin;
  const int columns = kPrepareColumns + patch - 1;
  const int rows = kPrepareRows + patch - 1;
  for (int row = threadIdx.y; row < rows; row += kPrepareThreadsY) {
    const int y = clamped(y0 + row, guide.height);
    for (int column = threadIdx.x; column < columns; column += kPrepareThreadsX) {
      const int x = clamped(x0 + column, guide.width);
      const float value =
          smooth ? smoothed(guide, x, y) : guide.data[static_cast<std::ptrdiff_t>(y) * guide.pitch + x];
      samples[row][column] = static_cast<short>(matching_value(out.scale, value));
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < rows; row += kPrepareThreadsY) {
    for (int column = threadIdx.x; column < kPrepareColumns; column += kPrepareThreadsX) {
      int squares = 0;
      int sum = 0;
#pragma unroll
      for (int c = 0; c < patch; ++c) {
        const int value = samples[row][column + c];
        squares += value * value;
        sum += value;
      }
      row_sums[row][column] = {squares, sum};
    }
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kPrepareRows; row += kPrepareThreadsY) {
    const int y = y0 + row;
    if (y + MatchingPlane::kMargin >= MatchingPlane::rows_of(out.height)) {
      return;
    }
    for (int column = threadIdx.x; column < kPrepareColumns; column += kPrepareThreadsX) {
      const int x = x0 + column;
      int squares = 0;
      int sum = 0;
#pragma unroll
      for (int r = 0; r < patch; ++r) {
        const int2 sums = row_sums[row + r][column];
        squares += sums.x;
        sum += sums.y;
      }
      const bool inside = x >= 0 && y >= 0 && x <= out.width - patch && y <= out.height - patch;
      const std::ptrdiff_t i =
          static_cast<std::ptrdiff_t>(y + MatchingPlane::kMargin) * out.pitch + x + MatchingPlane::kMargin;
      out.squares[i] = inside ? squares : MatchingPlane::kNoPatch;
      const int value = samples[row][column];
      if (out.scale.bytes) {
        reinterpret_cast<std::uint8_t*>(out.samples)[i] = static_cast<std::uint8_t>(value);
      } else {
        reinterpret_cast<std::int16_t*>(out.samples)[i] = static_cast<std::int16_t>(value);
        out.sums[i] = sum;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------
// Any parameters: a warp per reference patch, a lane per candidate. Distances (here and below: deviations
// from the expected distance) go to shared memory; bisection
// finds the greatest that belongs to the group, and the group's candidates are ranked by (distance, place).
// Shared memory: an int per candidate and warp. Bound by arithmetic, about three instructions per sample of
// each candidate.

struct AnyArguments {
  MatchingPlane plane;
  ReferenceGrid grid;
  Groups groups;
  const unsigned* list;
  int radius;
  MatchingDistances distances;
  int wanted;
};

constexpr int kMaxGroup = 64;

template <typename Sample>
__device__ int patch_distance(const Sample* a, const Sample* b, int pitch, int patch) {
  int distance = 0;
  for (int row = 0; row < patch; ++row) {
#pragma unroll 8
    for (int column = 0; column < patch; ++column) {
      const int difference =
          static_cast<int>(a[row * pitch + column]) - static_cast<int>(b[row * pitch + column]);
      distance += difference * difference;
    }
  }
  return distance;
}

template <typename Sample>
__device__ void match_reference(const AnyArguments& arguments, int number, int* distances,
                                unsigned long long* closest) {
  const ReferenceGrid& grid = arguments.grid;
  const int lane = threadIdx.x % kWarp;
  const int rx = grid.x(number % grid.columns);
  const int ry = grid.y(arguments.groups.first_row + number / grid.columns);
  const int x0 = max(rx - arguments.radius, 0);
  const int y0 = max(ry - arguments.radius, 0);
  const int columns = min(rx + arguments.radius, grid.width - grid.patch) - x0 + 1;
  const int rows = min(ry + arguments.radius, grid.height - grid.patch) - y0 + 1;
  const int candidates = columns * rows;
  const Sample* samples = reinterpret_cast<const Sample*>(arguments.plane.samples) +
                          static_cast<std::ptrdiff_t>(MatchingPlane::kMargin) * arguments.plane.pitch +
                          MatchingPlane::kMargin;
  const int pitch = arguments.plane.pitch;
  const Sample* reference = samples + static_cast<std::ptrdiff_t>(ry) * pitch + rx;
  int least = INT_MAX;
  for (int i = lane; i < candidates; i += kWarp) {
    const int x = x0 + i % columns;
    const int y = y0 + i / columns;
    const bool self = x == rx && y == ry;
    const int distance =
        self ? INT_MAX
             : abs(patch_distance(reference, samples + static_cast<std::ptrdiff_t>(y) * pitch + x, pitch,
                                  grid.patch) -
                   arguments.distances.expected);
    distances[i] = distance;
    least = min(least, distance);
  }
  for (int i = kWarp / 2; i > 0; i /= 2) {
    least = min(least, __shfl_xor_sync(kAll, least, i));
  }
  __syncwarp();

  // The group has `wanted` others: those nearer than `bound`, and the first of those at it.
  const int wanted = arguments.wanted - 1;
  const auto count_within = [&](int bound) {
    int count = 0;
    for (int i = lane; i < candidates; i += kWarp) {
      count += distances[i] <= bound ? 1 : 0;
    }
    for (int i = kWarp / 2; i > 0; i /= 2) {
      count += __shfl_xor_sync(kAll, count, i);
    }
    return count;
  };
  int bound = arguments.distances.greatest;
  if (least < bound && count_within(bound) > wanted) {
    int low = least - 1;  // fewer than `wanted` within it, unless all of them are at `least`
    if (count_within(least) >= wanted) {
      bound = least;
    } else {
      while (bound - low > 1) {
        const int middle = low + (bound - low) / 2;
        (count_within(middle) >= wanted ? bound : low) = middle;
      }
    }
  }
  // Two passes in raster order, so that of equal distances the first ones are taken.
  int found = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0; base < candidates && found < wanted; base += kWarp) {
      const int i = base + lane;
      const int distance = i < candidates ? distances[i] : INT_MAX;
      const bool take = pass == 0 ? distance < bound : distance == bound;
      const unsigned takers = __ballot_sync(kAll, take);
      const int place = found + __popc(takers & ((1U << lane) - 1));
      if (take && place < wanted) {
        closest[place] = static_cast<unsigned long long>(distance) << 32 | static_cast<unsigned>(i);
      }
      found = min(found + __popc(takers), wanted);
    }
  }
  __syncwarp();

  const int size = round_down_to_power_of_two(found + 1);
  std::int16_t* members =
      arguments.groups.members + static_cast<std::ptrdiff_t>(number) * arguments.groups.capacity;
  if (lane == 0) {
    members[0] = 0;
    arguments.groups.sizes[number] = static_cast<std::uint8_t>(size);
  }
  for (int i = lane; i < found; i += kWarp) {
    const unsigned long long own = closest[i];
    int rank = 1;
    for (int j = 0; j < found; ++j) {
      rank += closest[j] < own ? 1 : 0;
    }
    const int candidate = static_cast<int>(own & 0xFFFFFFFFU);
    if (rank < size) {
      members[rank] = pack_offset(x0 + candidate % columns - rx, y0 + candidate / columns - ry);
    }
  }
  __syncwarp();
}

template <typename Sample>
__global__ void match_any_kernel(AnyArguments arguments) {
  extern __shared__ int window_distances[];
  __shared__ unsigned long long closest[8][kMaxGroup];
  const int warp = threadIdx.x / kWarp;
  const int warps = blockDim.x / kWarp;
  const int side = 2 * arguments.radius + 1;
  int* distances = window_distances + warp * side * side;
  const unsigned count = arguments.list != nullptr
                             ? arguments.list[0]
                             : static_cast<unsigned>(arguments.grid.columns * (arguments.groups.last_row -
                                                                               arguments.groups.first_row));
  for (unsigned i = blockIdx.x * warps + warp; i < count; i += gridDim.x * warps) {
    const unsigned number = arguments.list != nullptr ? arguments.list[1 + i] : i;
    match_reference<Sample>(arguments, static_cast<int>(number), distances, closest[warp]);
  }
}

// ---------------------------------------------------------------------------------------------------------
// Tensor cores, for patches of 8x8. With a the reference patch and b a candidate, |a - b|^2 = |a|^2 + |b|^2 -
// 2ab, and the products ab of 16 references (4 x 4 of the grid) with 8 candidates at consecutive columns are
// one small matrix product: A holds the references' 64 samples in its rows, B the candidates' in its columns.
//
// A warp owns 4 x 4 references and walks the union of their search windows, 8 columns at a time, from top to
// bottom. Accumulators start at -|b|^2 / 2, so that what comes out, the score ab - |b|^2 / 2, lies off the
// centre
// (|a|^2 - expected) / 2 by half of what a candidate's distance deviates from the expected one, which it is
// ranked by. Two passes compute the same scores:
//   1. The least offset of each of 64 interleaved groups of candidates, per reference. At least N candidates
//   are
//      within the N-th least of these.
//   2. Candidates within that bound (about 18 for N = 16, 43 for N = 32) go to a pool of 96 per reference
//      in shared memory, and the pool is sorted. References whose pool overflows, where many distances are
//      equal, are left to match_any_kernel.
//
// Shared memory holds "expanded words": word [y][x] has samples x to x + 3 (bytes) or x and x + 1 (halves),
// so that a fragment of B is one word wherever it begins. The 64 products of a pair of patches may be added
// in any order; it is chosen so that a lane which walks down needs one new word per row (kLaneRow,
// kLaneColumn). With a pitch of 4 mod 8 words, the loads have no bank conflicts.
//
// 8 warps of 4 x 2 x (4 x 4) references, 93 KiB of shared memory at step 3 and windows of 39, at most 128
// registers: two blocks per multiprocessor. Bound by instruction issue: a matrix product, a load, and four
// maxima or comparisons per row of 8 candidates and lane.

constexpr int kPitch = 100;      // words from one row to the next
constexpr int kPool = 96;        // candidates per reference, a multiple of 32
constexpr int kReferences = 16;  // per warp
constexpr int kWarpsY = 2;
constexpr int kMaxWarpsX = 4;
constexpr int kMaxUnion = 64;  // rows and columns of a union of windows: places have 6 bits each

struct FastArguments {
  MatchingPlane plane;
  ReferenceGrid grid;
  Groups groups;
  unsigned* left_over;
  int radius;
  MatchingDistances distances;
  int warps_x;
  int union_rows;     // a multiple of 4
  int union_columns;  // a multiple of 8
  int sample_rows;    // of the region that a block loads
  int position_rows;
};

// 8-bit samples: exact in 32-bit integers.
struct Bytes {
  using Sample = std::uint8_t;
  using Score = int;
  static constexpr int kProducts = 2;           // matrix products per 64 samples
  static constexpr Score kFar = 1 << 28;        // a centre that no score comes near
  static constexpr Score kReachable = 1 << 26;  // more than the offset of any patch of the plane
  static constexpr Score kSlack = 2;  // offsets are rounded, which may swap candidates that differ by less
  static constexpr int kSamplesPerWord = 4;
  static constexpr int kExtraColumns = 4;  // that the last candidates' words reach beyond the union
  static constexpr int kWindowWords = 7;   // that four consecutive rows of candidates need

  // A lane's four words of a patch: rows lane_row + 0 .. 3 at lane_column.
  __device__ static int lane_row(int t) { return 4 * (t >> 1); }
  __device__ static int lane_column(int t) { return 4 * (t & 1); }

  __device__ static void multiply(Score (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
  }
  __device__ static Score centre(Score energy, int expected) { return (energy - expected) >> 1; }
  __device__ static Score offset(Score score, Score centre) {
    return static_cast<Score>(__sad(score, centre, 0U));
  }
  __device__ static int distance(Score energy, Score score, int odd) { return energy - 2 * score + odd; }
  __device__ static int ceiling(Score offset) { return offset; }
};

// 16-bit samples, less a number that is the same for a whole block, as half floats: |sample| <= 2047 is
// exact, and so are their products. Sums are floats, exact below 2^24: where the content of a region spans
// less than 256 code values, which float samples alone may exceed.
struct Halves {
  using Sample = std::int16_t;
  using Score = float;
  static constexpr int kProducts = 4;
  static constexpr Score kFar = 1e15F;
  static constexpr Score kReachable = 1e11F;
  static constexpr Score kNoPatch = -1e13F;
  static constexpr Score kSlack = 1;
  static constexpr int kSamplesPerWord = 2;
  static constexpr int kExtraColumns = 6;
  static constexpr int kWindowWords = 11;

  __device__ static int lane_row(int /*t*/) { return 0; }
  __device__ static int lane_column(int t) { return 2 * t; }

  __device__ static void multiply(Score (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
  }
  __device__ static Score centre(Score energy, int expected) {
    return (energy - static_cast<float>(expected)) * 0.5F;
  }
  __device__ static Score offset(Score score, Score centre) { return fabsf(score - centre); }
  __device__ static int distance(Score energy, Score score, int /*odd*/) {
    return __float2int_rn(energy - 2.0F * score);
  }
  __device__ static int ceiling(Score offset) { return __float2int_ru(offset); }
};

// A half float of an integer of at most 11 bits and a sign, in the low bits.
__device__ unsigned half_bits(int value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(static_cast<float>(value)));
  return bits;
}

template <class Matrix>
struct SharedRegion {
  unsigned* words;                   // [sample_rows][kPitch]
  typename Matrix::Score* energies;  // [position_rows][kPitch]: -|b|^2 / 2, rounded up to an integer
  std::uint8_t* odd;                 // [position_rows][kPitch]: what the rounding lost; bytes only
  unsigned* pools;                   // [warps][kReferences][kPool]
  unsigned* counts;                  // [warps][kReferences]

  __device__ SharedRegion(unsigned* memory, const FastArguments& arguments) {
    words = memory;
    energies = reinterpret_cast<typename Matrix::Score*>(words + arguments.sample_rows * kPitch);
    pools = reinterpret_cast<unsigned*>(energies + arguments.position_rows * kPitch);
    const int warps = arguments.warps_x * kWarpsY;
    counts = pools + warps * kReferences * kPool;
    odd = reinterpret_cast<std::uint8_t*>(counts + warps * kReferences);
  }
};

// Calls load(column, row) for all of a region, a warp taking a row at a time, several loads being under way.
template <class Load>
__device__ __forceinline__ void for_region(int columns, int rows, const Load& load) {
  const int lane = threadIdx.x % kWarp;
  const int warps = blockDim.x / kWarp;
#pragma unroll 2
  for (int y = threadIdx.x / kWarp; y < rows; y += warps) {
#pragma unroll
    for (int x = 0; x < kPitch; x += kWarp) {
      if (x + lane < columns) {
        load(x + lane, y);
      }
    }
  }
}

// Loads the region whose first sample is (x0, y0) of the margined plane.
__device__ void load_region(const FastArguments& arguments, const SharedRegion<Bytes>& region, int x0, int y0,
                            int columns) {
  const int pitch = arguments.plane.pitch;
  const int* squares = arguments.plane.squares + static_cast<std::ptrdiff_t>(y0) * pitch + x0;
  for_region(columns, arguments.position_rows, [&](int x, int y) {
    const int value = squares[y * pitch + x];
    region.energies[y * kPitch + x] = -(value >> 1);
    region.odd[y * kPitch + x] = static_cast<std::uint8_t>(value & 1);
  });
  const unsigned shift = (x0 & 3) * 8;
  const auto* samples = reinterpret_cast<const unsigned*>(
      arguments.plane.samples + static_cast<std::ptrdiff_t>(y0) * pitch + (x0 & ~3));
  const int quads = (columns + 3) / 4;
#pragma unroll 2
  for (int y = threadIdx.x / kWarp; y < arguments.sample_rows; y += blockDim.x / kWarp) {
    const int x = threadIdx.x % kWarp;
    if (x < quads) {
      const unsigned* in = samples + y * (pitch / 4) + x;
      const unsigned first = __funnelshift_r(in[0], in[1], shift);
      const unsigned second = __funnelshift_r(in[1], in[2], shift);
      *reinterpret_cast<uint4*>(region.words + y * kPitch + 4 * x) =
          make_uint4(first, __funnelshift_r(first, second, 8), __funnelshift_r(first, second, 16),
                     __funnelshift_r(first, second, 24));
    }
  }
}

__device__ void load_region(const FastArguments& arguments, const SharedRegion<Halves>& region, int x0,
                            int y0, int columns) {
  __shared__ int least;
  __shared__ int greatest;
  const int pitch = arguments.plane.pitch;
  const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(y0) * pitch + x0;
  const auto* samples = reinterpret_cast<const std::int16_t*>(arguments.plane.samples) + first;
  if (threadIdx.x == 0) {
    least = INT_MAX;
    greatest = INT_MIN;
  }
  __syncthreads();
  int own_least = INT_MAX;
  int own_greatest = INT_MIN;
  for_region(columns, arguments.sample_rows, [&](int x, int y) {
    const int value = samples[y * pitch + x];
    own_least = min(own_least, min(value, static_cast<int>(samples[y * pitch + x + 1])));
    own_greatest = max(own_greatest, max(value, static_cast<int>(samples[y * pitch + x + 1])));
  });
  atomicMin(&least, own_least);
  atomicMax(&greatest, own_greatest);
  __syncthreads();
  const int middle = (least + greatest) / 2;
  for_region(columns, arguments.sample_rows, [&](int x, int y) {
    const std::int16_t* in = samples + y * pitch + x;
    region.words[y * kPitch + x] = half_bits(in[0] - middle) | half_bits(in[1] - middle) << 16;
  });
  const int* squares = arguments.plane.squares + first;
  const int* sums = arguments.plane.sums + first;
  for_region(columns, arguments.position_rows, [&](int x, int y) {
    const int value = squares[y * pitch + x];
    const int centred = value - 2 * middle * sums[y * pitch + x] + 64 * middle * middle;
    region.energies[y * kPitch + x] =
        value == MatchingPlane::kNoPatch ? Halves::kNoPatch : -0.5F * static_cast<float>(centred);
  });
}

// Sorts 32 keys, one to a lane.
template <bool kAscending>
__device__ unsigned sort_lanes(unsigned key, int lane) {
#pragma unroll
  for (int size = 2; size <= kWarp; size *= 2) {
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const unsigned other = __shfl_xor_sync(kAll, key, stride);
      const bool lower = (lane & stride) == 0;
      const bool up = ((lane & size) == 0 || size == kWarp) == kAscending;
      key = lower == up ? min(key, other) : max(key, other);
    }
  }
  return key;
}

// The 32 least of an ascending and a descending sequence, ascending.
__device__ unsigned merge_lanes(unsigned ascending, unsigned descending, int lane) {
  unsigned key = min(ascending, descending);
#pragma unroll
  for (int stride = kWarp / 2; stride > 0; stride /= 2) {
    const unsigned other = __shfl_xor_sync(kAll, key, stride);
    key = (lane & stride) == 0 ? min(key, other) : max(key, other);
  }
  return key;
}

template <class Matrix>
__global__ void __launch_bounds__(kWarp* kMaxWarpsX* kWarpsY, 2) match_fast_kernel(FastArguments arguments) {
  using Score = typename Matrix::Score;
  extern __shared__ uint4 shared_memory[];
  const SharedRegion<Matrix> region(reinterpret_cast<unsigned*>(shared_memory), arguments);
  const ReferenceGrid& grid = arguments.grid;
  const int radius = arguments.radius;
  const int lane = threadIdx.x % kWarp;
  const int warp = __shfl_sync(kAll, static_cast<int>(threadIdx.x) / kWarp, 0);
  const int block_column = blockIdx.x * arguments.warps_x * 4;
  const int block_row = arguments.groups.first_row + blockIdx.y * kWarpsY * 4;
  const int block_x = grid.x(block_column);
  const int block_y = grid.y(block_row);
  load_region(arguments, region, block_x - radius + MatchingPlane::kMargin,
              block_y - radius + MatchingPlane::kMargin,
              (arguments.warps_x - 1) * 4 * grid.step + arguments.union_columns + Matrix::kExtraColumns);
  unsigned* pool = region.pools + warp * kReferences * kPool;
  unsigned* counts = region.counts + warp * kReferences;
  if (lane < kReferences) {
    counts[lane] = 1;  // the reference itself, whose key is 0
    pool[lane * kPool] = 0;
  }
  __syncthreads();
  const int first_column = block_column + warp % arguments.warps_x * 4;
  const int first_row = block_row + warp / arguments.warps_x * 4;
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
  const Score* energies = region.energies + union_y * kPitch + union_x;
  const std::uint8_t* odd = region.odd + union_y * kPitch + union_x;
  const int ox = offset_in_union_x(g % 4);
  const int oy[2] = {offset_in_union_y(g / 4), offset_in_union_y(g / 4 + 2)};
  unsigned a[Matrix::kProducts][4];
#pragma unroll
  for (int i = 0; i < Matrix::kProducts; ++i) {
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int row = Matrix::lane_row(t) + 2 * i + part / 2;
      a[i][part] = words[(radius + oy[part % 2] + row) * kPitch + radius + ox + Matrix::lane_column(t)];
    }
  }
  Score energy[2];  // |a|^2
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int at = (radius + oy[h]) * kPitch + radius + ox;
    energy[h] = -2 * energies[at];
    if constexpr (Matrix::kSamplesPerWord == 4) {
      energy[h] += odd[at];
    }
  }
  const unsigned* lane_words = words + Matrix::lane_row(t) * kPitch + g + Matrix::lane_column(t);
  struct alignas(2 * sizeof(Score)) Pair {
    Score first;
    Score second;
  };
  const Score* lane_energies = energies + 2 * t;
  const int diameter = 2 * radius;
  // Rows of the union in which every reference has candidates.
  const int first_common = 3 * grid.step;

  // Scores of columns 8 j to 8 j + 7, four rows at a time: visit(row, i, all_valid, scores), i = row % 16 if
  // kUnrolled. Of the scores, 0 and 1 are the first reference's with the candidates in columns 2 t and 2 t +
  // 1, 2 and 3 the second's. Code size matters: the warps of a multiprocessor are at different places of it.
  const auto sweep = [&]<bool kUnrolled>(int j, auto&& visit) {
    const unsigned* next_words = lane_words + 8 * j;
    const Score* next_energies = lane_energies + 8 * j;
    const auto pair = [&](int row) { return *reinterpret_cast<const Pair*>(next_energies + row * kPitch); };
    unsigned window[Matrix::kWindowWords];
    constexpr int kKept = Matrix::kWindowWords - 4;
    Pair next[4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      next[s] = pair(s);
    }
#pragma unroll
    for (int i = 0; i < Matrix::kWindowWords; ++i) {
      window[i] = next_words[i * kPitch];
    }
    const auto four_rows = [&](int y, int quad) {
      Score scores[4][4];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        scores[s][0] = scores[s][2] = next[s].first;
        scores[s][1] = scores[s][3] = next[s].second;
      }
#pragma unroll
      for (int i = 0; i < Matrix::kProducts; ++i) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          Matrix::multiply(scores[s], a[i], window[s + 2 * i], window[s + 2 * i + 1]);
        }
      }
#pragma unroll
      for (int i = 0; i < kKept; ++i) {
        window[i] = window[i + 4];
      }
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        window[kKept + s] = next_words[(s + Matrix::kWindowWords) * kPitch];
        next[s] = pair(s + 4);
      }
      next_words += 4 * kPitch;
      next_energies += 4 * kPitch;
      if (kUnrolled && y >= first_common && y + 3 <= diameter) {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          visit(y + s, 4 * quad + s, true, scores[s]);
        }
      } else {
#pragma unroll
        for (int s = 0; s < 4; ++s) {
          visit(y + s, 4 * quad + s, false, scores[s]);
        }
      }
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
  const auto row_is_valid = [&](int row, int h) { return static_cast<unsigned>(row - oy[h]) <= diameter; };
  const auto column_is_valid = [&](int column) { return static_cast<unsigned>(column - ox) <= diameter; };

  // Where a reference has no candidates in a column, its centre there is far from all scores.
  Score centre[2];
  const auto centres_at = [&](int j, Score(&centres)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      centres[i] = column_is_valid(8 * j + 2 * t + i % 2) ? centre[i / 2] : Matrix::kFar;
    }
  };

  // Pass 1. Rows 16 apart and columns 16 apart share a least offset; those of the other columns rotate.
  Score least[2][16];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    centre[h] = Matrix::centre(energy[h], arguments.distances.expected);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      least[h][i] = Matrix::kFar;
    }
  }
  const int sweeps = arguments.union_columns / 8;
#pragma unroll 1
  for (int j = 0; j < sweeps; ++j) {
    Score centres[4];
    centres_at(j, centres);
    sweep.template operator()<true>(j, [&](int row, int i, bool all_valid, const Score(&scores)[4]) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (all_valid || row_is_valid(row, h)) {
          Score& even = least[h][i];
          Score& odd_column = least[h][(i + 8) % 16];
          even = min(even, Matrix::offset(scores[2 * h], centres[2 * h]));
          odd_column = min(odd_column, Matrix::offset(scores[2 * h + 1], centres[2 * h + 1]));
        }
      }
    });
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Score first = least[h][i];
        least[h][i] = least[h][i + 4];
        least[h][i + 4] = least[h][i + 8];
        least[h][i + 8] = least[h][i + 12];
        least[h][i + 12] = first;
      }
    }
  }

  // A bound that at least N of the 64 least offsets are within, if there are N, close to the N-th by
  // bisection; the four lanes with the same g share a reference. It is never greater than tau allows.
  const int wanted = arguments.groups.capacity;
  Score bound[2];
  int shift[2];  // of distances, so that they fit in the keys' 20 bits
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    Score low = Matrix::kFar;
    Score high = 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      low = min(low, least[h][i]);
      high = max(high, least[h][i] < Matrix::kReachable ? least[h][i] : 0);
    }
#pragma unroll
    for (int i = 1; i < 4; i *= 2) {
      low = min(low, __shfl_xor_sync(kAll, low, i));
      high = max(high, __shfl_xor_sync(kAll, high, i));
    }
    const auto within = [&](Score offset) {
      int count = 0;
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        count += least[h][i] <= offset ? 1 : 0;
      }
      count += __shfl_xor_sync(kAll, count, 1);
      return count + __shfl_xor_sync(kAll, count, 2);
    };
    const bool enough = within(high) >= wanted;
#pragma unroll 1
    for (int i = 0; i < 8; ++i) {
      const Score middle = low + (high - low) / 2;
      if (within(middle) >= wanted) {
        high = middle;
      } else {
        low = middle;
      }
    }
    bound[h] = static_cast<Score>(arguments.distances.greatest / 2) + Matrix::kSlack;
    if (enough) {
      bound[h] = min(bound[h], high + Matrix::kSlack);
    }
    shift[h] = max(0, 12 - __clz(2 * Matrix::ceiling(bound[h]) + 4));
    if (first_column + g % 4 >= grid.columns || first_row + g / 4 + 2 * h >= arguments.groups.last_row) {
      bound[h] = -1;
    }
  }

  // Pass 2.
  const int self[2] = {(radius + oy[0]) * kMaxUnion + radius + ox,
                       (radius + oy[1]) * kMaxUnion + radius + ox};
#pragma unroll 1
  for (int j = 0; j < sweeps; ++j) {
    const int column = 8 * j + 2 * t;
    Score centres[4];
    centres_at(j, centres);
    sweep.template operator()<false>(j, [&](int row, int /*i*/, bool /*all_valid*/, const Score(&scores)[4]) {
      bool pass[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        pass[i] = Matrix::offset(scores[i], centres[i]) <= bound[i / 2] && row_is_valid(row, i / 2);
      }
      if (pass[0] || pass[1] || pass[2] || pass[3]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int h = i / 2;
          const int place = row * kMaxUnion + column + i % 2;
          if (pass[i] && place != self[h]) {
            const int parity = Matrix::kSamplesPerWord == 4 ? odd[row * kPitch + column + i % 2] : 0;
            const int distance =
                abs(Matrix::distance(energy[h], scores[i], parity) - arguments.distances.expected);
            if (distance <= arguments.distances.greatest) {
              const unsigned slot = atomicAdd(&counts[g + 8 * h], 1U);
              const unsigned rank = min(static_cast<unsigned>(distance) >> shift[h], (1U << 20) - 2);
              if (slot < kPool) {
                pool[(g + 8 * h) * kPool + slot] = (rank << 12 | place) + 1;
              }
            }
          }
        }
      }
    });
  }
  __syncwarp();

#pragma unroll 1
  for (int r = 0; r < kReferences; ++r) {
    const int column = first_column + r % 4;
    const int row = first_row + r / 4;
    if (column >= grid.columns || row >= arguments.groups.last_row) {
      continue;
    }
    const int number = (row - arguments.groups.first_row) * grid.columns + column;
    const int found = static_cast<int>(counts[r]);
    if (found > kPool) {
      if (lane == 0) {
        arguments.left_over[1 + atomicAdd(arguments.left_over, 1U)] = number;
      }
      continue;
    }
    unsigned key = sort_lanes<true>(lane < found ? pool[r * kPool + lane] : kAll, lane);
#pragma unroll 1
    for (int i = kWarp; i < found; i += kWarp) {
      const unsigned more = lane + i < found ? pool[r * kPool + i + lane] : kAll;
      key = merge_lanes(key, sort_lanes<false>(more, lane), lane);
    }
    const int size = round_down_to_power_of_two(min(found, wanted));
    if (lane == 0) {
      arguments.groups.sizes[number] = static_cast<std::uint8_t>(size);
    }
    if (lane < size) {
      const int place = static_cast<int>(key - 1) & (kMaxUnion * kMaxUnion - 1);
      arguments.groups.members[static_cast<std::ptrdiff_t>(number) * wanted + lane] =
          key == 0 ? std::int16_t{0}
                   : pack_offset(place % kMaxUnion - radius - offset_in_union_x(r % 4),
                                 place / kMaxUnion - radius - offset_in_union_y(r / 4));
    }
  }
}

int union_size(const Bm3dStep& step) { return step.search_window + 3 * step.step; }

template <class Matrix>
void launch_fast(const FastArguments& arguments, cudaStream_t stream) {
  const int warps = arguments.warps_x * kWarpsY;
  const std::size_t words =
      static_cast<std::size_t>(arguments.sample_rows + arguments.position_rows) * kPitch +
      static_cast<std::size_t>(warps) * kReferences * (kPool + 1);
  const std::size_t bytes = words * 4 + (Matrix::kSamplesPerWord == 4 ? arguments.position_rows * kPitch : 0);
  allow_shared_memory(match_fast_kernel<Matrix>, bytes);
  const auto blocks = [](int count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  };
  const dim3 grid(blocks(arguments.grid.columns, arguments.warps_x * 4),
                  blocks(arguments.groups.last_row - arguments.groups.first_row, kWarpsY * 4));
  match_fast_kernel<Matrix><<<grid, warps * kWarp, bytes, stream>>>(arguments);
  check_launch();
}

template <typename Sample>
void launch_any(const AnyArguments& arguments, cudaStream_t stream) {
  const int side = 2 * arguments.radius + 1;
  const std::size_t bytes_per_warp = static_cast<std::size_t>(side) * side * sizeof(int);
  constexpr std::size_t kSharedBytes = 64 * 1024;
  const int warps = static_cast<int>(std::clamp<std::size_t>(kSharedBytes / bytes_per_warp, 1, 8));
  allow_shared_memory(match_any_kernel<Sample>, warps * bytes_per_warp);
  const int references = arguments.grid.columns * (arguments.groups.last_row - arguments.groups.first_row);
  constexpr int kBlocks = 528;  // four for each multiprocessor of a large GPU
  const int blocks = std::min((references + warps - 1) / warps, kBlocks);
  match_any_kernel<Sample><<<blocks, warps * kWarp, warps * bytes_per_warp, stream>>>(arguments);
  check_launch();
}

}  // namespace

void prepare_matching(const FloatPlane& guide, bool smooth, int patch, const MatchingPlane& out,
                      cudaStream_t stream) {
  const dim3 grid(
      static_cast<unsigned>(out.pitch) / kPrepareColumns,
      (static_cast<unsigned>(MatchingPlane::rows_of(out.height)) + kPrepareRows - 1) / kPrepareRows);
  const auto kernel = patch == 8 ? prepare_kernel<8> : prepare_kernel<0>;
  kernel<<<grid, dim3(kPrepareThreadsX, kPrepareThreadsY), 0, stream>>>(guide, smooth, patch, out);
  check_launch();
}

bool can_match_fast(const Bm3dStep& step, int compute_capability) {
  return step.patch_size == 8 && step.max_group_size < 64 && union_size(step) <= kMaxUnion &&
         compute_capability >= 80;
}

void match_fast(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                const MatchingDistances& distances, const Groups& groups, const LeftOver& left_over,
                cudaStream_t stream) {
  FastArguments arguments{};
  arguments.plane = plane;
  arguments.grid = grid;
  arguments.groups = groups;
  arguments.left_over = left_over.list;
  arguments.radius = step.search_window / 2;
  arguments.distances = distances;
  arguments.union_rows = (union_size(step) + 3) / 4 * 4;
  arguments.union_columns = (union_size(step) + 7) / 8 * 8;
  arguments.warps_x =
      std::min((kPitch - arguments.union_columns - Halves::kExtraColumns) / (4 * grid.step) + 1, kMaxWarpsX);
  const int further_warps = (kWarpsY - 1) * 4 * grid.step;
  arguments.sample_rows = further_warps + arguments.union_rows + 12;
  arguments.position_rows = further_warps + arguments.union_rows + 4;
  check(cudaMemsetAsync(left_over.list, 0, sizeof(unsigned), stream));
  plane.scale.bytes ? launch_fast<Bytes>(arguments, stream) : launch_fast<Halves>(arguments, stream);
}

void match_any(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
               const MatchingDistances& distances, const Groups& groups, const LeftOver& left_over,
               cudaStream_t stream) {
  const AnyArguments arguments{plane,     grid,           groups, left_over.list, step.search_window / 2,
                               distances, groups.capacity};
  plane.scale.bytes ? launch_any<std::uint8_t>(arguments, stream)
                    : launch_any<std::int16_t>(arguments, stream);
}

}  // namespace limpid::cuda
