#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// Noise that the ends of the sample range cut off. Its mean is not 0: it lifts what is dark, and lowers what
// is bright, by up to 0.4 deviations, and so it does their estimates. About a truth that is x above the lower
// end, the mean of noisy samples is x P(x / sigma) + sigma p(x / sigma), with the normal distribution P and
// its density p, so that the truth follows from the mean (A. Foi, "Clipped noisy images: heteroskedastic
// modeling and practical denoising", Signal Processing 2009). All engines undo it in results, in the same
// arithmetic.

namespace limpid {

/// Of one end of the range of a plane's samples, by how far estimates are from it, in whole 8-bit code
/// values.
struct ClippedEnd {
  static constexpr int kDistances = 257;

  /// How much nearer to the end the truth is.
  std::array<float, kDistances> shift{};
  /// The share of noisy samples that the noise puts at the end, in 2^-16, where they are counted: near the
  /// end, but not so near that they would be there without noise, too; 0 elsewhere.
  std::array<std::uint32_t, kDistances> share{};
};

using ClippedEnds = std::array<ClippedEnd, 2>;  ///< 0 and the greatest sample

/// For noise of that deviation and curve in a plane of integer samples. Nothing where it is too weak for
/// results to change, or the plane is no brightness.
std::optional<ClippedEnds> clipped_ends(const FrameFormat& format, int plane, const PlaneNoise& noise);

/// Keeps what clipped_ends() has made for the planes of a stream, whose noise seldom changes.
class ClippedEndsOfPlanes {
 public:
  const std::optional<ClippedEnds>& of(const FrameFormat& format, int plane, const PlaneNoise& noise);

 private:
  struct Made {
    FrameFormat format;
    PlaneNoise noise;
    std::optional<ClippedEnds> ends;
  };
  std::array<std::optional<Made>, 3> made_;
};

/// Of the samples of a plane whose estimates are where samples are counted: how many are at the end, and the
/// sum of their shares.
struct ClippedCount {
  std::uint64_t at_end = 0;
  std::uint64_t shares = 0;
};

// For device code, too.

/// The distance that a sample counts as, `steps` samples from the end, of `scale` in a code value.
constexpr int clipped_distance(int steps, int scale) { return (steps + scale / 2) / scale; }

/// How much of the shift to undo: none unless about as many samples are at the end as the noise would put
/// there. They aren't if the noise is weaker there than told, or nothing was cut off. Never all of it, as
/// what errors the estimates have grows with it, up to double.
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

/// What a shift is between whole distances.
constexpr float clipped_shift(const float* shifts, float distance) {
  const int i = static_cast<int>(distance);
  return i >= ClippedEnd::kDistances - 1
             ? 0
             : shifts[i] + (distance - static_cast<float>(i)) * (shifts[i + 1] - shifts[i]);
}

/// The sample in place of `sample`, 0 to `greatest`, of `scale` in a code value, given both ends' shifts and
/// weights.
constexpr int without_clipping(int sample, int greatest, int scale, const float* low, float low_weight,
                               const float* high, float high_weight) {
  const float unit = 1.0F / static_cast<float>(scale);
  const float down = low_weight * clipped_shift(low, static_cast<float>(sample) * unit);
  const float up = high_weight * clipped_shift(high, static_cast<float>(greatest - sample) * unit);
  const float moved = static_cast<float>(sample) + (up - down) * static_cast<float>(scale) + 0.5F;
  return moved < 0 ? 0 : moved >= static_cast<float>(greatest) ? greatest : static_cast<int>(moved);
}

}  // namespace limpid
