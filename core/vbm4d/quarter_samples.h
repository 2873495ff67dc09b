#pragma once

#include <cstdint>

#include "core/vbm4d/trajectories.h"

// How trajectories are followed to quarters of a sample, as all engines do it (core/README.md). Constant
// expressions may be used in device code.
//
// Where a patch is found at a whole sample, one step of Lucas and Kanade ("An iterative image registration
// technique with an application to stereo vision", IJCAI 1981) tells how far it lies beside that, by the
// reference patch's gradient. There it is interpolated. It is taken if that makes it more like the reference
// patch.

namespace limpid::vbm4d {

inline constexpr int kQuarters = 4;  ///< of a sample

/// Interpolation takes so many samples from one before the place on.
inline constexpr int kTaps = 6;
inline constexpr int kTapsBefore = 2;
inline constexpr int kWeightBits = 6;

/// The weights of a row's samples around a place that is `quarters` behind a sample, 0 to 3: Lanczos's of
/// three lobes in units of 2^-kWeightBits, a signed byte each, the first one lowest.
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

/// Of guides, a row or a column of interpolated values in whole numbers.
constexpr int rounded(int sum) { return (sum + (1 << kWeightBits >> 1)) >> kWeightBits; }

/// Whether all samples are there that the patch at (x, y), or three quarters right of and below it, is
/// interpolated from.
constexpr bool is_surrounded(int x, int y, int width, int height) {
  constexpr int kBehind = kPatch + kTaps - kTapsBefore - 1;
  return x >= kTapsBefore && y >= kTapsBefore && x + kBehind <= width && y + kBehind <= height;
}

inline constexpr int kGreatestGradient = 127;
/// A patch's gradient along an axis, of a sample between two others.
constexpr int gradient(int before, int after) { return (after - before) / 2; }
/// And at the patch's border, where it is of the sample and the one beside it.
constexpr int gradient_at_border(int before, int after) {
  const int difference = after - before;
  return difference < -kGreatestGradient  ? -kGreatestGradient
         : difference > kGreatestGradient ? kGreatestGradient
                                          : difference;
}

/// Sums over a reference patch: products of its gradient.
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

/// How far beside a patch the reference patch is found, in quarters of a sample, -2 to 2 each. `x` and `y`
/// are sums of the reference patch's gradient times what it is greater than the patch.
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

/// A coordinate in quarters as a sample and how many quarters behind it.
constexpr int whole_of(int quarters) { return quarters >> 2; }
constexpr int rest_of(int quarters) { return quarters & (kQuarters - 1); }

}  // namespace limpid::vbm4d
