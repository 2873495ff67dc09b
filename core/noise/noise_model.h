// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/frame/region.h"

namespace limpid {

/// The brightnesses at which a plane's noise is modeled, in 8-bit code values.
struct BrightnessScale {
  static constexpr int kSteps = 16;
  float origin = 0;
  float spacing = 16;
  bool operator==(const BrightnessScale&) const = default;

  /// The position of a brightness on the scale, in steps. Also for device code.
  constexpr float position_of(float brightness) const { return (brightness - origin) * (1.0F / spacing); }
};

/// The shape of a plane's noise: its differences from white noise of constant level. A default NoiseShape
/// describes white noise of constant level.
struct NoiseShape {
  static constexpr int kFrequencies = 8;

  /// Relative variances of the coefficients of the orthonormal 8x8 DCT-II of the noise, [8 v + u] for the
  /// vertical frequency v and the horizontal frequency u. Their mean is 1. They describe the correlation of
  /// neighboring samples' noise, which demosaicking, scaling and codecs cause.
  std::array<float, kFrequencies * kFrequencies> spectrum;
  /// Standard deviations at the points of the scale (deviation_at()), relative to the plane's standard
  /// deviation. The scale is the brightness of the plane, or of luma for the chroma of YUV.
  struct Curve : std::array<float, BrightnessScale::kSteps + 1> {
    BrightnessScale scale;
    bool operator==(const Curve&) const = default;
  };
  Curve curve;
  /// The share of the noise that is common to successive frames: the correlation of a frame's noise with the
  /// noise of the frame before, along motion, from 0 to less than 1. Codecs and filters of cameras cause it.
  /// Noise of frames at a distance of k has the correlation repetition^k.
  float repetition = 0;

  constexpr NoiseShape() {
    spectrum.fill(1);
    curve.fill(1);
  }
  bool operator==(const NoiseShape&) const = default;

  bool is_white() const;
};

/// The value of a curve at a position BrightnessScale::position_of(): linear between the points, constant
/// beyond the last ones. Also for device code.
constexpr float deviation_at(const float* curve, float position) {
  constexpr int kLast = BrightnessScale::kSteps;
  if (!(position > 0)) {
    return curve[0];
  }
  if (position >= kLast) {
    return curve[kLast];
  }
  const int i = static_cast<int>(position);
  return curve[i] + (position - static_cast<float>(i)) * (curve[i + 1] - curve[i]);
}
inline float deviation_at(const NoiseShape::Curve& curve, float brightness) {
  return deviation_at(curve.data(), curve.scale.position_of(brightness));
}

/// The noise of one plane or channel.
struct PlaneNoise {
  float sigma = 0;  ///< standard deviation, in 8-bit code values for any bit depth of the samples
  NoiseShape shape;
  bool operator==(const PlaneNoise&) const = default;
};

/// The noise of a video: for each color plane (Y, U, V or R, G, B or gray), its standard deviation in 8-bit
/// code values for any bit depth of the samples, and its shape. A plane with a level of 0 passes through
/// unchanged. White noise of sigma 10 is NoiseModel{{10, 10, 10}}.
struct NoiseModel {
  std::array<float, 3> sigma{};
  std::array<NoiseShape, 3> shape{};
  /// RGB only: the noise of the opponent channels (core/bm3d/bm3d_plan.h) if the noise of the planes is
  /// correlated, as after demosaicking. If sigma is 0, the noise of the planes is independent.
  std::array<PlaneNoise, 3> opponent{};
  /// The part of the picture that has the noise. The rest passes through unchanged. Nothing: the whole
  /// picture.
  std::optional<Region> area{};
  bool operator==(const NoiseModel&) const = default;

  /// True if any plane has noise.
  bool has_noise() const {
    return std::any_of(sigma.begin(), sigma.end(), [](float each) { return each > 0; });
  }
  PlaneNoise plane(int p) const { return {sigma[p], shape[p]}; }

  /// Throws UsageError unless all standard deviations are in 0 to 255, shapes have finite, positive numbers,
  /// and repetitions are from 0 to less than 1.
  void validate() const;
};

/// The source of a noise estimate, or the reason for a level of 0.
enum class NoiseSource : std::uint8_t {
  kGiven,           ///< no estimate
  kMotion,          ///< differences of frames along motion
  kSingleFrames,    ///< the flattest blocks of single frames
  kClean,           ///< no noise: not more than clean video has
  kBelowPrecision,  ///< no noise: less than the precision of the samples
  kCoded,           ///< no noise: a codec has removed most of it
  kHidden,          ///< no noise: texture hides noise below NoiseEvidence::limit
  kNotMeasurable,   ///< no estimate: nearly all samples are constant or at the ends of the sample range
  kRepeatedFrames,  ///< no estimate: frames are copies of each other and thus no evidence of noise
  kMotionLost,      ///< no estimate: motion could not be followed, and single frames do not support an
                    ///< estimate
};

/// The evidence for the noise estimate of luma or RGB.
struct NoiseEvidence {
  NoiseSource source = NoiseSource::kGiven;
  float certainty = 1;  ///< 0 to 1
  float limit = 0;      ///< kHidden: the standard deviation up to which noise would not be seen
  bool coded = false;   ///< the noise differs from block to block, as after a codec
  bool operator==(const NoiseEvidence&) const = default;
};

/// For U and V with white noise: the factor of sigma that gives the best filtering of subsampled chroma. 0:
/// unknown.
using ChromaStrength = std::array<float, 3>;

/// The noise of a video as measured, or as given by a user.
struct NoiseEstimate : NoiseModel {
  ChromaStrength chroma_strength{};
  NoiseEvidence evidence{};
  /// The noise of the planes of gray and YUV as it was measured. The model above is the one that filters best
  /// with, which is often stronger. A plane of level 0 was not measured better than the model says.
  std::array<PlaneNoise, 3> measured{};
  bool operator==(const NoiseEstimate&) const = default;

  /// The model of the noise as it was measured.
  NoiseModel as_measured() const;
};

/// True if no plane has levels that differ by more than this factor and by more than half a code value.
bool have_like_levels(const NoiseModel& a, const NoiseModel& b, float factor);

/// Levels that differ by a greater factor are not filtered in one window. The mean of two samples with noise
/// of the levels s and f s has the variance s^2 (1 + f^2) / 4, which is more than s^2 if f^2 is more than 3.
inline constexpr float kMostFactorInWindow = 1.7F;

// Properties derived from a spectrum. Noise of the spectrum S has the autocovariance R, S = M R M^T with the
// matrix M that noise_covariance() inverts, if R is symmetric upward and downward, left and right, and 0
// beyond 7 samples.

/// Covariances of samples at a distance of (dx, dy), [8 dy + dx], relative to the variance.
std::array<double, 64> noise_covariance(const NoiseShape& shape);

/// The inverse: NoiseShape::spectrum of noise with these covariances, relative to its mean.
std::array<double, 64> noise_spectrum(const std::array<double, 64>& covariance);

/// Relative variances of the coefficients [k v + u] of a k x k transform whose 1D matrix (row-major) has rows
/// of unit norm. All are exactly 1 for white noise.
std::vector<float> coefficient_variances(const NoiseShape& shape, const std::vector<double>& rows);

/// The remaining variance of noise that is filtered by the outer product of two 1D kernels.
double filtered_variance(const NoiseShape& shape, const std::vector<double>& horizontal,
                         const std::vector<double>& vertical);

}  // namespace limpid
