// SPDX-License-Identifier: MIT
// The features of a channel, which are the input of the noise decision (see Forests), and the shape of
// the noise at the chosen level.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/noise/difference_noise.h"
#include "core/noise/noise_statistics.h"

namespace limpid::noise {

// Noise is measured on single frames on one half of the coefficients, in the blocks with the least energy in
// the other half. Fine texture can look like noise there, so the evidence for each estimate is measured, too.

/// The spectrum of the flattest blocks, without shading and with an estimated DC. Nothing if there are too
/// few blocks. After demosaicking, chroma noise consists of blotches larger than a block, whose DC cannot be
/// measured in blocks: the DC of opponent channels continues the rise of the spectrum from u + v = 2 to 1.
std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, ChannelKind kind);

/// The similarity of the flattest blocks, which texture reduces.
struct Flatness {
  /// Variance of the flattest blocks, divided by the variance of the next flattest blocks: 1 in noise, less
  /// in texture. 0 if there are too few blocks.
  double evenness = 0;
  /// Growth of the energy of one half of the coefficients with the energy of the other half, as an exponent:
  /// 0 for noise, whose coefficients are independent, and about 1 for texture. 1 if unknown.
  double growth_power = 1;
};
Flatness flatness_of(const ChannelStatistics& channel);

/// The measurements of one channel that the decision and the shape of the noise follow from.
struct ChannelNoise {
  ChannelKind kind = ChannelKind::kLuma;
  std::optional<DifferenceNoise> differences;
  std::optional<Spectrum> single;  ///< of the flattest blocks of single frames
  double base = 0;                 ///< first estimate of the standard deviation, which levels are relative to
  double step = 0;                 ///< quantization step
};

ChannelNoise channel_noise(const ChannelStatistics& channel, ChannelKind kind, double step);

/// Numbers that describe a channel. Logarithms have the base 2. A feature that is not known is kUnknown.
enum class Feature : std::uint8_t {
  kBase,            ///< log of the first estimate, in 8-bit code values
  kBaseInSteps,     ///< log of the first estimate, in quantization steps
  kFlattest,        ///< log of the deviation of the flattest blocks of single frames, relative to the base
  kWhite,           ///< log of the white noise of noise.h, relative to the base
  kSupportedWhite,  ///< log of the white noise without the texture of the flattest blocks, relative to the
                    ///< base
  kUpper,           ///< log of DifferenceNoise::most_variance, as a deviation, relative to the base
  kLeastClass,      ///< log of DifferenceNoise::least_level, relative to the base
  kTexture,         ///< log of the deviation of all blocks, relative to the base
  kLowestLevel,     ///< log of the level of the lowest thousandth of the blocks, relative to the base
  kLowLevels,       ///< log of the level of the lowest hundredth, relative to that of the lowest thousandth
  kTenthOfLevels,   ///< log of the level of the lowest tenth, relative to that of the lowest hundredth
  kHalfOfLevels,    ///< log of the median level, relative to that of the lowest tenth
  kSlope,           ///< log of slope_of() the differences
  kSlopeOfSingle,   ///< log of slope_of() the flattest blocks of single frames
  kFall,            ///< log of the ratio of the deviations at u + v of 5 and 6 to 3 and 4 in differences
  kRise,            ///< log of the ratio of the deviations at u + v of 1 and 2 to 3 and 4 in differences
  kUniformity,      ///< DifferenceNoise::uniformity
  kReliability,     ///< DifferenceNoise::reliability
  kVisibility,      ///< DifferenceNoise::visibility
  kFollowed,        ///< followed_share()
  kCopied,          ///< copied_share()
  kEvenness,        ///< Flatness::evenness
  kGrowthPower,     ///< Flatness::growth_power
  kFlattestRatio,  ///< log of the ratio of differences to texture in the 5 % of blocks with the least texture
  kLowRatio,       ///< log of this ratio in the next 10 %
  kHighRatio,      ///< log of this ratio in the blocks from 30 % to 50 %
  kGrowth,       ///< log of the growth of differences from the least textured 5 % to the blocks of 15 to 30 %
  kPower,        ///< growth of differences with texture, as an exponent
  kRepetition,   ///< log of the least ratio of single frames to differences over bands of frequencies
  kCurveSpread,  ///< log of the ratio of the greatest to the least value of the curve
  // Of PatchDeviations, for luma. Logarithms are relative to the base.
  kTenthOfPatches,  ///< log of the deviation of the quietest tenth
  kThirdOfPatches,  ///< log of the deviation of the quietest third
  kHalfOfPatches,   ///< log of the median deviation
  kEqualPatches,    ///< share of patches of equal samples
  kGrid,            ///< log of PatchDeviations::grid
  kCount,
};
inline constexpr int kFeatures = static_cast<int>(Feature::kCount);

