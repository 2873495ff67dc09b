#pragma once

#include <array>
#include <cstdint>

// The recursive filter as all engines compute it (docs/algorithms.md). Constant expressions may be used in
// device code. The values maximize the PSNR of seven clips at sigma 20 (tests/benchmarks/results.md).
//
// Variances of coefficients are in units of the noise's variance of that coefficient.

namespace limpid::recursive {

inline constexpr int kPatch = 8;
inline constexpr float kKaiserBeta = 2;

/// Frames after which a result is within 0.1 dB of that of a stream that began long before.
inline constexpr int kFramesToSettle = 12;

/// Added to the state's variance for each frame: what motion and interpolation get wrong.
inline constexpr float kAddedVariance = 0.005F;

/// A patch has no prior if the mean square of its innovation is more than this many times what noise makes
/// it.
inline constexpr float kGate = 2.5F;

/// The variance by which the scene has changed: kChange (T - kInnovation (1 + v)), T the mean square of the
/// innovation over 3 x 3 coefficients, which noise alone exceeds in one of 40; in the second step kChange T.
inline constexpr float kChange = 1.5F;
inline constexpr float kInnovation = 1.942F;

/// The noise's variance that shrinkage by a pilot counts.
inline constexpr float kShrinkage = 0.7F;

/// A patch's weight is the reciprocal of its estimate's variance, of this at least.
inline constexpr float kLeastVariance = 0.05F;

/// A frame is a first one if more patches of luma than this share have no prior.
inline constexpr float kMostUnknown = 0.6F;

// A frame repeats the last one if no block of 8 x 8 samples differs from it by more than kRepeatLimit, and
// the share kRepeatShare of blocks by no more than kRepeatNear: mean squared differences in units of the
// noise's variance, of which independent noise makes 2. A repeated frame that a codec has stored differs
// less.
inline constexpr float kRepeatLimit = 0.5F;
inline constexpr float kRepeatNear = 0.1F;
inline constexpr float kRepeatShare = 0.6F;

/// Samples between samples are interpolated by Lanczos's kernel of four lobes, at eighths of a sample.
inline constexpr int kEighths = 8;
inline constexpr int kTaps = 8;
inline constexpr int kTapsBefore = 3;

/// Weights [eighths][tap], of sum 1; tap i belongs to the sample i - kTapsBefore.
std::array<std::array<float, kTaps>, kEighths> interpolation_weights();

/// Where a block of luma comes from in the state, in eighths of a sample from its own place.
struct EighthVector {
  int x = 0;
  int y = 0;
  constexpr bool operator==(const EighthVector&) const = default;
};

/// The fraction of a block's vector is found in a window of so many samples around the block.
inline constexpr int kWindow = 16;
inline constexpr int kWindowMargin = (kWindow - kPatch) / 2;

/// Sums over the window of both pictures' guides, the reference's along the whole vector: products of its
/// differences (after - before) along each axis, and of these with what the current picture is greater.
struct GradientSums {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
  std::int32_t xt = 0;
  std::int32_t yt = 0;
};

/// The fraction of the vector by one step of Gauss and Newton: at most a sample along each axis.
constexpr EighthVector fraction_of(const GradientSums& sums) {
  constexpr std::int64_t kRegularization = 4 * 4096;
  const std::int64_t xx = sums.xx + kRegularization;
  const std::int64_t yy = sums.yy + kRegularization;
  const std::int64_t xy = sums.xy;
  const std::int64_t determinant = xx * yy - xy * xy;
  const auto eighths = [determinant](std::int64_t numerator) {
    const std::int64_t magnitude = 2 * kEighths * (numerator < 0 ? -numerator : numerator);
    const std::int64_t rounded = (2 * magnitude + determinant) / (2 * determinant);
    const int bounded = rounded < kEighths ? static_cast<int>(rounded) : kEighths;
    return numerator < 0 ? -bounded : bounded;
  };
  return {eighths(yy * sums.xt - xy * sums.yt), eighths(xx * sums.yt - xy * sums.xt)};
}

/// The guide between samples: by the four around the place, given eighths from the first, 0 to 7.
constexpr int between(int first, int right, int below, int diagonal, int x, int y) {
  return ((kEighths - x) * (kEighths - y) * first + x * (kEighths - y) * right + (kEighths - x) * y * below +
          x * y * diagonal + 32) >>
         6;
}

/// A fraction is taken if the sum of absolute differences over the window is less by more than this.
constexpr int least_gain(float sigma) { return static_cast<int>(4 * sigma); }

/// The same vector in a plane that is subsampled by 2^shift, in eighths of its samples.
constexpr int subsampled(int eighths, int shift) {
  return shift == 0 ? eighths : (eighths + (1 << (shift - 1))) >> shift;
}

}  // namespace limpid::recursive
