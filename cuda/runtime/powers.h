// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_fp16.h>

// Powers of two by the special function unit, and pairs of halves as words.

namespace limpid::cuda {

__device__ inline unsigned bits_of(__half2 pair) { return *reinterpret_cast<const unsigned*>(&pair); }
__device__ inline __half2 pair_of(unsigned bits) { return *reinterpret_cast<const __half2*>(&bits); }

__device__ inline float power_of_two(float exponent) {
  float power = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

__device__ inline __half2 power_of_two(__half2 exponents) {
  unsigned powers = 0;
#if __CUDA_ARCH__ >= 750
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(powers) : "r"(bits_of(exponents)));
#endif
  return pair_of(powers);
}

}  // namespace limpid::cuda
