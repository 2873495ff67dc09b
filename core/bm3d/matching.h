#pragma once

#include <cstdint>

#include "core/bm3d/bm3d_parameters.h"

// What block matching compares, and how: the definition that all engines follow. The search itself is theirs.

namespace limpid {

/// The values of a guide plane that matching compares: integers, round(scale (v - 128) + kMatchingBias) for
/// the code value v, clamped to +-limit, so that distances are exact.
struct MatchingScale {
  bool bytes = false;  ///< the guide has whole code values of 0 to 255, and scale is 1
  int scale = 1;
  int limit = 128;
};

/// Means of integers are often half-way between two matching values. They are rounded up, whatever single
/// precision has made of them.
inline constexpr float kMatchingBias = 0x1p-10F;

/// `whole_code_values`: the guide is made of 8-bit samples. Otherwise values have 1/4 code value, which costs
/// the second step nothing measurable, and reach 256 code values about mid-gray. So half floats hold them
/// exactly, floats the distances of patches of 8x8 within 256 code values, and 31 bits any distance: k^2 (2
/// limit)^2 < 2^31.
MatchingScale matching_scale(bool whole_code_values);

/// The mean of what so many matching values stand for, in code values, given their sum. For device code, too.
constexpr float brightness_of(int sum, int values, int scale) {
  return 128.0F + static_cast<float>(sum) / static_cast<float>(values * scale);
}

/// Statistical matching smooths the first step's guide by [1 6 1] / 8 in both directions (borders mirrored
/// about their last sample) and rounds the result as MatchingScale says; 8-bit samples give whole code values
/// again.
inline constexpr int kGuideKernelSide = 1;
inline constexpr int kGuideKernelCenter = 6;
inline constexpr int kGuideKernelSum = 8;

/// The bounds of a search, as sums of squared differences of matching values.
struct MatchingDistances {
  std::int32_t expected = 0;  ///< candidates are ordered by |d - expected|, then by row, then by column
  std::int32_t greatest = 0;  ///< and must have |d - expected| <= greatest
};

/// For a step whose guide has noise of deviation `guide_sigma` (code values; that of the noisy guide, in both
/// steps). `second_step`: the guide is the basic estimate.
///
/// Two patches of the same content differ by their noise: E(d) = 2 sigma^2 per sample. The closest candidates
/// are those whose noise is alike, which biases their mean toward the reference patch's noise; the likeliest
/// are those whose distance is near E(d) (Frosio and Kautz, "Statistical nearest neighbors for image
/// denoising", TIP 2019). Measured here on the six images of the literature, against nearest neighbors: 0.03
/// / 0.06 / 0.10 dB at sigma 15 / 25 / 50. In the first step 0.9 E(d) for the smoothed guide's noise was
/// best, in the second a residual noise of sigma / 10, up to 2.5; both are kept under half of tau.
MatchingDistances matching_distances(Matching matching, bool second_step, const Bm3dStep& step,
                                     const MatchingScale& scale, double guide_sigma);

}  // namespace limpid
