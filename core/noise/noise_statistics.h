// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

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

/// The model for frames with these statistics. `white` is the mean estimate of noise.h for the
/// frames. It is more exact for white noise, and it is the result if the statistics indicate white noise or
/// no noise.
NoiseEstimate model_of(const NoiseStatistics& statistics, const NoiseModel& white);

}  // namespace limpid::noise
