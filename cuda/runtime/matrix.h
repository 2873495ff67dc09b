// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_fp16.h>

#include "cuda/runtime/powers.h"

// Products of matrices of halves by a warp's tensor cores. Lane 4 g + t has, two halves per word: of the left
// operand A (16 rows, 8 or 16 columns), the elements (g, 2 t), (g, 2 t + 1), then those 8 rows below, then
// both 8 columns to the right; of the right operand B (8 columns), (2 t, g), (2 t + 1, g), then those 8 rows
// below; of the sums (16 x 8), (g, 2 t), (g, 2 t + 1), then those 8 rows below. Sums are floats, or halves in
// the same order.

namespace limpid::cuda {

/// Two values as pairs of halves, the first value in the low bits: `high` has the values rounded to halves,
/// `low` the rounding errors.
struct Operand {
  unsigned high;
  unsigned low;  ///< if exact
};

template <bool kExact>
__device__ __forceinline__ Operand split(float first, float second) {
  const __half2 halves = __floats2half2_rn(first, second);
  Operand result{bits_of(halves), 0};
  if constexpr (kExact) {
    const float2 rounded = __half22float2(halves);
    result.low = bits_of(__floats2half2_rn(first - rounded.x, second - rounded.y));
  }
  return result;
}

/// c += A B, A being 16 x 8.
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[2], unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

/// c += A B, A being 16 x 16.
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  multiply_add(c, {a[0], a[1]}, b0);
  multiply_add(c, {a[2], a[3]}, b1);
#endif
}

/// c = start + A B, A being 16 x 8.
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[2], unsigned b,
                                         const float (&start)[4]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%6},{%7,%8,%9,%10};"
      : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "f"(start[0]), "f"(start[1]), "f"(start[2]), "f"(start[3]));
}

/// c += A B, A being 16 x 8, in halves.
__device__ __forceinline__ void multiply_add(unsigned (&c)[2], const unsigned (&a)[2], unsigned b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%0,%1};"
      : "+r"(c[0]), "+r"(c[1])
      : "r"(a[0]), "r"(a[1]), "r"(b));
}

/// c = start + A B, A being 16 x 8, in halves; `start` is a pair for all of c.
__device__ __forceinline__ void multiply(unsigned (&c)[2], const unsigned (&a)[2], unsigned b,
                                         unsigned start) {
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3},{%4},{%5,%5};"
      : "=r"(c[0]), "=r"(c[1])
      : "r"(a[0]), "r"(a[1]), "r"(b), "r"(start));
}

/// c = A B, A being 16 x 16, in halves.
__device__ __forceinline__ void multiply(unsigned (&c)[2], const unsigned (&a)[4], unsigned b0, unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%4,%5},{%6,%7},{%8,%8};"
      : "=r"(c[0]), "=r"(c[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(0));
#else
  multiply(c, {a[0], a[1]}, b0, 0);
  multiply_add(c, {a[2], a[3]}, b1);
#endif
}

}  // namespace limpid::cuda
