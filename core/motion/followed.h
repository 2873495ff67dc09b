// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/motion/motion_blocks.h"
#include "core/motion/motion_field.h"

namespace limpid::motion {

/// True if a block's vector leads to matching content, given the block's difference and texture in a
/// MotionField and the difference that noise alone causes (difference_of_noise()): the difference minus the
/// noise is less than a few code values plus a share of the texture. A constant expression for device code.
constexpr bool is_followed(std::int32_t difference, std::int32_t texture, std::int32_t noise) {
  constexpr std::int64_t kCodeValues = 6 * kDifferenceUnit;
  const auto square = [](std::int64_t value) { return value * value; };
  // Noise varies from window to window by about a tenth.
  const std::int64_t left = std::max(square(difference) - square(noise) * 5 / 4, std::int64_t{0});
  // One picture's noise has half the variance of the difference's noise.
  const std::int64_t shown = std::max(square(texture) - square(noise) / 2, std::int64_t{0});
  return left <= shown / 2 + square(kCodeValues);
}

inline std::size_t lost_blocks(const MotionField& field, std::int32_t noise) {
  std::size_t lost = 0;
  for (std::size_t i = 0; i < field.differences.size(); ++i) {
    lost += is_followed(field.differences[i], field.textures[i], noise) ? 0U : 1U;
  }
  return lost;
}

/// The share of blocks that could not be followed; 0 for an empty field. It is at most a tenth in most clips,
/// a third if water or leaves fill the picture, and 0.6 to 1 if the pictures have nothing in common, as at a
/// scene cut. Strong noise hides textures and lowers it: to half of that at sigma 50.
inline double lost_share(const MotionField& field, double noise) {
  const std::size_t lost = lost_blocks(field, static_cast<std::int32_t>(noise));
  return field.empty() ? 0 : static_cast<double>(lost) / static_cast<double>(field.differences.size());
}

}  // namespace limpid::motion
