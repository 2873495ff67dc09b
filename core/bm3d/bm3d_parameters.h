// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/filter_description.h

enum class Transform2d : std::uint8_t { kDct, kBior15, kWalshHadamard, kHaar };
enum class Transform1d : std::uint8_t { kWalshHadamard, kHaar };
/// The transform of groups in both steps. kSeparable: the 2D and 1D transforms of the steps. kDft2dAnd1d: the
/// discrete Fourier transform, 2D of each patch, then 1D across patches (Honzatko, "GPU acceleration of
/// advanced image denoising", 2015). kFft3d: the same transform in 3D (Wang and Sun, "GPU-BM3D", 2018). The
/// latter two give equal spectra by different kernels. They exist for comparisons, on CUDA engines only.
enum class GroupTransform : std::uint8_t { kSeparable, kDft2dAnd1d, kFft3d };
/// Selection of a group's patches: the candidates nearest to the reference patch, as in the paper, or those
/// whose distance is nearest to the distance expected from noise alone (core/bm3d/matching.h), which has
/// better results.
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
  GroupTransform transform = GroupTransform::kSeparable;
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
std::string_view to_string(GroupTransform transform);
Profile parse_profile(std::string_view name);

}  // namespace limpid
