// SPDX-License-Identifier: MIT
// Fractions of motion vectors. Compiled once for each SIMD target.
#if defined(LIMPID_CPU_FRACTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_FRACTION_INL_H_
#undef LIMPID_CPU_FRACTION_INL_H_
#else
#define LIMPID_CPU_FRACTION_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cpu/recursive/recursive_kernels.h"
#include "cpu/runtime/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Samples of guides, and sums of their products.
using GuideTag = hn::CappedTag<std::int16_t, recursive::kWindow>;
using GuideValues = hn::Vec<GuideTag>;
using GuideProducts = ProductSum<GuideTag>;
constexpr int kGuideLanes = static_cast<int>(hn::MaxLanes(GuideTag()));

HWY_INLINE GuideValues load_guide(const std::uint8_t* samples) {
  const GuideTag d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, GuideTag>(), samples));
}

// A sum of 16 rows of absolute differences is under 2^13 in each lane.
HWY_INLINE std::int32_t sum_of_guides(GuideValues sums) {
  GuideProducts total;
  total.clear();
  total.add(sums, hn::Set(GuideTag(), std::int16_t{1}));
  return total.get();
}

// The sum of absolute differences along the vector, and the sums from which the fraction follows.
HWY_INLINE recursive::GradientSums gradient_sums(const GuideWindows& windows, std::int32_t* difference) {
  const GuideTag d;
  GuideProducts xx;
  GuideProducts xy;
  GuideProducts yy;
  GuideProducts xt;
  GuideProducts yt;
  for (GuideProducts* const each : {&xx, &xy, &yy, &xt, &yt}) {
    each->clear();
  }
  GuideValues differences = hn::Zero(d);
  for (int row = 0; row < recursive::kWindow; ++row) {
    for (int i = 0; i < recursive::kWindow; i += kGuideLanes) {
      const std::uint8_t* reference = windows.reference + row * windows.stride + i;
      const auto x = hn::Sub(load_guide(reference + 1), load_guide(reference - 1));
      const auto y = hn::Sub(load_guide(reference + windows.stride), load_guide(reference - windows.stride));
      const auto t = hn::Sub(load_guide(windows.current + row * windows.stride + i), load_guide(reference));
      xx.add(x, x);
      xy.add(x, y);
      yy.add(y, y);
      xt.add(x, t);
      yt.add(y, t);
      differences = hn::Add(differences, hn::Abs(t));
    }
  }
  *difference = sum_of_guides(differences);
  return {xx.get(), xy.get(), yy.get(), xt.get(), yt.get()};
}

// The sum of absolute differences from the guide that is interpolated at the fraction.
HWY_INLINE std::int32_t difference_at(const GuideWindows& windows, const recursive::EighthVector& fraction) {
  const GuideTag d;
  constexpr int kSide = recursive::kEighths;
  const int x = fraction.x & (kSide - 1);
  const int y = fraction.y & (kSide - 1);
  const auto weight = [&](int value) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(value)); };
  const auto first = weight((kSide - x) * (kSide - y));
  const auto right = weight(x * (kSide - y));
  const auto below = weight((kSide - x) * y);
  const auto diagonal = weight(x * y);
  const std::uint8_t* from = windows.reference + (fraction.y >> 3) * windows.stride + (fraction.x >> 3);
  GuideValues differences = hn::Zero(d);
  for (int row = 0; row < recursive::kWindow; ++row) {
    for (int i = 0; i < recursive::kWindow; i += kGuideLanes) {
      const std::uint8_t* samples = from + row * windows.stride + i;
      const auto upper =
          hn::Add(hn::Mul(load_guide(samples), first), hn::Mul(load_guide(samples + 1), right));
      const auto lower = hn::Add(hn::Mul(load_guide(samples + windows.stride), below),
                                 hn::Mul(load_guide(samples + windows.stride + 1), diagonal));
      const auto value = hn::ShiftRight<6>(hn::Add(hn::Add(upper, lower), weight(32)));
      const auto current = load_guide(windows.current + row * windows.stride + i);
      differences = hn::Add(differences, hn::Abs(hn::Sub(current, value)));
    }
  }
  return sum_of_guides(differences);
}

HWY_ATTR inline recursive::EighthVector fraction_in_windows(const GuideWindows& windows, int least_gain) {
  std::int32_t whole = 0;
  const recursive::EighthVector fraction = recursive::fraction_of(gradient_sums(windows, &whole));
  if (fraction == recursive::EighthVector{} || difference_at(windows, fraction) >= whole - least_gain) {
    return {};
  }
  return fraction;
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
