#pragma once

#include <optional>

#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise measured on differences of frames along motion, in classes of brightness. In each class, the blocks
// with the least texture are measured, and the texture that remains in their differences is extrapolated to
// zero.

namespace limpid::noise {

enum class ChannelKind {
  kLuma,      ///< or gray, or the opponent channel Y
  kChroma,    ///< U and V of YUV, in classes of luma's brightness
  kOpponent,  ///< U and V of RGB
};

struct DifferenceNoise {
  Spectrum spectrum{};  ///< its mean is the mean variance of the picture's noise
  NoiseShape::Curve curve{};
  /// Variance including remaining texture in the differences: median over the classes.
  double most_variance = 0;
  /// Least standard deviation among the classes of brightness with a sufficient share of the blocks.
  double least_level = 0;
  /// Share of the measured blocks' own energy that the noise explains: near 1 in flat areas, near 0 if all
  /// blocks have texture that hides the noise. Mean over the classes.
  double visibility = 0;
  /// Similarity of blocks of equal brightness and texture: ratio of the geometric to the arithmetic mean of
  /// their energies. 0.95 and more for a camera's noise, 0.5 to 0.95 for coded noise, less for texture from
  /// badly followed motion, which is in few blocks. Mean over the classes.
  double uniformity = 0;
  /// Share of the classes with uniform noise, 0 to 1. Mean over the classes.
  double reliability = 0;
};

/// Nothing if too few blocks were followed.
std::optional<DifferenceNoise> difference_noise(const ChannelStatistics& channel, ChannelKind kind);

/// The share of followed blocks among those that are neither constant nor copies; 1 if there are none.
double followed_share(const ChannelStatistics& channel);

}  // namespace limpid::noise
