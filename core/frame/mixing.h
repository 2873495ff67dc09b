// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/base/error.h"

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

// The mix of two results of a frame. The second one's share depends on the picture's change: where nothing
// changes over time, the first one is alone.

/// Side of the blocks that have a share, in samples.
inline constexpr int kMixedBlock = 8;
constexpr int mixed_blocks(int length) { return (length + kMixedBlock - 1) / kMixedBlock; }

/// A plane of both results, and of the first one for the frame before. Rows are `pitch` samples apart.
template <typename Sample>
struct MixedPlanes {
  const Sample* first;
  const Sample* before;
  const Sample* second;
  std::ptrdiff_t pitch;
  int width;
  int height;
  float unit;  ///< sixteenths of a code value in a unit of the samples
};

/// The square of a difference in sixteenths of a code value, at most (2^10 - 1)^2.
template <typename Sample>
constexpr std::uint32_t squared_steps(Sample a, Sample b, float unit) {
  constexpr std::uint32_t kMost = (1 << 10) - 1;
  const float difference = (static_cast<float>(a) - static_cast<float>(b)) * unit;
  const float size = difference < 0 ? -difference : difference;
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): std::lround() is no constant expression
  const std::uint32_t steps = size < kMost ? static_cast<std::uint32_t>(size + 0.5F) : kMost;
  return steps * steps;
}

/// The second result's share in a block: 0 if the first one changes by less than a tenth of its difference
/// from the second, and up to `greatest` if it changes more, in squared differences over the block and those
/// around it.
template <typename Sample>
constexpr float share_in_block(const MixedPlanes<Sample>& planes, int column, int row, float greatest) {
  const int end_x = (column + 2) * kMixedBlock < planes.width ? (column + 2) * kMixedBlock : planes.width;
  const int end_y = (row + 2) * kMixedBlock < planes.height ? (row + 2) * kMixedBlock : planes.height;
  // Sums of 24 x 24 squares are less than 2^30.
  std::uint32_t change = 0;
  std::uint32_t apart = 0;
  for (int y = row > 0 ? (row - 1) * kMixedBlock : 0; y < end_y; ++y) {
    for (int x = column > 0 ? (column - 1) * kMixedBlock : 0; x < end_x; ++x) {
      const std::ptrdiff_t i = y * planes.pitch + x;
      change += squared_steps(planes.first[i], planes.before[i], planes.unit);
      apart += squared_steps(planes.first[i], planes.second[i], planes.unit);
    }
  }
  const std::uint64_t changing = 10 * std::uint64_t{change};
  const std::uint64_t weight =
      changing <= apart ? 0 : mix_weight(greatest) * (changing - apart) / (changing + apart);
  return static_cast<float>(weight) / 65536;
}

/// Mixes a block of both results into `out`.
template <typename Sample>
constexpr void mix_block(const MixedPlanes<Sample>& planes, int column, int row, float greatest, Sample* out,
                         std::ptrdiff_t out_pitch) {
  const float share = share_in_block(planes, column, row, greatest);
  for (int y = row * kMixedBlock; y < (row + 1) * kMixedBlock && y < planes.height; ++y) {
    for (int x = column * kMixedBlock; x < (column + 1) * kMixedBlock && x < planes.width; ++x) {
      const std::ptrdiff_t i = y * planes.pitch + x;
      out[y * out_pitch + x] = mixed(planes.second[i], planes.first[i], share);
    }
  }
}

}  // namespace limpid
