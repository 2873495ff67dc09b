// Compiled once for each SIMD target by Highway's foreach_target, hence the toggled include guard.
#if defined(LIMPID_CORE_CPU_EXP2_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CORE_CPU_EXP2_INL_H_
#undef LIMPID_CORE_CPU_EXP2_INL_H_
#else
#define LIMPID_CORE_CPU_EXP2_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using IntTag = hn::ScalableTag<std::int32_t>;
using IntVector = hn::Vec<IntTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));

// 2^x for x <= 0, with a relative error under 2^-13; 2^-125 for any x under -125.
//
// x is split into the nearest integer n and the rest f, which is at most 1/2 in magnitude. 2^f is the cubic
// polynomial of the least greatest relative error there, 7.5e-5 (by the Remez algorithm); n is added to its
// exponent bits, which are 126 or 127.
HWY_INLINE FloatVector exp2_of_nonpositive(FloatVector x) {
  const FloatTag d;
  const IntTag di;
  // Adding 1.5 * 2^23 leaves n in the low bits.
  const FloatVector shift = hn::Set(d, 12582912.0F);
  x = hn::Max(x, hn::Set(d, -125.0F));
  const FloatVector shifted = hn::Add(x, shift);
  const FloatVector f = hn::Sub(x, hn::Sub(shifted, shift));
  FloatVector power = hn::MulAdd(f, hn::Set(d, 0.0551716691F), hn::Set(d, 0.2426111222F));
  power = hn::MulAdd(f, power, hn::Set(d, 0.6932609855F));
  power = hn::MulAdd(f, power, hn::Set(d, 0.9999280735F));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, power), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
