// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/vbm4d/trajectories.h"

// How all engines follow trajectories with an accuracy of quarters of a sample (docs/algorithms.md). Constant
// expressions may be used in device code.
//
// After a patch was found at a whole sample, one step of Lucas and Kanade ("An iterative image registration
// technique with an application to stereo vision", IJCAI 1981) computes its displacement from the reference
// patch's gradient. The patch is interpolated at the displaced position, and used if it is more similar to
// the reference patch.

namespace limpid::vbm4d {

inline constexpr int kQuarters = 4;  ///< of a sample

/// Number of samples for an interpolated value, and number of samples before its position.
inline constexpr int kTaps = 6;
inline constexpr int kTapsBefore = 2;
inline constexpr int kWeightBits = 6;

/// The weights of a row's samples for a position `quarters` after a sample, 0 to 3: Lanczos with three lobes
/// in units of 2^-kWeightBits, a signed byte each, the first one lowest.
constexpr std::uint64_t interpolation_weights(int quarters) {
  switch (quarters) {
    case 0:
      return 0x00'00'00'40'00'00;  // 0, 0, 64, 0, 0, 0
    case 1:
      return 0x01'FC'11'39'F7'02;  // 2, -9, 57, 17, -4, 1
    case 2:
      return 0x02'F7'27'27'F7'02;  // 2, -9, 39, 39, -9, 2
    default:
      return 0x02'F7'39'11'FC'01;  // 1, -4, 17, 57, -9, 2
  }
}
constexpr int interpolation_weight(int quarters, int tap) {
  return static_cast<std::int8_t>(interpolation_weights(quarters) >> (8 * tap) & 0xFF);
}

/// An interpolated value of a guide's row or column, rounded to an integer.
constexpr int rounded(int sum) { return (sum + (1 << kWeightBits >> 1)) >> kWeightBits; }

/// True if all samples exist that are needed to interpolate the patch at (x, y), or up to three quarters to
/// the right and below.
constexpr bool is_surrounded(int x, int y, int width, int height) {
  constexpr int kBehind = kPatch + kTaps - kTapsBefore - 1;
  return x >= kTapsBefore && y >= kTapsBefore && x + kBehind <= width && y + kBehind <= height;
}

inline constexpr int kGreatestGradient = 127;
/// The gradient of a patch along an axis at a sample, given the samples before and after it.
constexpr int gradient(int before, int after) { return (after - before) / 2; }
/// The gradient at the border of the patch, given the sample and its neighbor.
constexpr int gradient_at_border(int before, int after) {
  const int difference = after - before;
  return difference < -kGreatestGradient  ? -kGreatestGradient
         : difference > kGreatestGradient ? kGreatestGradient
                                          : difference;
}

/// Sums of products of the gradient over a reference patch.
struct GradientProducts {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
};

struct QuarterVector {
  int x = 0;
  int y = 0;
  constexpr bool operator==(const QuarterVector&) const = default;
};

/// The displacement of the reference patch from a patch, in quarters of a sample, -2 to 2 along each axis.
/// `x` and `y` are sums of the gradient times (reference patch - patch).
constexpr QuarterVector beside(const GradientProducts& products, std::int32_t x, std::int32_t y) {
  const std::int64_t xx = products.xx + 1;  // never singular
  const std::int64_t yy = products.yy + 1;
  const std::int64_t xy = products.xy;
  const std::int64_t determinant = xx * yy - xy * xy;
  const auto quarters = [&](std::int64_t numerator) {
    const std::int64_t eighths = 8 * (numerator < 0 ? -numerator : numerator);
    const int magnitude = eighths >= 3 * determinant ? 2 : eighths >= determinant ? 1 : 0;
    return numerator < 0 ? -magnitude : magnitude;
  };
  return {quarters(yy * x - xy * y), quarters(xx * y - xy * x)};
}

/// A coordinate in quarters of a sample as a whole sample and a remainder.
constexpr int whole_of(int quarters) { return quarters >> 2; }
constexpr int rest_of(int quarters) { return quarters & (kQuarters - 1); }

}  // namespace limpid::vbm4d
