#pragma once

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>

#include "cuda/bm3d/matching.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"

// What the kernels that match patches of 8x8 on tensor cores share (matching_fast.cu, matching_narrow.cu):
// products, energies, and how a warp ranks the candidates that it has found.

namespace limpid::cuda {

inline constexpr int kPatch = 8;

// What both kernels ask of a step and a device. A warp sorts the greatest group.
inline bool fits_products(const Bm3dStep& step, const DeviceLimits& device) {
  return step.patch_size == kPatch && step.max_group_size < 2 * kWarp && device.compute_capability >= 80;
}

inline constexpr float kFar = 1e15F;        // of a candidate outside of the reference's window
inline constexpr float kReachable = 1e11F;  // more than the offset of any patch of the plane
inline constexpr float kNoPatch = -1e13F;   // the energy where the plane has none

__device__ inline int round_down_to_power_of_two(int value) { return 1 << (31 - __clz(value)); }

// Two integers of at most 11 bits and a sign as half floats, the first in the low bits.
__device__ __forceinline__ unsigned half_pair(int low, int high) {
  unsigned pair = 0;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %1, %2;"
      : "=r"(pair)
      : "f"(static_cast<float>(high)), "f"(static_cast<float>(low)));
#endif
  return pair;
}

__device__ __forceinline__ int low_sample(unsigned word) { return static_cast<std::int16_t>(word & 0xFFFFU); }
__device__ __forceinline__ int high_sample(unsigned word) { return static_cast<int>(word) >> 16; }

// values[i] becomes the sum of values i to i + kRun - 1, for i < kRun.
template <int kRun>
__device__ __forceinline__ void slide(int (&values)[2 * kRun]) {
  int sum = 0;
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    sum += values[i];
  }
#pragma unroll
  for (int i = 0; i < kRun; ++i) {
    const int next = sum + values[i + kRun] - values[i];
    values[i] = sum;
    sum = next;
  }
}

// Writes the sums of squares of eight samples each that begin at the first eight of a row's `squares`.
__device__ __forceinline__ void store_sums(int (&squares)[16], int* out) {
  slide<8>(squares);
  *reinterpret_cast<int4*>(out) = make_int4(squares[0], squares[1], squares[2], squares[3]);
  *reinterpret_cast<int4*>(out + 4) = make_int4(squares[4], squares[5], squares[6], squares[7]);
}

// The middle of the values that a block's threads see, by its least and greatest in shared memory: first
// clear them, then tell each thread's own.
__device__ __forceinline__ void clear_range(int& least, int& greatest) {
  if (threadIdx.x == 0) {
    least = INT_MAX;
    greatest = INT_MIN;
  }
  __syncthreads();
}
__device__ __forceinline__ int middle_of_range(int& least, int& greatest, int own_least, int own_greatest) {
  atomicMin(&least, own_least);
  atomicMax(&greatest, own_greatest);
  __syncthreads();
  return (least + greatest) / 2;
}

// Sums of squares along rows of eight samples, kPitch to a row and kColumns of them in use, become energies,
// -|b|^2 / 2 of the patch b that begins there. The region begins at (x0, y0) of the margined plane.
// is_there(y, r): whether row y + r of sums may be read.
template <int kPitch, int kColumns, typename IsThere>
__device__ __forceinline__ void sums_to_energies(int* sums, int position_rows, const MatchingPlane& plane,
                                                 int x0, int y0, const IsThere& is_there) {
  constexpr int kRun = 8;
  auto* energies = reinterpret_cast<float*>(sums);
  const int x_of_plane = MatchingPlane::kMargin - x0;
  const int y_of_plane = MatchingPlane::kMargin - y0;
  const int segments = (position_rows + kRun - 1) / kRun;
  // From top to bottom: no thread overwrites what is still to be read.
  for (int base = 0; base < segments * kColumns; base += blockDim.x) {
    const int i = base + threadIdx.x;
    const int x = i % kColumns;
    const int y = i / kColumns * kRun;
    int column[2 * kRun] = {};
#pragma unroll
    for (int r = 0; r < 2 * kRun - 1; ++r) {
      if (is_there(y, r)) {
        column[r] = sums[(y + r) * kPitch + x];
      }
    }
    slide<kRun>(column);
    __syncthreads();
    const bool inside_x = static_cast<unsigned>(x - x_of_plane) <= plane.width - 8;
#pragma unroll
    for (int r = 0; r < kRun; ++r) {
      if (y + r < position_rows) {
        const bool inside = inside_x && static_cast<unsigned>(y + r - y_of_plane) <= plane.height - 8;
        energies[(y + r) * kPitch + x] = inside ? -0.5F * static_cast<float>(column[r]) : kNoPatch;
      }
    }
  }
}

