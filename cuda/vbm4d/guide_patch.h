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

}  // namespace limpid::cuda
