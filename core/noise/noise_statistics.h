// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/noise/noise_blocks.h"
#include "core/noise/noise_model.h"

// Statistics of frames whose noise need not be white, and the noise model that follows from them. Engines add
// up the energies of DCT coefficients of 8x8 blocks; all else is shared code.
//
// Two blocks p and q of equal content, one in each of two frames, have a difference (p - q) / sqrt 2 that is
// noise alone, with the variance of either's noise, and a mean (p + q) / 2 that shows the texture. The noise
// of difference and mean is independent. Blocks of little texture, where badly followed motion does the least
// harm, are therefore selected by their mean, and noise is measured on their difference. A single frame's
// noise is measured on one half of the coefficients, in the blocks with the least energy in the other half.
// The halves are independent in noise but not in texture.

namespace limpid::noise {

inline constexpr int kCoefficients = kBlock * kBlock;

/// Blocks are classified by brightness, in classes between the points of a scale,
inline constexpr int kClasses = BrightnessScale::kSteps;
/// and by texture: the mean energy per coefficient, from 2^-13 on in half octaves.
inline constexpr int kActivities = 52;
inline constexpr int kLeastActivityExponent = -13;

constexpr int class_of(float mean, const BrightnessScale& scale) {
  return static_cast<int>(std::min(std::max(scale.position_of(mean), 0.0F), kClasses - 0.5F));
}

/// The bin of an energy. Uses the bits of the number, so that all engines agree.
constexpr int activity_of(float energy) {
  const auto bits = std::bit_cast<std::uint32_t>(energy);
  const int exponent = static_cast<int>(bits >> 23) - 127;
  constexpr std::uint32_t kSqrt2Mantissa = 0x3504F3;
  const int half = (bits & 0x7FFFFF) >= kSqrt2Mantissa ? 1 : 0;
  return std::min(std::max(2 * (exponent - kLeastActivityExponent) + half, 0), kActivities - 1);
}

/// The mean energy per coefficient of the blocks in a bin of activity_of().
inline double texture_of(int activity) { return std::exp2(kLeastActivityExponent + (activity + 0.5) / 2); }

/// True if coefficient i = 8 v + u belongs to the half that is measured in the blocks with the least energy
/// in the other half.
constexpr bool is_odd(int i) { return ((i / kBlock + i) & 1) != 0; }

/// log2(energy) in units of 2^-23, to 0.01. Uses the bits of the number, so that all engines agree. Energies
/// below 2^-13 count as 2^-13.
constexpr std::int32_t octaves_of(float energy) {
  constexpr int kBits = 23;
  const auto bits = std::bit_cast<std::uint32_t>(std::max(energy, 0x1p-13F));
  const auto mantissa = static_cast<std::int64_t>(bits & ((1U << kBits) - 1));
  // log2(1 + f) is about f + 0.3467 f (1 - f).
  const std::int64_t bend = (mantissa * ((std::int64_t{1} << kBits) - mantissa) >> kBits) * 355 >> 10;
  return static_cast<std::int32_t>((static_cast<std::int64_t>(bits >> kBits) - 127) * (1 << kBits) +
                                   mantissa + bend);
}

/// The unit of octaves_of().
inline constexpr double kOctave = 0x1p-23;

/// Single blocks are counted by the mean energy of their middle frequencies, u + v from 6 to 11, from 2^-13
/// on in eighths of octaves.
inline constexpr int kFirstMiddleFrequency = 6;
inline constexpr int kLastMiddleFrequency = 11;
inline constexpr int kLevelsPerOctave = 8;
inline constexpr int kLevels = 26 * kLevelsPerOctave;

/// The level of a block with this mean energy of its middle frequencies.
constexpr int level_of(float energy) {
  constexpr int kFraction = 23 - std::bit_width(unsigned{kLevelsPerOctave - 1});
  const int level = (octaves_of(energy) >> kFraction) - kLeastActivityExponent * kLevelsPerOctave;
  return std::min(level, kLevels - 1);
}

/// Sums of the energies of the coefficients [8 v + u], and the number of blocks.
struct Energies {
  double blocks = 0;
  /// Differences only: sum over the blocks of octaves_of() the mean energy without the DC.
  double octaves = 0;
  std::array<double, kCoefficients> energy{};

