// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/runtime/convert.h"

// Loading of 8-bit planes into tiles, and writing of runs of samples, in kernels.

namespace limpid::cuda {

/// A view of kRows rows of a plane of 8-bit samples, from `y` on. Rows may lie outside the plane.
template <int kRows>
class TileRows {
 public:
  __device__ TileRows(const SamplePlane& plane, int height, int y) {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      const int read = min(max(y + k, 0), height - 1);
      rows_[k] = reinterpret_cast<const std::uint8_t*>(plane.data + read * plane.stride);
      inside_[k] = read == y + k;
    }
  }
  /// Sample (x, y + k), or -1 outside the plane. Always reads memory, so that loads need not wait for
  /// branches.
  __device__ int at(int k, int x, int width) const {
    const int read = min(max(x, 0), width - 1);
    const int sample = rows_[k][read];
    return inside_[k] && read == x ? sample : -1;
  }

 private:
  const std::uint8_t* rows_[kRows];
  bool inside_[kRows];
};

/// Writes the first `count` of `values`, with one vector store if all are written and `out` is aligned.
template <typename Value, int kCount>
__device__ __forceinline__ void store_run(const Value (&values)[kCount], Value* out, int count) {
  constexpr int kBytes = static_cast<int>(kCount * sizeof(Value));
  if (count >= kCount && reinterpret_cast<std::uintptr_t>(out) % (kBytes < 16 ? kBytes : 16) == 0) {
    alignas(16) Value run[kCount];
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      run[i] = values[i];
    }
    if constexpr (kBytes >= 16) {
      constexpr int kWide = 16 / sizeof(Value);
#pragma unroll
      for (int i = 0; i < kCount; i += kWide) {
        reinterpret_cast<uint4*>(out)[i / kWide] = *reinterpret_cast<const uint4*>(run + i);
      }
    } else if constexpr (kBytes == 8) {
      *reinterpret_cast<uint2*>(out) = *reinterpret_cast<const uint2*>(run);
    } else if constexpr (kBytes == 4) {
      *reinterpret_cast<unsigned*>(out) = *reinterpret_cast<const unsigned*>(run);
    } else if constexpr (kBytes == 2) {
      *reinterpret_cast<std::uint16_t*>(out) = *reinterpret_cast<const std::uint16_t*>(run);
    } else {
      *out = run[0];
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (i < count) {
      out[i] = values[i];
    }
  }
}

}  // namespace limpid::cuda
