// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/frame/frame.h"

namespace limpid {

/// False for float samples that filters cannot use: NaN, and those beyond +-4096 code values. They pass
/// unchanged. A constant expression for device code.
constexpr bool is_usable_sample(float sample) {
  constexpr float kGreatest = 4096;
  const float value = sample * 255.0F;
  return value >= -kGreatest && value <= kGreatest;
}

/// A float sample limited to +-4096 code values; 0 for NaN. A constant expression for device code, so the
/// limit is a local constant: std::min() refers to it, and device code has no object of the namespace.
constexpr float usable_code_value(float value) {
  constexpr float kGreatest = 4096;
  return value == value ? std::min(std::max(value, -kGreatest), kGreatest) : 0;
}

/// Reads `count` samples of row `y` from column `x` on into `out`, in 8-bit code values (samples divided by
/// the format's code_value()).
template <typename Real>
void load_code_values(const Plane& plane, const FrameFormat& format, int x, int y, int count, Real* out) {
  visit_samples(format, [&]<typename Sample>(Sample) {
    const auto* const samples = plane.row<const Sample>(y) + x;
    const auto scale = static_cast<Real>(1.0 / format.code_value());
    for (int i = 0; i < count; ++i) {
      out[i] = static_cast<Real>(samples[i]) * scale;
    }
  });
}

/// Reads samples as load_code_values() does and limits float samples by usable_code_value().
inline void load_usable_code_values(const Plane& plane, const FrameFormat& format, int x, int y, int count,
                                    float* out) {
  load_code_values(plane, format, x, y, count, out);
  if (format.is_float()) {
    std::transform(out, out + count, out, usable_code_value);
  }
}

}  // namespace limpid
