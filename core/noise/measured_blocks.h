// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/motion/motion_field.h"
#include "core/noise/noise_blocks.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"

// The choice of the blocks that NoiseStatistics measure, and of their bins, bit-exact in all engines.
// Constant expressions for device code.

namespace limpid::noise {

/// Maximum numbers of measured blocks, which are spread over a channel.
inline constexpr int kMostSingle = 16384;
inline constexpr int kMostDifferences = 8192;

constexpr BlockGrid single_grid(int width, int height) {
  return block_grid(width, height, kBlock, 2, kMostSingle);
}
constexpr BlockGrid difference_grid(int width, int height) {
  return block_grid(width, height, kBlock, kBlock, kMostDifferences);
}

/// The motion of the block at (x, y) of a channel, from the vectors of a MotionField of luma and the
/// channel's subsampling: the vector of the luma block that contains the block's upper left sample.
constexpr MotionVector vector_of_block(const MotionVector* vectors, int columns, int rows, int x, int y,
                                       int shift_x, int shift_y) {
  const MotionVector& luma = vectors[MotionField::block_at(x << shift_x, y << shift_y, columns, rows)];
  return {static_cast<std::int16_t>(luma.x >> shift_x), static_cast<std::int16_t>(luma.y >> shift_y)};
}

/// True if motion was followed at the block with the upper left sample (x, y) of luma: the vector to the
/// picture before and the vector back from there cancel to within one sample. `before` and `back` are the
/// vectors of both MotionFields, which have `columns` x `rows` blocks. Blocks of noise alone often fail this
/// test, but independently of the noise's level.
constexpr bool is_followed(const MotionVector* before, const MotionVector* back, int columns, int rows, int x,
                           int y) {
  const auto block = static_cast<int>(MotionField::block_at(x, y, columns, rows));
  const MotionVector& there = before[block];
  const auto landing = [](int index, int offset, int count) {
    const int sample = index * kBlock + kBlock / 2 + offset;
    return std::min(std::max(sample, 0) / kBlock, count - 1);
  };
  const int column = landing(block % columns, there.x, columns);
  const int row = landing(block / columns, there.y, rows);
  const MotionVector& returned = back[row * columns + column];
  const auto is_small = [](int sum) { return sum >= -1 && sum <= 1; };
  return is_small(there.x + returned.x) && is_small(there.y + returned.y);
}

/// The ends of the sample range at which noise is clipped. The samples of counts are not clipped at 0: their
/// range has a lower end that no sample has.
struct ClippedRange {
  float black = 0;
  float white = 0;
  int planes = 0;  ///< the number of planes of an RGB sample that may be at an end

  ClippedRange(const FrameFormat& format, const SceneRange& range)
      : black(range.counts ? -1.0F : 0), white(white_level(format)), planes(range.saturated ? 1 : 0) {}
  /// True if clipping may have changed the noise of a sample. Also for device code.
  constexpr bool is_at_end(float sample) const { return sample == black || sample == white; }
  /// True if clipping may have changed the noise of a sample of the opponent channels.
  constexpr bool is_at_end(float red, float green, float blue) const {
    return (is_at_end(red) ? 1 : 0) + (is_at_end(green) ? 1 : 0) + (is_at_end(blue) ? 1 : 0) > planes;
  }
};
/// The greatest number of samples at the ends of the range in a block that is measured. Blocks with more have
/// too little noise.
inline constexpr int kMostCutOff = kBlock * kBlock / 8;

/// A sample of a difference or a mean of two blocks.
constexpr float difference_sample(float a, float b) { return (a - b) * 0.707106781186548F; }
constexpr float mean_sample(float a, float b) { return (a + b) * 0.5F; }

/// Energies of the even and of the odd coefficients (is_odd()), without the DC.
using HalfEnergies = std::array<float, 2>;

constexpr void add_to(HalfEnergies& sums, const HalfEnergies& more) {
  sums[0] += more[0];
  sums[1] += more[1];
}

/// The part of row v of a block's energies [u]. Engines add up the rows of a block in order.
constexpr HalfEnergies halves_of_row(int v, const std::array<float, kBlock>& energies) {
  HalfEnergies sums{};  // of even u and of odd u
  for (int u = 0; u < kBlock; ++u) {
    if (u > 0 || v > 0) {
      sums[u % 2] += energies[u];
    }
  }
  return v % 2 == 0 ? sums : HalfEnergies{sums[1], sums[0]};
}

/// The bins for the even and for the odd coefficients of a single block.
constexpr std::array<int, 2> single_bins(const HalfEnergies& energies) {
  constexpr int kOdd = kCoefficients / 2;
  return {activity_of(energies[1] / kOdd), activity_of(energies[0] / (kOdd - 1))};
}

/// The sum of the middle frequencies in row v of a block's energies [u]. Engines add up the rows of a block
/// in order.
constexpr float middle_of_row(int v, const std::array<float, kBlock>& energies) {
  float sum = 0;
  for (int u = 0; u < kBlock; ++u) {
    if (u + v >= kFirstMiddleFrequency && u + v <= kLastMiddleFrequency) {
      sum += energies[u];
    }
  }
  return sum;
}

/// The level of a block whose middle frequencies have this sum.
constexpr int level_of_middle(float sum) {
  constexpr int kCount = 37;
  return level_of(sum / kCount);
}

/// octaves_of() a block with these energies.
constexpr std::int32_t octaves_of(const HalfEnergies& energies) {
  return octaves_of((energies[0] + energies[1]) / (kCoefficients - 1));
}

/// True if a block is a copy of the other one apart from its brightness, as in coded video, given the
/// energies of their difference. Energies below the resolution of octaves_of() are rounding errors.
constexpr bool is_copy(const HalfEnergies& difference) {
  return difference[0] + difference[1] <= (kCoefficients - 1) * 0x1p-13F;
}

/// True if the difference of two blocks can be noise, given its energies and those of the blocks' mean. Noise
/// of variance v adds v to a coefficient's energy in the difference and v / 2 in the mean, so the quotient is
/// at most 2, apart from the random variation of 63 coefficients. Blocks of different content exceed it.
constexpr bool can_be_noise(const HalfEnergies& difference, const HalfEnergies& mean) {
  constexpr float kMostQuotient = 8;
  return difference[0] + difference[1] <= kMostQuotient * (mean[0] + mean[1]);
}

/// The brightness of two blocks, given the DC of their mean. In opponent channels, the middle of the range is
/// achromatic.
constexpr float brightness_by_dc(float dc, bool opponent) { return dc / kBlock + (opponent ? 128.0F : 0.0F); }

/// The brightness for a block of YUV's chroma, whose noise depends on the brightness of luma: the mean of
/// `columns`. Each column is the sum of eight vertically adjacent luma samples under the chroma block of the
/// second picture, added from above. In pictures of odd size, all these samples exist.
constexpr float brightness_by_luma(const std::array<float, kBlock>& columns) {
  float sum = 0;
  for (const float column : columns) {
    sum += column;
  }
  return sum / (kBlock * kBlock);
}

/// The bin of the difference of two blocks with this brightness and these energies of their mean.
constexpr int difference_bin(float brightness, const BrightnessScale& scale, const HalfEnergies& energies) {
  return class_of(brightness, scale) * kActivities +
         activity_of((energies[0] + energies[1]) / (kCoefficients - 1));
}

}  // namespace limpid::noise
