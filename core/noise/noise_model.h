#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

namespace limpid {

/// The brightnesses at which the noise of a plane is told apart, in 8-bit code values.
struct BrightnessScale {
  static constexpr int kSteps = 16;
  float origin = 0;
  float spacing = 16;
  bool operator==(const BrightnessScale&) const = default;

  /// Where a brightness is on the scale, in steps. For device code, too.
  constexpr float position_of(float brightness) const { return (brightness - origin) * (1.0F / spacing); }
};

/// How a plane's noise differs from noise that is white and the same at every brightness, which is what a
/// NoiseShape that nobody has changed tells.
struct NoiseShape {
  static constexpr int kFrequencies = 8;

  /// Relative variances of the coefficients of the orthonormal 8x8 DCT-II of the noise, [8 v + u] for the
  /// vertical frequency v and the horizontal one u; their mean is 1. They tell how noise of neighboring
  /// samples depends on each other, which demosaicking, scaling and codecs bring about.
  std::array<float, kFrequencies * kFrequencies> spectrum;
  /// Deviations by brightness (of the plane; of luma, for YUV's chroma), relative to the plane's, at the
  /// points of the scale (deviation_at()).
  struct Curve : std::array<float, BrightnessScale::kSteps + 1> {
    BrightnessScale scale;
    bool operator==(const Curve&) const = default;
  };
  Curve curve;
  /// How much of it is common to successive frames: the correlation of the noise of a frame with that of the
  /// frame before, along motion, 0 to less than 1. Codecs and cameras' own filters bring that about. The
  /// noise of frames that are k apart is taken to have a correlation of repetition^k.
  float repetition = 0;

  constexpr NoiseShape() {
    spectrum.fill(1);
    curve.fill(1);
  }
  bool operator==(const NoiseShape&) const = default;

  bool is_white() const;
};

/// The value of a curve at BrightnessScale::position_of() a brightness: linear between its points, the value
/// of the nearest point beyond them. For device code, too.
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
  float sigma = 0;  ///< standard deviation, in 8-bit code values whatever the bit depth of the samples
  NoiseShape shape;
  bool operator==(const PlaneNoise&) const = default;
};

/// Where a noise estimate comes from, or why nothing was found.
enum class NoiseSource : std::uint8_t {
  kGiven,           ///< no estimate
  kMotion,          ///< differences of frames along motion
  kSingleFrames,    ///< the flattest blocks of single frames
  kClean,           ///< nothing: no more than what clean pictures have
  kBelowPrecision,  ///< nothing: less than the samples' precision
  kRepeatedFrames,  ///< nothing: frames are copies of each other, so they are no evidence of noise
  kMotionLost,      ///< nothing: motion could not be followed, and single frames don't support an estimate
};

/// What supports the estimate of luma's noise, or of RGB's.
struct NoiseEvidence {
  NoiseSource source = NoiseSource::kGiven;
  float certainty = 1;  ///< 0 to 1
  /// The factor by which the level was lowered because the filter removed texture with it (ResidualCheck).
  float lowered = 1;
  bool operator==(const NoiseEvidence&) const = default;
};

/// The noise of a video: for each color plane (Y, U, V or R, G, B or gray) its standard deviation, in 8-bit
/// code values whatever the bit depth of the samples, and its shape. A plane with 0 is passed through
/// unchanged. White noise of one sigma is the simplest: NoiseModel{{10, 10, 10}}.
struct NoiseModel {
  std::array<float, 3> sigma{};
  std::array<NoiseShape, 3> shape{};
  /// RGB only: the noise of the opponent channels (core/bm3d/bm3d_plan.h), where that of the planes depends
  /// on each other, as demosaicking makes it. Where sigma is 0, planes are taken to be independent.
  std::array<PlaneNoise, 3> opponent{};
  /// Of U and V whose noise was found to be white: their sigma, times this, is what they are best filtered
  /// with if they are subsampled. 0: it isn't known.
  std::array<float, 3> chroma_strength{};
  NoiseEvidence evidence{};
  bool operator==(const NoiseModel&) const = default;

  /// Whether any plane has noise.
  bool has_noise() const {
    return std::any_of(sigma.begin(), sigma.end(), [](float each) { return each > 0; });
  }
  PlaneNoise plane(int p) const { return {sigma[p], shape[p]}; }

  /// Throws UsageError unless all deviations are in 0 to 255, shapes are of finite, positive numbers and
  /// repetitions are in 0 to less than 1.
  void validate() const;
};

// What follows from a spectrum. Noise with the spectrum S has the autocovariance R, S = M R M^T with the
// matrix M that noise_covariance() inverts, if it is alike upwards and downwards, to the left and to the
// right, and does not reach beyond 7 samples.

/// Covariances of samples that are (dx, dy) apart, [8 dy + dx], relative to the variance.
std::array<double, 64> noise_covariance(const NoiseShape& shape);

/// Relative variances of the coefficients [k v + u] of a k x k transform whose 1D matrix (row-major) has rows
/// of unit norm. All are exactly 1 for white noise.
std::vector<float> coefficient_variances(const NoiseShape& shape, const std::vector<double>& rows);

/// The variance that is left of noise that is filtered by the outer product of two 1D kernels.
double filtered_variance(const NoiseShape& shape, const std::vector<double>& horizontal,
                         const std::vector<double>& vertical);

}  // namespace limpid