/// Features are multiples of 1/64, limited to 16 bits.
using Features = std::array<std::int16_t, kFeatures>;
inline constexpr std::int16_t kUnknown = INT16_MIN;
inline constexpr double kFeatureUnit = 1.0 / 64;

/// `white`: the standard deviation of noise.h; 0 if not known. `patches`: of luma, or null.
Features features_of(const ChannelStatistics& channel, const ChannelNoise& noise, double white,
                     const PatchDeviations* patches = nullptr);

/// Share of copies among the blocks of frames that are not repeated; 1 if all frames are.
double copied_share(const ChannelStatistics& channel);

inline constexpr double kWhiteSlope = 0.85;   ///< least slope_of() the spectrum of white noise
inline constexpr double kGridOfCodec = 1.15;  ///< PatchDeviations::grid of pictures coded in 8x8 blocks

/// True if the noise differs from block to block, as after a codec. Coded noise has no curve by brightness:
/// its quiet classes are blocks that the codec has smoothed or repeated.
bool is_coded(const ChannelNoise& channel);

/// The noise of a channel at this standard deviation: its spectrum, curve and repetition. Coded noise of luma
/// is filtered best as white noise where the codec's blocks show (`in_blocks`), and where its high
/// frequencies are left. Elsewhere the camera or the grain of film has shaped it.
PlaneNoise shaped_noise(const ChannelNoise& channel, double sigma, bool in_blocks);

/// The noise of a channel as differences show it, near the noise `chosen` for filtering. `chosen` itself if
/// differences contain texture, or lack noise that repeats.
PlaneNoise measured_noise(const ChannelNoise& channel, const PlaneNoise& chosen);

// The choice of a channel's noise level from its features. A forest of decision trees, fitted to clips with
// known noise, predicts the loss in dB of the filter's result for each of several candidate levels; the level
// with the least loss is chosen, but for some coded noise not 0 (decide_noise()). bench/support/noise_zoo
// fits the trees and writes noise_forests.cpp. Sums of losses are integers.

/// A level that may be chosen: the anchor's level times 2^(thirds / 3). The anchor is a feature relative to
/// the base; kBase: the base itself; kCount: one code value, as a codec can remove noise from all
/// measurements. Candidates of one anchor are adjacent, in ascending order.
struct Candidate {
  Feature anchor;
  std::int8_t thirds;
};

/// Features up to the threshold lead to `below`, others to `above`: the number of a node or, if negative, the
/// complement of the number of a leaf.
struct ForestNode {
  std::uint8_t feature;
  std::int16_t threshold;
  std::int16_t below;
  std::int16_t above;
};

/// Each leaf has one letter for the loss without filtering, then one letter for the loss of each candidate.
struct Forest {
  std::span<const ForestNode> nodes;
  std::span<const std::int16_t> roots;  ///< nodes
  std::span<const std::string_view> leaves;
  std::span<const Candidate> candidates;
};

/// The digits, the letters A to W, and a to s stand for n from 0 to 51, and for losses of n^2 units.
constexpr int number_of_letter(char letter) {
  return letter <= '9' ? letter - '0' : letter <= 'W' ? letter - 'A' + 10 : letter - 'a' + 33;
}
inline constexpr double kLossUnit = 16.0 / (51 * 51);  ///< in dB

/// The forests for luma (also gray, and the opponent channel Y) and for the other channels, with differences
/// of frames and for single frames.
struct Forests {
  Forest luma;
  Forest single_luma;
  Forest chroma;
  Forest single_chroma;
};
const Forests& forests();

struct NoiseDecision {
  double sigma = 0;            ///< standard deviation in 8-bit code values; 0: no noise
  double loss = 0;             ///< expected loss against the best level, in dB
  double loss_unfiltered = 0;  ///< expected loss of a level of 0
};

/// The decision for a channel with these features, which are those of `noise`.
NoiseDecision decide_noise(const Features& features, const ChannelNoise& noise);

}  // namespace limpid::noise