// Candidates in the pool of a reference, as keys: a rank, then the place in what the warp searches, of at
// most kSide rows and columns, a power of two. Key 0 is the reference itself.
template <int kSide, typename KeyType = unsigned>
struct Candidates {
  using Key = KeyType;
  static constexpr int kPlaceBits = 2 * std::countr_zero(static_cast<unsigned>(kSide));
  static constexpr int kRankBits = std::min(32, 8 * static_cast<int>(sizeof(Key)) - kPlaceBits);
  static constexpr Key kNone = ~Key{0};

  __device__ static int place(int x, int y) { return y * kSide + x; }
  // How far the distances of offsets within `bound` are shifted so that they fit: not at all where sigma is
  // moderate.
  __device__ static int shift_for(float bound) {
    return max(0, 32 - kRankBits - __clz(__float2int_ru(2 * bound)));
  }
  __device__ static Key key(float offset, int shift, int place) {
    const auto distance = static_cast<unsigned>(__float2int_rn(2 * fabsf(offset)));
    const unsigned rank = kRankBits < 32 ? min(distance >> shift, (1U << kRankBits % 32) - 2) : distance;
    return (Key{rank} << kPlaceBits | static_cast<unsigned>(place)) + 1;
  }
  // limit_after(): only offsets below it can have a key that is not greater than `key`, which is not 0.
  // limit_at(): offsets below it may have such a key at any place.
  __device__ static float limit_after(Key key, int shift) {
    return limit_of((key - 1 >> kPlaceBits) + 1, shift);
  }
  __device__ static float limit_at(Key key, int shift) { return limit_of(key - 1 >> kPlaceBits, shift); }
  __device__ static int row(Key key) {
    return static_cast<int>(static_cast<unsigned>(key - 1) / kSide % kSide);
  }
  // The offset of a key's candidate from the reference.
  __device__ static std::int16_t offset(Key key, int own_place) {
    const int place = static_cast<int>(key - 1) & (kSide * kSide - 1);
    return pack_offset(place % kSide - own_place % kSide, place / kSide - own_place / kSide);
  }

 private:
  // Rounded up: an offset with too great a key may pass, but none with a key that is small enough is kept
  // out.
  __device__ static float limit_of(unsigned long long rank, int shift) {
    return 0.5F * __ull2float_ru(rank << shift);
  }
};

// The middle of two offsets that are not negative, by their bits: distances range over many powers of two.
__device__ __forceinline__ float geometric_middle(float low, float high) {
  return __uint_as_float((__float_as_uint(low) + __float_as_uint(high)) / 2);
}
// Offsets are multiples of a half, so that a smaller bound means 0.
inline constexpr float kLeastBound = 0.25F;

// An offset, or 0 in place of one that no patch of the plane has.
__device__ __forceinline__ float if_reachable(float offset) { return offset < kReachable ? offset : 0.0F; }

// Bounds of kReferences references, each of which at least N offsets are within, if there are N, close to the
// N-th of 64 least offsets by bisection. They are never greater than tau allows. A reference's least offsets
// are from low[h] to the greatest reachable one, high[h]; is_enough(bounds, enough) says for each reference
// whether N of them are within bounds[h].
template <int kBisections, int kReferences, typename IsEnough>
__device__ __forceinline__ void find_bounds(const MatchingDistances& distances, float (&low)[kReferences],
                                            float (&high)[kReferences], float (&bound)[kReferences],
                                            const IsEnough& is_enough) {
#pragma unroll
  for (int h = 0; h < kReferences; ++h) {
    low[h] = fmaxf(low[h], kLeastBound);
    high[h] = fmaxf(high[h], kLeastBound);
  }
  bool all_enough[kReferences];
  is_enough(high, all_enough);
#pragma unroll 1
  for (int i = 0; i < kBisections; ++i) {
    float middle[kReferences];
#pragma unroll
    for (int h = 0; h < kReferences; ++h) {
      middle[h] = geometric_middle(low[h], high[h]);
    }
    bool enough[kReferences];
    is_enough(middle, enough);
#pragma unroll
    for (int h = 0; h < kReferences; ++h) {
      high[h] = enough[h] ? middle[h] : high[h];
      low[h] = enough[h] ? low[h] : middle[h];
    }
  }
#pragma unroll
  for (int h = 0; h < kReferences; ++h) {
    const float greatest = 0.5F * static_cast<float>(distances.greatest);
    bound[h] = all_enough[h] ? fminf(greatest, high[h]) : greatest;
  }
}

