// SPDX-License-Identifier: MIT
// Compiled once for each SIMD target by Highway's foreach_target, hence the toggled include guard.
#if defined(LIMPID_CPU_EXP2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_EXP2_INL_H_
#undef LIMPID_CPU_EXP2_INL_H_
#else
#define LIMPID_CPU_EXP2_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "cpu/edge_preserving/edge_preserving_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using IntTag = hn::ScalableTag<std::int32_t>;
using IntVector = hn::Vec<IntTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));

// 2^x for x <= 0, given x + kExp2Shift; the addition is free if x results from a sum. The relative error is
// under 2^-10.5. Below 2^-126 the result is 0 with DenormalsAreZero, below 2^-127 always.
//
// kExp2Shift is 2^9, so that a float's mantissa ends 14 bits after the binary point, plus 127, the bias of
// the exponent. Shifted up by 9, the remaining bits of the sum are the exponent and mantissa of 2^n (1 + f),
// n and f being the integer and fractional parts of x: linear interpolation between powers of two. A cubic
// polynomial in 1 + f with the least maximum relative error (Remez algorithm) turns it into 2^n 2^f.
//
// kBounded: the caller guarantees x >= -127.
template <bool kBounded = false>
HWY_INLINE FloatVector exp2_of_shifted(FloatVector shifted) {
  const FloatTag d;
  const IntTag di;
  if constexpr (!kBounded) {
    // 2^-127 and less becomes 0: all bits of 512 are shifted out.
    shifted = hn::Max(shifted, hn::Set(d, kExp2Shift - 127));
  }
  const IntVector bits = hn::ShiftLeft<9>(hn::BitCast(di, shifted));
  const FloatVector line = hn::BitCast(d, bits);
  const FloatVector mantissa = hn::BitCast(
      d, hn::OrAnd(hn::BitCast(di, hn::Set(d, 1.0F)), bits, hn::Set(di, (std::int32_t{1} << 23) - 1)));
  FloatVector factor = hn::MulAdd(mantissa, hn::Set(d, -0.106445699F), hn::Set(d, 0.707475827F));
  factor = hn::MulAdd(mantissa, factor, hn::Set(d, -1.37730759F));
  factor = hn::MulAdd(mantissa, factor, hn::Set(d, 1.77561472F));
  return hn::Mul(line, factor);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
