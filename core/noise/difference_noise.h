// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>

#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"

namespace limpid::noise {

/// Variances of the coefficients [8 v + u] of 8x8 blocks.
using Spectrum = std::array<double, kCoefficients>;

/// Mean of all coefficients, DC included.
double mean_of(const Spectrum& spectrum);
/// Mean of the coefficients of frequencies u + v from `first` to `last`, without the DC.
double mean_of(const Spectrum& spectrum, int first, int last);

/// Ratio of the standard deviations of high frequencies to those of medium frequencies.
double slope_of(const Spectrum& spectrum);

/// Maximum ratios of the variances at the frequencies u + v of 0, 1 and 2 to the mean variance at 3 and 4.
/// Shading of the picture exceeds these ratios.
using LowestRatios = std::array<double, 3>;
inline constexpr LowestRatios kRatiosOfLuma = {2, 2, 2};
inline constexpr LowestRatios kRatiosOfChroma = {7, 7, 7};
/// Grain of a film of three samples.
inline constexpr LowestRatios kRatiosOfCoarseGrain = {9, 6, 3.5};

/// The spectrum with its lowest frequencies limited.
Spectrum limited(Spectrum spectrum, const LowestRatios& ratios);

/// Blocks of several bins by activity.
struct BinSums {
  Energies energies;
  double texture = 0;  ///< sum over the blocks, of what they were selected by
  int last = 0;        ///< number of the last bin

  void add(const Energies& bin, int activity);
  Spectrum spectrum() const;
  double mean_texture() const { return texture / energies.blocks; }
};

// Noise measured on differences of frames along motion, in classes of brightness. In each class, the blocks
// with the least texture are measured, and the texture that remains in their differences is extrapolated to
// zero.

enum class ChannelKind {
  kLuma,      ///< gray, the luma of YUV, or the opponent channel Y
  kChroma,    ///< U and V of YUV, in classes of the brightness of luma
  kOpponent,  ///< U and V of RGB
};

/// Share of noise in the energy of the blocks (DifferenceNoise::visibility) below which the noise is hidden.
inline constexpr double kHiddenShare = 0.3;

struct DifferenceNoise {
  Spectrum spectrum{};  ///< spectrum of the noise, with the mean variance of the picture's noise as its mean
  Spectrum whole{};     ///< the spectrum with the lowest frequencies as measured, which include shading
  NoiseShape::Curve curve = NoiseShape().curve;
  /// Upper limit of the variance, which includes remaining texture in the differences: median over the
  /// classes.
  double most_variance = 0;
  /// Least standard deviation among the classes of brightness with a sufficient share of the blocks.
  double least_level = 0;
  /// Share of the measured blocks' energy that the noise explains: near 1 in flat areas, near 0 if all blocks
  /// have texture that hides the noise. Mean over the classes.
  double visibility = 0;
  /// Similarity of blocks of equal brightness and texture: ratio of the geometric to the arithmetic mean of
  /// their energies. 0.95 and more for noise of a camera, 0.5 to 0.95 for coded noise. Lower for texture that
  /// was followed badly, whose energy is concentrated in few blocks. Mean over the classes.
  double uniformity = 0;
  /// Share of the classes with uniform noise, 0 to 1. Mean over the classes.
  double reliability = 0;
};

/// Measures noise in differences. Nothing if too few blocks were followed.
std::optional<DifferenceNoise> difference_noise(const ChannelStatistics& channel, ChannelKind kind);

/// The share of followed blocks among those that are neither constant nor copies; 1 if there are none.
double followed_share(const ChannelStatistics& channel);

}  // namespace limpid::noise