// The next float, so that offsets below it are within the bound. None is below that of a negative bound.
__device__ __forceinline__ float just_above(float bound) {
  return bound < 0 ? bound : __uint_as_float(__float_as_uint(bound) + 1);
}

// Appends whether an offset is below a limit to the low end of `bits`: the sign of their difference.
__device__ __forceinline__ unsigned append_if_below(unsigned bits, float offset, float limit) {
  return __funnelshift_l(__float_as_uint(fabsf(offset) - limit), bits, 1);
}

// Sorts the keys of kCount lanes that follow each other, one to a lane.
template <bool kAscending, int kCount = kWarp, typename Key>
__device__ Key sort_lanes(Key key, int lane) {
#pragma unroll
  for (int size = 2; size <= kCount; size *= 2) {
#pragma unroll
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const Key other = __shfl_xor_sync(kAllLanes, key, stride);
      const bool lower = (lane & stride) == 0;
      const bool up = ((lane & size) == 0 || size == kCount) == kAscending;
      key = lower == up ? min(key, other) : max(key, other);
    }
  }
  return key;
}

// The 32 least of an ascending and a descending sequence, ascending.
template <typename Key>
__device__ Key merge_lanes(Key ascending, Key descending, int lane) {
  Key key = min(ascending, descending);
#pragma unroll
  for (int stride = kWarp / 2; stride > 0; stride /= 2) {
    const Key other = __shfl_xor_sync(kAllLanes, key, stride);
    key = (lane & stride) == 0 ? min(key, other) : max(key, other);
  }
  return key;
}

// Whether a block wants any group of the references [first_column, first_column + columns) of so many rows
// from first_row on.
__device__ __forceinline__ bool block_wants(const Groups& groups, const ReferenceGrid& grid, int first_column,
                                            int first_row, int columns, int rows) {
  if (!groups.selective) {
    return true;
  }
  bool wants = false;
  for (int i = threadIdx.x; i < columns * rows; i += blockDim.x) {
    const int column = first_column + i % columns;
    const int row = first_row + i / columns;
    if (column < grid.columns && row < groups.last_row) {
      wants = wants || groups.wants((row - groups.first_row) * grid.columns + column);
    }
  }
  return __syncthreads_or(wants ? 1 : 0) != 0;
}

// A warp writes the groups of `references` (at most 2) references side by side, the first of them `number`.
// Each has found[c] keys, key_at(c, 0), key_at(c, 1), ...; own_place(c) is its place.
template <typename Pool, typename KeyAt, typename OwnPlace>
__device__ __forceinline__ void write_groups(const Groups& groups, int number, int references,
                                             const int (&found)[2], const KeyAt& key_at,
                                             const OwnPlace& own_place, int lane) {
  using Key = typename Pool::Key;
  const int wanted = groups.capacity;
  // `key` is the i-th least of reference c. The first is that of the reference itself, 0.
  const auto store = [&](int c, int i, Key key, int own_found) {
    if (i < wanted) {
      groups.members[static_cast<std::ptrdiff_t>(number + c) * wanted + i] =
          i == 0 ? static_cast<std::int16_t>(round_down_to_power_of_two(min(own_found, wanted)))
                 : Pool::offset(key, own_place(c));
    }
  };
  // Both at once, each by half of the lanes, if they have no more candidates than these.
  const int half = lane / (kWarp / 2);
  const int own_found = half == 0 ? found[0] : found[1];
  if (wanted <= kWarp / 2 && __all_sync(kAllLanes, own_found <= kWarp / 2)) {
    const int own_lane = lane % (kWarp / 2);
    const Key own_key = own_lane < own_found ? key_at(half, own_lane) : Pool::kNone;
    const Key key = sort_lanes<true, kWarp / 2>(own_key, lane);
    if (half < references) {
      store(half, own_lane, key, own_found);
    }
    return;
  }
#pragma unroll 1
  for (int c = 0; c < references; ++c) {
    const int count = c == 0 ? found[0] : found[1];
    Key key = sort_lanes<true>(lane < count ? key_at(c, lane) : Pool::kNone, lane);
#pragma unroll 1
    for (int j = kWarp; j < count; j += kWarp) {
      const Key more = lane + j < count ? key_at(c, j + lane) : Pool::kNone;
      key = merge_lanes(key, sort_lanes<false>(more, lane), lane);
    }
    store(c, lane, key, count);
  }
}

}  // namespace limpid::cuda
