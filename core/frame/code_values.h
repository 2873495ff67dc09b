#pragma once

#include <algorithm>
#include <cstdint>

#include "core/frame/frame.h"

namespace limpid {

constexpr float kGreatestUsableCodeValue = 4096;

/// The code value that a float sample counts as, since float samples may be anything: limited to +-4096, and
/// 0 for NaN. A constant expression, which device code may use.
constexpr float usable_code_value(float value) {
  return value == value ? std::min(std::max(value, -kGreatestUsableCodeValue), kGreatestUsableCodeValue) : 0;
}

/// False for float samples that filters cannot use: NaN, and those beyond +-4096 code values. They pass as
/// they are. A constant expression, too.
constexpr bool is_usable_sample(float sample) {
  const float value = sample * 255.0F;
  return value >= -kGreatestUsableCodeValue && value <= kGreatestUsableCodeValue;
}

/// Reads `count` samples of row `y` from column `x` on, as 8-bit code values (samples divided by the format's
/// code_value()), into `out`.
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

/// The same, of float samples the usable_code_value().
inline void load_usable_code_values(const Plane& plane, const FrameFormat& format, int x, int y, int count,
                                    float* out) {
  load_code_values(plane, format, x, y, count, out);
  if (format.is_float()) {
    std::transform(out, out + count, out, usable_code_value);
  }
}

}  // namespace limpid
