#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/filter_description.h

enum class Transform2d : std::uint8_t { kDct, kBior15, kWalshHadamard, kHaar };
enum class Transform1d : std::uint8_t { kWalshHadamard, kHaar };
/// How groups are transformed, in both steps: by the steps' 2D and 1D transforms, or by the discrete Fourier
/// transform, as a 2D one of the patches and a 1D one across them (Honzatko, "GPU acceleration of advanced
/// image denoising", 2015) or as one in 3D (Wang and Sun, "GPU-BM3D", 2018). The latter two give the same
/// spectra, by different kernels; they are for comparisons, and CUDA's engines alone have them.
enum class GroupTransform : std::uint8_t { kSeparable, kDft2dAnd1d, kFft3d };
/// Which candidates make a group: those nearest to the reference patch, as in the paper, or those whose
/// distance is nearest to what noise alone would make it (core/bm3d/matching.h), which is better.
enum class Matching : std::uint8_t { kNearest, kStatistical };

/// The parameters that both steps of BM3D have ([Dabov 2007], Table I).
struct Bm3dStep {
  int patch_size =
      8;            ///< k: patches are k x k samples; 2 to 16, a power of two unless the transform is the DCT
  int spacing = 3;  ///< p: distance between reference patches, 1 to patch_size
  int max_group_size =
      16;                  ///< N: most patches in a group, 1 to 64; groups are rounded down to a power of two
  int search_window = 39;  ///< side of the square of positions searched, odd, 1 to 129
  float max_distance =
      3000;  ///< tau: greatest mean squared difference of a match, squared 8-bit code values, >= 0
  float kaiser_beta = 2;  ///< shape of the aggregation window, 0 (flat) to 8
  Transform2d transform_2d = Transform2d::kDct;
  Transform1d transform_1d = Transform1d::kHaar;
  bool operator==(const Bm3dStep&) const = default;
};

/// BM3D: a hard-thresholding step that makes the basic estimate, and a Wiener step unless left out.
struct Bm3dParameters {
  Bm3dStep hard_threshold;
  float lambda =
      2.7F;  ///< coefficients of magnitude <= lambda * sigma are zeroed in the first step; > 0, <= 100
  std::optional<Bm3dStep> wiener;
  Matching matching = Matching::kStatistical;
  GroupTransform transform = GroupTransform::kSeparable;
  bool operator==(const Bm3dParameters&) const = default;

  static const FilterDescription<Bm3dParameters>& description();
  /// Throws UsageError naming the parameter and its legal range.
  void validate() const;
};

/// Named sets of BM3D parameters, from fastest to best, for noise of any strength. kNp is the default.
enum class Profile : std::uint8_t { kFast, kLc, kNp, kHigh };

Bm3dParameters bm3d_profile(Profile profile);

/// Names as on the command line ("dct", "np", ...). The parsers throw UsageError listing the legal names.
std::string_view to_string(Profile profile);
std::string_view to_string(Transform2d transform);
std::string_view to_string(Transform1d transform);
std::string_view to_string(Matching matching);
std::string_view to_string(GroupTransform transform);
Profile parse_profile(std::string_view name);
Transform2d parse_transform_2d(std::string_view name);
Transform1d parse_transform_1d(std::string_view name);

}  // namespace limpid
