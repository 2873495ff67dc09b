#pragma once

#include <array>

namespace limpid {

/// Standard deviation of additive white Gaussian noise for each colour plane (Y, U, V or R, G, B or gray), in
/// 8-bit code values whatever the bit depth of the samples. A plane with 0 is passed through unchanged.
struct NoiseLevel {
  std::array<float, 3> sigma{};
  bool operator==(const NoiseLevel&) const = default;

  /// Throws UsageError unless all are in 0 to 255.
  void validate() const;
};

}  // namespace limpid