  bool operator==(const Energies&) const = default;
  void add(const Energies& other);
};

/// The number of blocks in all bins.
double count_of(const std::vector<Energies>& bins);

/// Statistics of one channel: a plane, or one of RGB's opponent channels.
struct ChannelStatistics {
  /// Single blocks, in bins by activity: the odd coefficients of blocks whose even coefficients have the
  /// bin's energy, and the even coefficients, binned by the odd ones.
  std::array<std::vector<Energies>, 2> single;
  /// Number of single blocks at each level (level_of()).
  std::vector<double> levels;
  /// Differences from the previous frame, in blocks whose motion was followed, [class * kActivities +
  /// activity].
  std::vector<Energies> differences;
  /// Number of blocks that are exact copies from the previous frame. A repeated frame repeats its noise, so
  /// copies are not evidence of low noise. Constant blocks are never counted.
  double copied = 0;
  /// Number of copied blocks in frames that are nearly complete copies, as when frames are repeated to raise
  /// the frame rate.
  double repeated = 0;
  /// Number of blocks whose motion was not followed according to is_followed() and can_be_noise().
  double lost = 0;

  bool operator==(const ChannelStatistics&) const = default;
  bool empty() const { return single[0].empty(); }
  void add(const ChannelStatistics& other);
};

/// The deviation of the middle frequencies below which a share of the single blocks lies; 0 without blocks.
double level_quantile(const ChannelStatistics& channel, double share);

/// Standard deviations of the samples in patches of 4x4 samples of luma (of RGB, of the mean of the planes),
/// in 8-bit code values. A patch is smaller than the flat parts of most drawings, so the quietest patches
/// show the noise between their edges.
struct PatchDeviations {
  double tenth = 0;  ///< a tenth of the patches is below it
  double third = 0;
  double half = 0;
  double equal = 0;  ///< share of patches whose samples are all equal
  /// Ratio of the mean difference of horizontal neighbors at the most prominent column of each eight to the
  /// median of the eight: great at the borders of a codec's blocks. 0 if there are no differences.
  double grid = 0;

  bool operator==(const PatchDeviations&) const = default;
};

/// Statistics of a frame, or the sum over several frames.
struct NoiseStatistics {
  bool rgb = false;  ///< channels are opponent channels
  float step = 0;    ///< quantization_step()
  BrightnessScale scale;
  std::optional<PatchDeviations> patches;  ///< of the first frame
  std::array<ChannelStatistics, 3> channels;

  bool operator==(const NoiseStatistics&) const = default;
  void add(const NoiseStatistics& other);
};

// The choice of the blocks that are measured, and of their bins, bit-exact in all engines. Constant
// expressions for device code.

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

/// Properties of a scene's samples that its noise is measured by.
struct SceneRange {
  BrightnessScale scale;
  /// Samples are counts of photons: samples of 0 are not clipped.
  bool counts = false;
  /// Nearly all blocks of an RGB picture have a plane at an end of the sample range, as in saturated colors.
  /// They are measured nevertheless, if noise is clipped in no other plane.
  bool saturated = false;

  bool operator==(const SceneRange&) const = default;
};

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

/// True if the difference of two blocks can be noise. `difference` and `mean`: the energies of the difference
/// and of the mean of both blocks. Noise of variance v adds v to a coefficient's energy in the difference and
/// v / 2 in the mean, so the quotient is at most 2, apart from the random variation of 63 coefficients.
/// Blocks of different content exceed it.
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

/// The model for frames with these statistics. `white` is the mean estimate of noise.h for the
/// frames. It is more exact for white noise, and it is the result if the statistics indicate white noise or
/// no noise.
NoiseEstimate model_of(const NoiseStatistics& statistics, const NoiseModel& white);

}  // namespace limpid::noise
