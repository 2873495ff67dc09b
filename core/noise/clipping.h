// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// Noise that is clipped at the ends of the sample range. Its mean is not 0: it raises dark areas and lowers
// bright areas by up to 0.4 standard deviations, and the estimates with them. At a true value x above the
// lower end, the mean of noisy samples is x P(x / sigma) + sigma p(x / sigma), with the normal distribution P
// and its density p, so the true value follows from the mean (A. Foi, "Clipped noisy images: heteroskedastic
// modeling and practical denoising", Signal Processing 2009). All engines correct their results for this
// shift, with equal arithmetic.

namespace limpid {

/// Tables for one end of the range of a plane's samples, indexed by the distance of an estimate from it, in
/// whole 8-bit code values.
struct ClippedEnd {
  static constexpr int kDistances = 257;

  /// difference between the estimate and the true value, which is nearer to the end
  std::array<float, kDistances> shift{};
  /// The expected share of noisy samples at the end, in units of 2^-16. 0 at distances where samples are not
  /// counted: far from the end, and so near that noise-free samples would also be at the end.
  std::array<std::uint32_t, kDistances> share{};
};

using ClippedEnds = std::array<ClippedEnd, 2>;  ///< 0 and the greatest sample

/// Tables for noise of this level and curve in a plane of integer samples. Nothing if the noise is too weak
/// to change results, or if the plane does not carry brightness.
std::optional<ClippedEnds> clipped_ends(const FrameFormat& format, int plane, const PlaneNoise& noise);

/// Counts over a plane's samples whose estimates are at distances where samples are counted: the number of
/// samples at the end, and the sum of their expected shares.
struct ClippedCount {
  std::uint64_t at_end = 0;
  std::uint64_t shares = 0;
};

/// The share of Gaussian noise's variance that remains after clipping at the ends of the samples' range.
class Censoring {
 public:
  Censoring();

  /// The remaining share of the variance of noise of standard deviation `sigma` in a range from 0 to `white`,
  /// where the mean of the clipped samples is `mean`. 1 if sigma is 0.
  constexpr float gain(float mean, float sigma, float white) const {
    return sigma > 0 ? variance(mean / sigma) * variance((white - mean) / sigma) : 1;
  }

 private:
  static constexpr int kEntriesPerUnit = 64;
  static constexpr int kReach = 4;  // nothing is clipped beyond this distance

  // The remaining variance of noise of unit variance whose values beyond one end of the range are moved to
  // that end. `distance`: from that end to the mean of the result.
  constexpr float variance(float distance) const {
    const float within = std::min(std::max(distance, 0.0F), float{kReach});
    const int half_entries = static_cast<int>(within * (2 * kEntriesPerUnit));
    return variances_[(half_entries + 1) / 2];
  }

  std::array<float, kReach * kEntriesPerUnit + 1> variances_{};
};

// The functions below are for device code, too.

/// Distance from the end in code values, for `steps` samples and `scale` samples per code value.
constexpr int clipped_distance(int steps, int scale) { return (steps + scale / 2) / scale; }

/// The part of the shift to correct: 0 unless about as many samples are at the end as expected. There are
/// fewer if the noise is weaker there than its model, or if nothing was clipped. The part is always less than
/// 1, because the correction increases errors of estimates up to twofold.
constexpr float clipped_weight(const ClippedCount& count) {
  constexpr double kLeastSamples = 32;
  constexpr double kNone = 0.25;
  constexpr double kAll = 0.75;
  constexpr double kMost = 0.75;
  const double expected = static_cast<double>(count.shares) / 65536;
  if (expected < kLeastSamples) {
    return 0;
  }
  const double weight = (static_cast<double>(count.at_end) / expected - kNone) / (kAll - kNone);
  return static_cast<float>(kMost * (weight < 0 ? 0 : weight > 1 ? 1 : weight));
}

/// The shift at a fractional distance.
constexpr float clipped_shift(const float* shifts, float distance) {
  const int i = static_cast<int>(distance);
  return i >= ClippedEnd::kDistances - 1
             ? 0
             : shifts[i] + (distance - static_cast<float>(i)) * (shifts[i + 1] - shifts[i]);
}

/// The corrected value of `sample` (0 to `greatest`, `scale` per code value), given the shifts and weights of
/// both ends.
constexpr int without_clipping(int sample, int greatest, int scale, const float* low, float low_weight,
                               const float* high, float high_weight) {
  const float unit = 1.0F / static_cast<float>(scale);
  const float down = low_weight * clipped_shift(low, static_cast<float>(sample) * unit);
  const float up = high_weight * clipped_shift(high, static_cast<float>(greatest - sample) * unit);
  const float moved = static_cast<float>(sample) + (up - down) * static_cast<float>(scale) + 0.5F;
  return moved < 0 ? 0 : moved >= static_cast<float>(greatest) ? greatest : static_cast<int>(moved);
}

}  // namespace limpid
