// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>

#include "cuda/bm3d/matching.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"

// Shared code of the kernels that match patches of 8x8 on tensor cores (matching_fast.cu,
// matching_narrow.cu): products, energies, and the ranking of a warp's candidates.

namespace limpid::cuda {

inline constexpr int kPatch = 8;

// Requirements of both kernels on a step and a device. A warp sorts the greatest group.
inline bool fits_products(const Bm3dStep& step, const DeviceLimits& device) {
  return step.patch_size == kPatch && step.max_group_size < 2 * kWarp && device.compute_capability >= 80;
}

inline constexpr float kFar = 1e15F;        // offset of a candidate outside the reference's window
inline constexpr float kReachable = 1e11F;  // above the offset of any patch of the plane
inline constexpr float kNoPatch = -1e13F;   // energy of positions without a patch in the plane

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

// Replaces values[i] by the sum of values i to i + kRun - 1, for i < kRun.
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

// Writes the sums of squares of eight samples each, which begin at the first eight of a row's `squares`.
__device__ __forceinline__ void store_sums(int (&squares)[16], int* out) {
  slide<8>(squares);
  *reinterpret_cast<int4*>(out) = make_int4(squares[0], squares[1], squares[2], squares[3]);
  *reinterpret_cast<int4*>(out + 4) = make_int4(squares[4], squares[5], squares[6], squares[7]);
}

// The middle of the values of a block's threads, from the least and greatest in shared memory: first clear
// these, then add each thread's own.
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

// Converts sums of squares along rows of eight samples (kPitch per row, kColumns in use) to energies -|b|^2 /
// 2 of the patch b that begins there. The region begins at (x0, y0) of the plane with margins. is_there(y,
// r): true if row y + r of sums may be read.
template <int kPitch, int kColumns, typename IsThere>
__device__ __forceinline__ void sums_to_energies(int* sums, int position_rows, const MatchingPlane& plane,
                                                 int x0, int y0, const IsThere& is_there) {
  constexpr int kRun = 8;
  auto* energies = reinterpret_cast<float*>(sums);
  const int x_of_plane = MatchingPlane::kMargin - x0;
  const int y_of_plane = MatchingPlane::kMargin - y0;
  const int segments = (position_rows + kRun - 1) / kRun;
  // From top to bottom, so that no thread overwrites values that are still needed.
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

// Candidates in the pool of a reference, as keys: a rank, followed by the position in the region that the
// warp searches, of at most kSide rows and columns, a power of two. Key 0 is the reference itself.
template <int kSide, typename KeyType = unsigned>
struct Candidates {
  using Key = KeyType;
  static constexpr int kPlaceBits = 2 * std::countr_zero(static_cast<unsigned>(kSide));
  static constexpr int kRankBits = std::min(32, 8 * static_cast<int>(sizeof(Key)) - kPlaceBits);
  static constexpr Key kNone = ~Key{0};

  __device__ static int place(int x, int y) { return y * kSide + x; }
  // The shift that makes the distances of offsets within `bound` fit; 0 for moderate sigma.
  __device__ static int shift_for(float bound) {
    return max(0, 32 - kRankBits - __clz(__float2int_ru(2 * bound)));
  }
  __device__ static Key key(float offset, int shift, int place) {
    const auto distance = static_cast<unsigned>(__float2int_rn(2 * fabsf(offset)));
    const unsigned rank = kRankBits < 32 ? min(distance >> shift, (1U << kRankBits % 32) - 2) : distance;
    return (Key{rank} << kPlaceBits | static_cast<unsigned>(place)) + 1;
  }
  // limit_after(): only offsets below it can have a key that is not greater than `key`, which is not 0.
  // limit_at(): offsets below it may have such a key at any position.
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
  // Rounded up: an offset with too great a key may pass, but none with a small enough key is rejected.
  __device__ static float limit_of(unsigned long long rank, int shift) {
    return 0.5F * __ull2float_ru(rank << shift);
  }
};

// The middle of two non-negative offsets, by their bits, since distances range over many powers of two.
__device__ __forceinline__ float geometric_middle(float low, float high) {
  return __uint_as_float((__float_as_uint(low) + __float_as_uint(high)) / 2);
}
// Offsets are multiples of a half, so a smaller bound means 0.
inline constexpr float kLeastBound = 0.25F;

// The offset, or 0 for one that no patch of the plane has.
__device__ __forceinline__ float if_reachable(float offset) { return offset < kReachable ? offset : 0.0F; }

// Bounds for kReferences references, each of which at least N offsets are within, if there are N, by
// bisection close to the N-th of 64 least offsets. They do not exceed the limit that follows from tau. A
// reference's least offsets are between low[h] and the greatest reachable one, high[h]. is_enough(bounds,
// enough) reports for each reference whether N of its offsets are within bounds[h].
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

// The next float: offsets below it are within the bound. No offset is below that of a negative bound.
__device__ __forceinline__ float just_above(float bound) {
  return bound < 0 ? bound : __uint_as_float(__float_as_uint(bound) + 1);
}

// Appends to the low end of `bits` whether an offset is below a limit: the sign of their difference.
__device__ __forceinline__ unsigned append_if_below(unsigned bits, float offset, float limit) {
  return __funnelshift_l(__float_as_uint(fabsf(offset) - limit), bits, 1);
}

// Sorts the keys of kCount adjacent lanes, one per lane.
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

// The 32 least keys of an ascending and a descending sequence, ascending.
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

// True if any group is needed of the references [first_column, first_column + columns) of the block's rows
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

// Writes the groups of `references` (at most 2) adjacent references, the first of which has `number`, by one
// warp. Each has found[c] keys, key_at(c, 0), key_at(c, 1), ...; own_place(c) is its position.
template <typename Pool, typename KeyAt, typename OwnPlace>
__device__ __forceinline__ void write_groups(const Groups& groups, int number, int references,
                                             const int (&found)[2], const KeyAt& key_at,
                                             const OwnPlace& own_place, int lane) {
  using Key = typename Pool::Key;
  const int wanted = groups.capacity;
  // `key` is the i-th least of reference c. The first is the reference's own, 0.
  const auto store = [&](int c, int i, Key key, int own_found) {
    if (i < wanted) {
      groups.members[static_cast<std::ptrdiff_t>(number + c) * wanted + i] =
          i == 0 ? static_cast<std::int16_t>(round_down_to_power_of_two(min(own_found, wanted)))
                 : Pool::offset(key, own_place(c));
    }
  };
  // Both at once, each by half of the lanes, if they have at most this many candidates.
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
