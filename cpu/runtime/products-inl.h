// SPDX-License-Identifier: MIT
// Sums of products of 16-bit values. Compiled once for each SIMD target by Highway's foreach_target,
// hence the toggled include guard.
#if defined(LIMPID_CPU_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_PRODUCTS_INL_H_
#undef LIMPID_CPU_PRODUCTS_INL_H_
#else
#define LIMPID_CPU_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

/// acc[i] + a[2i] b[2i] + a[2i + 1] b[2i + 1], of lanes of 32 bits that hold two values of 16 bits each.
template <class Vector>
HWY_INLINE Vector add_products_of_pairs(Vector acc, Vector a, Vector b) {
  namespace hn = hwy::HWY_NAMESPACE;
  [[maybe_unused]] const hn::DFromV<Vector> d;
#if HWY_TARGET <= HWY_AVX3_DL
  // In assembly because Highway 1.0.3 checks for AVX512_VNNI when it selects this target but does not enable
  // it for the compiler.
  asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(a.raw), "v"(b.raw));
  return acc;
#elif HWY_ARCH_X86
  // Highway promises the sum of all lanes only, not which products are in which lane; PMADDWD adds pairs.
  const hn::RepartitionToNarrow<decltype(d)> d16;
  Vector unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, hn::BitCast(d16, a), hn::BitCast(d16, b), acc, unused);
#else
  const auto low = [](Vector pair) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(pair)); };
  const auto high = [](Vector pair) HWY_ATTR { return hn::ShiftRight<16>(pair); };
  return hn::Add(acc, hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b))));
#endif
}

/// A sum of products of vectors of 16-bit integers with `Tag`. Not initialized before clear().
template <class Tag>
class ProductSum {
 public:
  using Vector = hwy::HWY_NAMESPACE::Vec<Tag>;

  HWY_INLINE void clear() { sum_ = more_ = hwy::HWY_NAMESPACE::Zero(Wide()); }
  HWY_INLINE void add(Vector a, Vector b) {
#if HWY_ARCH_X86
    sum_ = add_products_of_pairs(sum_, hwy::HWY_NAMESPACE::BitCast(Wide(), a),
                                 hwy::HWY_NAMESPACE::BitCast(Wide(), b));
#else
    sum_ = hwy::HWY_NAMESPACE::ReorderWidenMulAccumulate(Wide(), a, b, sum_, more_);
#endif
  }
  /// Lanes whose sum is the sum of the products.
  HWY_INLINE auto lanes() const { return hwy::HWY_NAMESPACE::Add(sum_, more_); }
  HWY_INLINE std::int32_t get() const {
    namespace hn = hwy::HWY_NAMESPACE;
    return hn::GetLane(hn::SumOfLanes(Wide(), lanes()));
  }

 private:
  using Wide = hwy::HWY_NAMESPACE::RepartitionToWide<Tag>;
  hwy::HWY_NAMESPACE::Vec<Wide> sum_;
  hwy::HWY_NAMESPACE::Vec<Wide> more_;  // stays 0 on x86
};

/// The sums of the lanes of four vectors.
template <class Vector>
HWY_INLINE auto sums_of_lanes(Vector a, Vector b, Vector c, Vector e) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::DFromV<Vector> d;
  const hn::RepartitionToWide<decltype(d)> d64;
  const auto halved = [&](Vector x, Vector y) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y));
  };
  const auto ab = hn::BitCast(d64, halved(a, b));
  const auto ce = hn::BitCast(d64, halved(c, e));
  const auto sums = hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, ab, ce)),
                            hn::BitCast(d, hn::InterleaveUpper(d64, ab, ce)));
  const auto folded = [](auto x, const auto& fold) HWY_ATTR {
    const hn::DFromV<decltype(x)> tag;
    if constexpr (hn::MaxLanes(tag) == 4) {
      return x;
    } else {
      const hn::Half<decltype(tag)> half;
      return fold(hn::Add(hn::LowerHalf(half, x), hn::UpperHalf(half, x)), fold);
    }
  };
  return folded(sums, folded);
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
