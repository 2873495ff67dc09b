// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>

namespace limpid {

/// A floating-point number of 16 bits (IEEE 754 binary16). The conversions are constant expressions, which
/// device code may use.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  /// Rounds to the nearest value, ties to even; infinity from 65520 on.
  constexpr explicit Half(float value) : bits(bits_of(value)) {}

  /// Exact.
  constexpr operator float() const {
    constexpr std::uint32_t kExponent = 0x7C00;
    constexpr std::uint32_t kRebias = (127 - 15) << 23;
    constexpr std::uint32_t kLeastNormal = kRebias + (1U << 23);  // 2^-14
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t moved = magnitude << 13;
    const float value = magnitude >= kExponent ? std::bit_cast<float>(moved | 0x7F800000U)
                        : magnitude < 0x0400
                            ? std::bit_cast<float>(moved + kLeastNormal) - std::bit_cast<float>(kLeastNormal)
                            : std::bit_cast<float>(moved + kRebias);
    return (bits & 0x8000U) != 0 ? -value : value;
  }

 private:
  static constexpr std::uint16_t bits_of(float value) {
    constexpr std::uint32_t kInfinity = 0x7F800000;
    constexpr std::uint32_t kOverflow = (127 + 16) << 23;     // 2^16
    constexpr std::uint32_t kLeastNormal = (127 - 14) << 23;  // 2^-14
    constexpr std::uint32_t kRebias = (127 - 15) << 23;
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = all & 0x7FFFFFFFU;
    std::uint32_t result = 0;
    if (magnitude >= kOverflow) {
      result = magnitude > kInfinity ? 0x7E00 : 0x7C00;
    } else if (magnitude < kLeastNormal) {
      // The unit of the sum equals the lowest bit of the half, so the addition rounds.
      result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
               std::bit_cast<std::uint32_t>(0.5F);
    } else {
      const std::uint32_t odd = magnitude >> 13 & 1;
      result = (magnitude - kRebias + 0x0FFF + odd) >> 13;
    }
    return static_cast<std::uint16_t>(result | (all >> 16 & 0x8000U));
  }
};

}  // namespace limpid
