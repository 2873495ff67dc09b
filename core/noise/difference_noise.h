#pragma once

#include <optional>

#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/spectrum.h"

// Noise measured on differences of frames along motion, by classes of brightness. In a class the blocks of
// least texture are measured, and what is left of texture in their differences is extrapolated to no texture.

namespace limpid::noise {

enum class ChannelKind {
  kLuma,      ///< or gray, or the opponent channel Y
  kChroma,    ///< of YUV, in classes by luma's brightness
  kOpponent,  ///< U and V of RGB
};

struct DifferenceNoise {
  Spectrum spectrum{};  ///< its mean is the mean variance of the picture's noise
  NoiseShape::Curve curve{};
  /// The variance with what texture leaves in the differences: median over the classes.
  double most_variance = 0;
  /// The least deviation of the classes of brightness that have a share of the blocks worth counting.
  double least_level = 0;
  /// The share of a block's own energy that the noise explains, where noise was measured: near 1 in flat
  /// places, near 0 where all blocks have texture that hides it. Mean over the classes.
  double visibility = 0;
  /// How much alike blocks of similar brightness and texture are: their energies' geometric mean relative to
  /// the arithmetic one. 0.95 and more in a camera's noise, 0.5 to 0.95 in noise that was coded; what is left
  /// of texture where motion was followed badly is in few blocks. Mean over the classes.
  double uniformity = 0;
  /// 0 to 1: how many of the classes have noise that is uniform. Mean over the classes.
  double reliability = 0;
};

/// Nothing where too few blocks were followed.
std::optional<DifferenceNoise> difference_noise(const ChannelStatistics& channel, ChannelKind kind);

/// The share of blocks that were followed, of those that are neither constant nor copies; 1 if there are
/// none.
double followed_share(const ChannelStatistics& channel);

}  // namespace limpid::noise
