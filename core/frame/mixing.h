// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/frame/frame.h"

// The mix of a noisy sample and its estimate: noisy * mix + estimate * (1 - mix). Also for device code. All
// engines mix with equal arithmetic.

namespace limpid {

/// Returns the share of noisy samples. Throws UsageError unless it is from 0 to 1.
inline float checked_mix(float mix) {
  if (!(mix >= 0 && mix <= 1)) {
    throw UsageError("a mix of " + std::to_string(mix) + " is not possible (0 to 1)");
  }
  return mix;
}

/// The share of noisy samples in each plane, 0 to 1.
using PlaneMixes = std::array<float, kMaxPlanes>;

constexpr PlaneMixes every_plane(float mix) {
  PlaneMixes mixes{};
  mixes.fill(mix);
  return mixes;
}

/// A share from 0 to 1 in units of 2^-16.
constexpr std::uint32_t mix_weight(float mix) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): std::lround() is no constant expression
  return static_cast<std::uint32_t>(mix * 65536 + 0.5F);
}

/// Integers are rounded to nearest, halves up.
template <typename Sample>
constexpr Sample mixed(Sample noisy, Sample estimate, float mix) {
  if constexpr (std::is_integral_v<Sample>) {
    constexpr std::uint32_t kOne = 65536;
    const std::uint32_t weight = mix_weight(mix);
    return static_cast<Sample>((noisy * weight + estimate * (kOne - weight) + kOne / 2) / kOne);
  } else {
    const auto value = static_cast<float>(estimate);
    return Sample(value + mix * (static_cast<float>(noisy) - value));
  }
}

}  // namespace limpid
