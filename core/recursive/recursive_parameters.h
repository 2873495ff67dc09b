// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "core/frame/reach.h"

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/parameter.h

/// The recursive filter: each frame is merged with the last result along motion, by a Kalman gain for each
/// DCT coefficient of a patch (Arias and Morel, "Kalman filtering of patches for frame-recursive video
/// denoising", CVPRW 2019; the merge of DCT coefficients as in Hasinoff et al., "Burst photography for high
/// dynamic range and low-light imaging on mobile cameras", SIGGRAPH Asia 2016). docs/algorithms.md has the
/// definition.
struct RecursiveParameters {
  int spacing = 4;          ///< distance between patches of the first step, 1 to 8
  int second_spacing = 3;   ///< distance between patches of the second step
  int motion_searches = 2;  ///< 1: motion of the noisy frame only; 2: also of the first step's estimate
  /// Threshold: coefficients of magnitude <= lambda * sigma depend on the pilot; > 0, <= 100.
  float lambda = 2.6F;
  bool operator==(const RecursiveParameters&) const = default;

  static const FilterDescription<RecursiveParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

Reach reach_of(const RecursiveParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class RecursiveProfile : std::uint8_t { kFast, kNp };

RecursiveParameters recursive_profile(RecursiveProfile profile);

}  // namespace limpid

// The recursive filter as all engines compute it (docs/algorithms.md). Constant expressions may be used in
// device code. The values maximize the PSNR of seven clips at sigma 20 (bench/results.md).
//
// Variances of coefficients are in units of the noise's variance of that coefficient.

namespace limpid::recursive {

inline constexpr int kPatch = 8;
inline constexpr float kKaiserBeta = 2;

/// Number of frames after which results are within 0.1 dB of those of a stream that began long before.
inline constexpr int kFramesToSettle = 12;

/// Variance that is added to the state for each frame, for errors of motion and interpolation.
inline constexpr float kAddedVariance = 0.005F;

/// A patch has no prior if the mean square of its innovation exceeds the expectation for noise by this
/// factor.
inline constexpr float kGate = 2.5F;

/// The variance by which the scene has changed is kChange (T - kInnovation (1 + v)) in the first step and
/// kChange T in the second. T is the mean square of the innovation over 3 x 3 coefficients. In noise alone, T
/// exceeds kInnovation (1 + v) in 2.5 % of the cases.
inline constexpr float kChange = 1.5F;
inline constexpr float kInnovation = 1.942F;

/// Factor of the noise variance in shrinkage by a pilot.
inline constexpr float kShrinkage = 0.7F;

/// Minimum variance of a patch's estimate. The weight of a patch is the reciprocal of the variance.
inline constexpr float kLeastVariance = 0.05F;

/// A frame is treated as a first frame if a greater share of the patches of luma has no prior.
inline constexpr float kMostUnknown = 0.6F;

// A frame repeats the last one if no block of 8 x 8 samples differs from it by more than kRepeatLimit, and
// the share kRepeatShare of blocks by no more than kRepeatNear: mean squared differences in units of the
// noise's variance, of which independent noise makes 2. A repeated frame that a codec has stored differs
// less.
inline constexpr float kRepeatLimit = 0.5F;
inline constexpr float kRepeatNear = 0.1F;
inline constexpr float kRepeatShare = 0.6F;

/// Values between samples are interpolated by a Lanczos kernel of four lobes, at eighths of a sample.
inline constexpr int kEighths = 8;
inline constexpr int kTaps = 8;
inline constexpr int kTapsBefore = 3;

/// Interpolation weights [eighths][tap], whose sum is 1. Tap i belongs to the sample i - kTapsBefore.
std::array<std::array<float, kTaps>, kEighths> interpolation_weights();

/// Displacement of a block of luma in the state, in eighths of a sample.
struct EighthVector {
  int x = 0;
  int y = 0;
  constexpr bool operator==(const EighthVector&) const = default;
};

/// Side of the window around a block in which the fraction of its vector is estimated.
inline constexpr int kWindow = 16;
inline constexpr int kWindowMargin = (kWindow - kPatch) / 2;

/// Sums over the window of the guides of both pictures, the reference shifted by the whole-sample vector:
/// products of its differences (after - before) along each axis with each other, and with the current picture
/// minus the reference.
struct GradientSums {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
  std::int32_t xt = 0;
  std::int32_t yt = 0;
};

/// The fraction of a vector by one Gauss-Newton step, at most one sample along each axis.
constexpr EighthVector fraction_of(const GradientSums& sums) {
  constexpr std::int64_t kRegularization = 4 * 4096;
  const std::int64_t xx = sums.xx + kRegularization;
  const std::int64_t yy = sums.yy + kRegularization;
  const std::int64_t xy = sums.xy;
  const std::int64_t determinant = xx * yy - xy * xy;
  const auto eighths = [determinant](std::int64_t numerator) {
    // Rounded to the nearest and bounded, without a division of 64 bits, which takes long on GPUs.
    const std::int64_t twice = 4 * kEighths * (numerator < 0 ? -numerator : numerator);
    int rounded = 0;
    while (rounded < kEighths && twice >= (2 * rounded + 1) * determinant) {
      ++rounded;
    }
    return numerator < 0 ? -rounded : rounded;
  };
  return {eighths(yy * sums.xt - xy * sums.yt), eighths(xx * sums.yt - xy * sums.xt)};
}

/// The guide interpolated between four samples, given the offset from the first one in eighths, 0 to 7.
constexpr int between(int first, int right, int below, int diagonal, int x, int y) {
  return ((kEighths - x) * (kEighths - y) * first + x * (kEighths - y) * right + (kEighths - x) * y * below +
          x * y * diagonal + 32) >>
         6;
}

/// Minimum reduction of the sum of absolute differences over the window for which a fraction is used.
constexpr int least_gain(float sigma) { return static_cast<int>(4 * sigma); }

/// A vector of luma, in eighths of a sample of a plane that is subsampled by 2^shift.
constexpr int subsampled(int eighths, int shift) {
  return shift == 0 ? eighths : (eighths + (1 << (shift - 1))) >> shift;
}

}  // namespace limpid::recursive
