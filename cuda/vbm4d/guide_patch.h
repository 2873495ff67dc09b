#pragma once

#include <cstddef>
#include <cstdint>

#include "core/vbm4d/trajectories.h"

// Patches of guides (TrajectoryGuide) in kernels, four bytes at a time.

namespace limpid::cuda {

using limpid::vbm4d::kPatch;

inline constexpr int kWords = 2;  // in a row of a patch

struct Place {
  int x;
  int y;
};

struct PatchWords {
  int of_row[kPatch][kWords];
};

// Of a guide, somewhere in four bytes.
struct GuideRow {
  const unsigned* words;
  unsigned shift;  // in bits

  __device__ __forceinline__ explicit GuideRow(const std::int8_t* at)
      : words(reinterpret_cast<const unsigned*>(at - (reinterpret_cast<std::uintptr_t>(at) & 3U))),
        shift((reinterpret_cast<std::uintptr_t>(at) & 3U) * 8) {}

  // Four bytes from sample 4 i on.
  __device__ __forceinline__ unsigned four(int i) const {
    return __funnelshift_r(__ldg(words + i), __ldg(words + i + 1), shift);
  }
};

__device__ __forceinline__ const std::int8_t* sample_of(const std::int8_t* guide, int pitch,
                                                        const Place& place) {
  return guide + static_cast<std::ptrdiff_t>(place.y) * pitch + place.x;
}

__device__ __forceinline__ void load_patch(const std::int8_t* at, int pitch, PatchWords& patch) {
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      patch.of_row[r][i] = static_cast<int>(row.four(i));
    }
  }
}

__device__ __forceinline__ int squares(const PatchWords& patch) {
  int sum = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    sum = __dp4a(patch.of_row[r][1], patch.of_row[r][1], __dp4a(patch.of_row[r][0], patch.of_row[r][0], sum));
  }
  return sum;
}

// Of the patch at `at` from one with such squares().
__device__ __forceinline__ int distance_of(const PatchWords& patch, int its_squares, const std::int8_t* at,
                                           int pitch) {
  int products = 0;
  int others = 0;
#pragma unroll
  for (int r = 0; r < kPatch; ++r) {
    const GuideRow row(at + static_cast<std::ptrdiff_t>(r) * pitch);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int four = static_cast<int>(row.four(i));
      products = __dp4a(patch.of_row[r][i], four, products);
      others = __dp4a(four, four, others);
    }
  }
  return its_squares + others - 2 * products;
}

// Whether a patch repeats the other one, noise and all. One of a single value has no noise.
__device__ __forceinline__ bool repeats(const std::int8_t* at, const std::int8_t* other, int pitch) {
  unsigned unlike = 0;  // its first sample
  const unsigned all = (static_cast<unsigned>(*at) & 0xFFU) * 0x01010101U;
#pragma unroll 1
  for (int r = 0; r < kPatch; ++r, at += pitch, other += pitch) {
    const GuideRow row(at);
    const GuideRow its(other);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const unsigned four = row.four(i);
      if (four != its.four(i)) {
        return false;
      }
      unlike |= four ^ all;
    }
  }
  return unlike != 0;
}

}  // namespace limpid::cuda
