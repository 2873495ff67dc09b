// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

// Warp-wide operations.

namespace limpid::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

/// combine() over the values of all lanes; must not depend on their order.
template <typename Value, typename Combine>
__device__ __forceinline__ Value combine_warp(Value value, const Combine& combine) {
  for (int i = kWarp / 2; i > 0; i /= 2) {
    value = combine(value, __shfl_xor_sync(kAllLanes, value, i));
  }
  return value;
}

/// The sum of all lanes' integers.
template <typename Integer>
__device__ __forceinline__ Integer sum_over_warp(Integer value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(kAllLanes, value);
#else
  return combine_warp(value, [](Integer a, Integer b) { return a + b; });
#endif
}

__device__ __forceinline__ int greatest_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(kAllLanes, value);
#else
  return combine_warp(value, [](int a, int b) { return max(a, b); });
#endif
}

/// The minimum of all lanes' values, which must be non-negative: their bits then have the order of their
/// values.
__device__ __forceinline__ float least_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_min_sync(kAllLanes, __float_as_uint(value)));
#else
  return combine_warp(value, [](float a, float b) { return fminf(a, b); });
#endif
}

__device__ __forceinline__ float greatest_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_max_sync(kAllLanes, __float_as_uint(value)));
#else
  return combine_warp(value, [](float a, float b) { return fmaxf(a, b); });
#endif
}

}  // namespace limpid::cuda
