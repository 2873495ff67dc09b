// SPDX-License-Identifier: MIT
#pragma once

// The display's RGB from rows of wide gamut or HDR, on the SIMD level of the machine. Private to io.

#include <bit>
#include <cstdint>

namespace limpid::io {

/// Tables of what is a power or a ratio of polynomials; light is 1 at the reference white.
struct LightTables {
  static constexpr int kCodes = 4095;
  const float* light = nullptr;     ///< of the code values 0 to kCodes and one more; interpolated
  const float* hlg_gain = nullptr;  ///< LogIndex, by luminance; null if it isn't HLG
  bool wide_gamut = false;
  const float* tone_gain = nullptr;  ///< LogIndex, by the greatest of R, G and B, the peak being 1
  const float* code = nullptr;       ///< LogIndex, by light
  float peak = 1;
};

/// Where a function of 2^-24 to 1 has its value in each 256th of an octave, by a float's leading bits: 0.2 %
/// between neighbours, which is a fifth of a code value after the display's curve.
struct LogIndex {
  static constexpr int kOctaves = 24;
  static constexpr int kSteps = 256;
  static constexpr int kShift = 23 - 8;
  static constexpr float kLeast = 1.0F / (1 << kOctaves);
  static constexpr std::int32_t kFirst = std::bit_cast<std::int32_t>(kLeast);
};

/// Maps code values of 0 to 1 in place; the same bits on all levels.
void map_light(const LightTables& tables, float* r, float* g, float* b, int width);

}  // namespace limpid::io
