#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/motion/motion_blocks.h"
#include "core/motion/motion_field.h"

namespace limpid::motion {

/// Whether a block's vector leads to what the block shows, given its difference and texture in a MotionField
/// and the difference that noise alone makes (difference_of_noise()): whether less is left of the difference,
/// but for the noise, than some code values and a share of the texture. A constant expression, which device
/// code may use.
constexpr bool is_followed(std::int32_t difference, std::int32_t texture, std::int32_t noise) {
  constexpr std::int64_t kCodeValues = 6 * kDifferenceUnit;
  const auto square = [](std::int64_t value) { return value * value; };
  // Noise varies from window to window, by about a tenth.
  const std::int64_t left = std::max(square(difference) - square(noise) * 5 / 4, std::int64_t{0});
  // Of a difference's noise, one picture's has half the variance.
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

/// The share of blocks that could not be followed, 0 for an empty field: a tenth and less in most clips, a
/// third where water or leaves fill the picture, and 0.6 to 1 where the pictures have nothing in common, as
/// at a cut; there less in strong noise, which hides textures: half in noise of sigma 50.
inline double lost_share(const MotionField& field, double noise) {
  const std::size_t lost = lost_blocks(field, static_cast<std::int32_t>(noise));
  return field.empty() ? 0 : static_cast<double>(lost) / static_cast<double>(field.differences.size());
}

}  // namespace limpid::motion
