// SPDX-License-Identifier: MIT
#include "io/screen/light_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/screen/light_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace limpid::io {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// ITU-R BT.2020's primaries in BT.709's, and its luminance.
constexpr float kToBt709[3][3]{{1.660491F, -0.587641F, -0.072850F},
                               {-0.124550F, 1.132900F, -0.008349F},
                               {-0.018151F, -0.100579F, 1.118730F}};
constexpr float kLuminance[3]{0.2627F, 0.6780F, 0.0593F};

// So written, what is no number is the least: it must not become an index.
template <typename D, typename V>
HWY_ATTR V clamped(D d, V x, float least) {
  const V low = hn::Set(d, least);
  const V above = hn::IfThenElse(hn::Gt(x, low), x, low);
  const V one = hn::Set(d, 1.0F);
  return hn::IfThenElse(hn::Lt(above, one), above, one);
}

template <typename D, typename V>
HWY_ATTR V find(D d, const float* table, V x) {
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(di, clamped(d, x, LogIndex::kLeast));
  return hn::GatherIndex(d, table,
                         hn::ShiftRight<LogIndex::kShift>(hn::Sub(bits, hn::Set(di, LogIndex::kFirst))));
}

template <typename D, typename V>
HWY_ATTR V light_of(D d, const float* light, V code) {
  const hn::RebindToSigned<D> di;
  const V position = hn::Mul(clamped(d, code, 0.0F), hn::Set(d, float{LightTables::kCodes}));
  const auto below = hn::ConvertTo(di, position);
  const V first = hn::GatherIndex(d, light, below);
  const V second = hn::GatherIndex(d, light + 1, below);
  return hn::Add(first, hn::Mul(hn::Sub(position, hn::ConvertTo(d, below)), hn::Sub(second, first)));
}

template <typename D, typename V>
HWY_ATTR V weigh(D d, const float* weights, V r, V g, V b) {
  return hn::Add(hn::Add(hn::Mul(hn::Set(d, weights[0]), r), hn::Mul(hn::Set(d, weights[1]), g)),
                 hn::Mul(hn::Set(d, weights[2]), b));
}

template <typename D>
HWY_ATTR void map_some(D d, const LightTables& tables, float* red, float* green, float* blue) {
  auto r = light_of(d, tables.light, hn::LoadU(d, red));
  auto g = light_of(d, tables.light, hn::LoadU(d, green));
  auto b = light_of(d, tables.light, hn::LoadU(d, blue));
  if (tables.hlg_gain != nullptr) {
    const auto gain = find(d, tables.hlg_gain, weigh(d, kLuminance, r, g, b));
    r = hn::Mul(r, gain);
    g = hn::Mul(g, gain);
    b = hn::Mul(b, gain);
  }
  if (tables.wide_gamut) {
    const auto wide_r = r;
    const auto wide_g = g;
    const auto wide_b = b;
    r = weigh(d, kToBt709[0], wide_r, wide_g, wide_b);
    g = weigh(d, kToBt709[1], wide_r, wide_g, wide_b);
    b = weigh(d, kToBt709[2], wide_r, wide_g, wide_b);
  }
  // All three by the same factor, which keeps the hue.
  const auto largest = hn::Max(hn::Max(r, g), b);
  const auto gain = find(d, tables.tone_gain, hn::Div(largest, hn::Set(d, tables.peak)));
  hn::StoreU(find(d, tables.code, hn::Mul(r, gain)), d, red);
  hn::StoreU(find(d, tables.code, hn::Mul(g, gain)), d, green);
  hn::StoreU(find(d, tables.code, hn::Mul(b, gain)), d, blue);
}

HWY_ATTR void map_row(const LightTables& tables, float* r, float* g, float* b, int width) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    map_some(d, tables, r + x, g + x, b + x);
  }
  for (; x < width; ++x) {
    map_some(hn::CappedTag<float, 1>(), tables, r + x, g + x, b + x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace limpid::io
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::io {

HWY_EXPORT(map_row);

void map_light(const LightTables& tables, float* r, float* g, float* b, int width) {
  HWY_DYNAMIC_DISPATCH(map_row)(tables, r, g, b, width);
}

}  // namespace limpid::io
#endif
