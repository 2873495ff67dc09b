// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"

namespace limpid::noise {

/// Variances of the coefficients [8 v + u] of 8x8 blocks.
using Spectrum = std::array<double, kCoefficients>;

/// 0 below `from`, 1 above `to`, linear between.
inline double ramp(double value, double from, double to) {
  return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

/// Mean of all coefficients, DC included.
double mean_of(const Spectrum& spectrum);
/// Mean of the coefficients of frequencies u + v from `first` to `last`, without the DC.
double mean_of(const Spectrum& spectrum, int first, int last);

/// Ratio of the standard deviations of high frequencies to those of medium frequencies.
double slope_of(const Spectrum& spectrum);

/// The spectrum scaled to the mean `variance`.
Spectrum scaled(Spectrum spectrum, double variance);

/// The spectrum without shading, which is a part of the lowest frequencies.
Spectrum without_shading(const Spectrum& spectrum, bool luma);

/// The spectrum of luma without the shading that exceeds grain of a film of three samples.
Spectrum with_coarse_grain(const Spectrum& spectrum);

/// The spectrum for chroma: without shading, and with an estimated DC. After demosaicking, chroma noise
/// consists of blotches larger than a block, whose DC cannot be measured in blocks. The DC continues the rise
/// of the spectrum from u + v = 2 to 1.
Spectrum with_blotches(const Spectrum& spectrum);

// Noise measured on differences of frames along motion, in classes of brightness. In each class, the blocks
// with the least texture are measured, and the texture that remains in their differences is extrapolated to
// zero.

enum class ChannelKind {
  kLuma,      ///< gray, the luma of YUV, or the opponent channel Y
  kChroma,    ///< U and V of YUV, in classes of the brightness of luma
  kOpponent,  ///< U and V of RGB
};

struct DifferenceNoise {
  Spectrum spectrum{};  ///< spectrum of the noise, with the mean variance of the picture's noise as its mean
  Spectrum whole{};     ///< the spectrum with the lowest frequencies as measured, which include shading
  NoiseShape::Curve curve{};
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
