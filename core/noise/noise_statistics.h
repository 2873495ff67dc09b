#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/noise/noise_blocks.h"
#include "core/noise/noise_model.h"

// What frames tell of noise that need not be white, and the noise model that follows from it. Engines sum up
// the energies of DCT coefficients of 8x8 blocks; all else is the same in all of them.
//
// Two blocks p and q of the same content, one in each of two frames, have a difference (p - q) / sqrt 2 that
// is noise alone, of the variance of either's, and a mean (p + q) / 2 that tells how much texture there is.
// The noise of the two is independent: so blocks of little texture, where motion that was followed badly does
// least harm, are chosen by their mean, and noise is measured on their difference. A single frame's noise is
// measured on half of the coefficients of those blocks that have the least of the other half, which in noise
// are independent of each other but in texture are not.

namespace limpid::noise {

inline constexpr int kCoefficients = kBlock * kBlock;

/// Blocks are told apart by brightness, in classes between the points of a scale,
inline constexpr int kClasses = BrightnessScale::kSteps;
/// and by how much texture they have: its mean energy per coefficient, from 2^-13 on in half octaves.
inline constexpr int kActivities = 52;
inline constexpr int kLeastActivityExponent = -13;

constexpr int class_of(float mean, const BrightnessScale& scale) {
  return static_cast<int>(std::min(std::max(scale.position_of(mean), 0.0F), kClasses - 0.5F));
}

/// By the bits of the number, so that all engines agree.
constexpr int activity_of(float energy) {
  const auto bits = std::bit_cast<std::uint32_t>(energy);
  const int exponent = static_cast<int>(bits >> 23) - 127;
  constexpr std::uint32_t kSqrt2Mantissa = 0x3504F3;
  const int half = (bits & 0x7FFFFF) >= kSqrt2Mantissa ? 1 : 0;
  return std::min(std::max(2 * (exponent - kLeastActivityExponent) + half, 0), kActivities - 1);
}

/// The mean energy per coefficient of the blocks that activity_of() puts into a bin.
inline double texture_of(int activity) { return std::exp2(kLeastActivityExponent + (activity + 0.5) / 2); }

/// Whether coefficient i = 8 v + u is of the half that is measured where the other half is least.
constexpr bool is_odd(int i) { return ((i / kBlock + i) & 1) != 0; }

/// log2(energy) in units of 2^-23, to 0.01, by the bits of the number, so that all engines agree. Energies
/// below 2^-13 count as that.
constexpr std::int32_t octaves_of(float energy) {
  constexpr int kBits = 23;
  const auto bits = std::bit_cast<std::uint32_t>(std::max(energy, 0x1p-13F));
  const auto mantissa = static_cast<std::int64_t>(bits & ((1U << kBits) - 1));
  // log2(1 + f) = f + 0.3467 f (1 - f), about.
  const std::int64_t bend = (mantissa * ((std::int64_t{1} << kBits) - mantissa) >> kBits) * 355 >> 10;
  return static_cast<std::int32_t>((static_cast<std::int64_t>(bits >> kBits) - 127) * (1 << kBits) +
                                   mantissa + bend);
}

/// The unit of octaves_of().
inline constexpr double kOctave = 0x1p-23;

/// Energies of the coefficients [8 v + u], and of how many blocks they are the sum.
struct Energies {
  double blocks = 0;
  /// Differences only: the sum of the blocks' octaves_of() their mean energy without the DC's.
  double octaves = 0;
  std::array<double, kCoefficients> energy{};

  bool operator==(const Energies&) const = default;
  void add(const Energies& other);
};

/// The number of blocks in all bins.
double count_of(const std::vector<Energies>& bins);

/// Of one channel: a plane, or one of RGB's opponent channels.
struct ChannelStatistics {
  /// Of single blocks: the odd coefficients of blocks by the energy of their even ones, and the even ones by
  /// that of the odd ones; [activity].
  std::array<std::vector<Energies>, 2> single;
  /// Of differences between this frame and the one before where motion was followed, [class * kActivities +
  /// activity].
  std::vector<Energies> differences;
  /// Blocks that are exact copies of the frame before. A repeated frame copies its noise, too, so they are
  /// evidence of nothing. Constant blocks are counted nowhere.
  double copied = 0;
  /// Likewise, in frames of which nearly all is a copy: frame rates are raised by repeating frames.
  double repeated = 0;
  /// Blocks whose motion was not followed: is_followed() and can_be_noise().
  double lost = 0;

  bool operator==(const ChannelStatistics&) const = default;
  bool empty() const { return single[0].empty(); }
  void add(const ChannelStatistics& other);
};

/// Of a frame, or the sum of several frames'.
struct NoiseStatistics {
  bool rgb = false;  ///< channels are the opponent ones
  float step = 0;    ///< quantization_step()
  BrightnessScale scale;
  std::array<ChannelStatistics, 3> channels;

  bool operator==(const NoiseStatistics&) const = default;
  void add(const NoiseStatistics& other);
};

/// The model for frames with these statistics. `white` is what noise_estimation.h finds in them, on average:
/// it is more exact where noise is white, and the result wherever the statistics say that it is, or that
/// there is none.
NoiseModel model_of(const NoiseStatistics& statistics, const NoiseModel& white);

}  // namespace limpid::noise
