// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/parameter.h

enum class Transform2d : std::uint8_t { kDct, kBior15, kWalshHadamard, kHaar };
enum class Transform1d : std::uint8_t { kWalshHadamard, kHaar };
/// Selection of a group's patches: the candidates nearest to the reference patch, as in the paper, or those
/// whose distance is nearest to the distance expected from noise alone (core/bm3d/bm3d_parameters.h), which
/// has better results.
enum class Matching : std::uint8_t { kNearest, kStatistical };

/// The parameters of each step of BM3D ([Dabov 2007], Table I).
struct Bm3dStep {
  int patch_size =
      8;            ///< k: patches are k x k samples; 2 to 16, a power of two unless the transform is the DCT
  int spacing = 3;  ///< p: distance between reference patches, 1 to patch_size
  int max_group_size = 16;  ///< N: maximum number of patches in a group, 1 to 64; groups are rounded down to
                            ///< a power of two
  int search_window = 39;   ///< side of the square search window, odd, 1 to 129
  float max_distance =
      3000;  ///< tau: maximum mean squared difference of a match, in squared 8-bit code values, >= 0
  float kaiser_beta = 2;  ///< shape of the aggregation window, 0 (flat) to 8
  Transform2d transform_2d = Transform2d::kDct;
  Transform1d transform_1d = Transform1d::kHaar;
  bool operator==(const Bm3dStep&) const = default;
};

/// BM3D: a hard-thresholding step that makes the basic estimate, and an optional Wiener step.
struct Bm3dParameters {
  Bm3dStep hard_threshold;
  float lambda =
      2.7F;  ///< coefficients of magnitude <= lambda * sigma are zeroed in the first step; > 0, <= 100
  std::optional<Bm3dStep> wiener;
  Matching matching = Matching::kStatistical;
  bool operator==(const Bm3dParameters&) const = default;

  static const FilterDescription<Bm3dParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

/// Named sets of BM3D parameters, from fastest to best, for noise of any level. kNp is the default.
enum class Profile : std::uint8_t { kFast, kLc, kNp, kHigh };

Bm3dParameters bm3d_profile(Profile profile);

/// Names on the command line ("dct", "np", ...). The parser throws a UsageError that lists the legal names.
std::string_view to_string(Profile profile);
std::string_view to_string(Transform2d transform);
std::string_view to_string(Transform1d transform);
std::string_view to_string(Matching matching);
Profile parse_profile(std::string_view name);

// The values that block matching compares, as defined for all engines. Each engine has its own search.

/// Conversion of a guide plane to the values that are compared: integers, round(scale (v - 128) +
/// kMatchingBias) for the code value v, clamped to +-limit or folded into it, so that distances are exact.
struct MatchingScale {
  bool bytes = false;  ///< true: the guide has integer code values of 0 to 255, and scale is 1
  int scale = 1;
  int limit = 128;
  /// True: values beyond +-limit are mirrored at it as often as needed, a triangle wave. Equal contents
  /// remain equal, and small differences remain as large.
  bool folds = false;

  /// The distance after which the triangle wave repeats.
  constexpr float period() const { return static_cast<float>(4 * limit); }
  /// The value of the triangle wave for an integer within half a period of 0. Also for device code.
  constexpr float folded(float rest) const {
    const float least = -static_cast<float>(2 * limit) - rest;
    const float most = static_cast<float>(2 * limit) - rest;
    const float value = rest < most ? rest : most;
    return value > least ? value : least;
  }
};

/// Means of integers are often half-way between two matching values. The bias rounds them up, despite the
/// rounding errors of single precision.
inline constexpr float kMatchingBias = 0x1p-10F;

/// `whole_code_values`: the guide is made of 8-bit samples. Otherwise values have steps of 1/4 code value,
/// which costs the second step no measurable quality, and a range of 256 code values around mid-gray. Half
/// floats then hold values exactly, floats hold distances of 8x8 patches exactly within 256 code values, and
/// 31 bits hold any distance: k^2 (2 limit)^2 < 2^31.
MatchingScale matching_scale(bool whole_code_values);

/// The mean in code values of a number of matching values, given their sum. Also for device code.
constexpr float brightness_of(int sum, int values, int scale) {
  return 128.0F + static_cast<float>(sum) / static_cast<float>(values * scale);
}

/// Statistical matching smooths the guide of the first step by [1 6 1] / 8 in both directions (borders are
/// mirrored about their last sample), and rounds the result as MatchingScale defines. 8-bit samples remain
/// integer code values.
inline constexpr int kGuideKernelSide = 1;
inline constexpr int kGuideKernelCenter = 6;
inline constexpr int kGuideKernelSum = 8;

/// The limits of a search, as sums of squared differences of matching values.
struct MatchingDistances {
  std::int32_t expected = 0;  ///< candidates are ordered by |d - expected|, then by row, then by column
  std::int32_t greatest = 0;  ///< limit of |d - expected|
};

/// The limits of the search in one step. `guide_sigma`: standard deviation of the noise in the noisy guide,
/// in code values, also for the second step. `second_step`: the guide is the basic estimate.
///
/// Two patches of equal content differ by their noise: E(d) = 2 sigma^2 per sample. The closest candidates
/// have noise similar to the reference patch's, which biases their mean toward it. The most likely candidates
/// have a distance near E(d) (Frosio and Kautz, "Statistical nearest neighbors for image denoising", TIP
/// 2019). On the six images of the literature, this gains 0.03 / 0.06 / 0.10 dB over nearest neighbors at
/// sigma 15 / 25 / 50. The best values are 0.9 E(d) for the smoothed guide's noise in the first step, and a
/// residual noise of sigma / 10, up to 2.5, in the second. Both are limited to half of tau.
MatchingDistances matching_distances(Matching matching, bool second_step, const Bm3dStep& step,
                                     const MatchingScale& scale, double guide_sigma);

}  // namespace limpid
