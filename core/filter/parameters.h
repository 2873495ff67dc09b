#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace limpid {

/// Standard deviation of additive white Gaussian noise for each colour plane (Y, U, V or R, G, B or gray), in
/// 8-bit code values whatever the bit depth of the samples. A plane with 0 is passed through unchanged.
struct NoiseLevel {
  std::array<float, 3> sigma{};
  bool operator==(const NoiseLevel&) const = default;

  /// Throws UsageError unless all are in 0 to 255.
  void validate() const;
};

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
      8;         ///< k: patches are k x k samples; 2 to 16, a power of two unless the transform is the DCT
  int step = 3;  ///< p: distance between reference patches, 1 to patch_size
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

  /// Throws UsageError naming the parameter and its legal range.
  void validate() const;
};

/// Named sets of BM3D parameters, from fastest to best, for noise of any strength. kNp is the default.
enum class Profile : std::uint8_t { kFast, kLc, kNp, kHigh };

Bm3dParameters bm3d_profile(Profile profile);

// The edge-preserving filters: every sample p of a plane becomes a weighted mean of the samples q of a window
// around it, I(p) + sum w(p, q) (I(q) - I(p)) / sum w(p, q). core/README.md says what all engines compute,
// core/edge_preserving/edge_preserving.h has the weights in the form that engines use. What is left open
// follows from the plane's noise level: resolve().

/// The bilateral filter (Tomasi and Manduchi 1998): w = exp(-|p - q|^2 / (2 spatial_sigma^2))
/// exp(-(I(p) - I(q))^2 / (2 range_sigma^2)), for q at most `radius` rows and columns away.
struct BilateralParameters {
  std::optional<int> radius = {};           ///< the window is 2 radius + 1 samples wide and high; 1 to 64
  std::optional<float> spatial_sigma = {};  ///< in samples, 0.1 to 1000
  std::optional<float> range_sigma = {};    ///< in 8-bit code values, 0.01 to 1000
  bool operator==(const BilateralParameters&) const = default;

  /// Throws UsageError naming the parameter and its legal range, as all of these do.
  void validate() const;
};

/// The bilateral filter in two passes (Indurkhya and Vallabhu 2023): the first, with `range_sigma`, only
/// gathers the weighted variance about each sample, V(p) = sum w (I(q) - I(p))^2 / sum w; the second is the
/// bilateral filter with the range sigma kappa sqrt(V(p) + epsilon) at p.
struct AdaptiveBilateralParameters {
  std::optional<int> radius = {};           ///< of both passes, 1 to 64
  std::optional<float> spatial_sigma = {};  ///< of both passes, in samples, 0.1 to 1000
  std::optional<float> range_sigma = {};    ///< of the first pass, in 8-bit code values, 0.01 to 1000
  std::optional<float> kappa = {};          ///< 0.01 to 100; the report's own is 0.5
  float epsilon = 0.01F;                    ///< in squared 8-bit code values, 0.0001 to 10000
  bool operator==(const AdaptiveBilateralParameters&) const = default;
  void validate() const;
};

/// Non-local means, sample by sample (Buades, Coll and Morel, IPOL 2011): w = exp(-max(d^2 - 2 sigma^2, 0) /
/// h^2), d^2 the mean squared difference of the patches about p and q, sigma the plane's noise level.
struct NlmParameters {
  std::optional<int> patch_size = {};     ///< side of a patch, odd, 1 to 21
  std::optional<int> search_window = {};  ///< side of the square that q lies in, odd, 1 to 257
  /// In 8-bit code values, 0.01 to 1000; at least sigma / 64 is used: with less, rounding would decide which
  /// patches count.
  std::optional<float> h = {};
  bool operator==(const NlmParameters&) const = default;
  void validate() const;
};

/// Non-local means with a bilateral filter's range weight (Indurkhya and Vallabhu 2023): w = exp(-d^2 / (2
/// patch_sigma^2)) exp(-(I(p) - I(q))^2 / (2 range_sigma^2)), and, if a spatial sigma is given,
/// exp(-|p - q|^2 / (2 spatial_sigma^2)).
struct NlmBilateralParameters {
  std::optional<int> patch_size = {};       ///< side of a patch, odd, 1 to 21
  std::optional<int> search_window = {};    ///< of q, side of a square, odd, 1 to 257; 0: the whole plane
  std::optional<float> patch_sigma = {};    ///< in 8-bit code values, 0.01 to 1000
  std::optional<float> range_sigma = {};    ///< in 8-bit code values, 0.01 to 1000
  std::optional<float> spatial_sigma = {};  ///< in samples, 0.1 to 1000; none: distance does not count
  bool operator==(const NlmBilateralParameters&) const = default;
  void validate() const;
};

/// The parameters for a plane with noise of deviation `sigma` (8-bit code values, > 0): those that are given,
/// and defaults that follow from sigma for those that are not. Only a missing NlmBilateralParameters::
/// spatial_sigma stays so.
BilateralParameters resolve(const BilateralParameters& parameters, float sigma);
AdaptiveBilateralParameters resolve(const AdaptiveBilateralParameters& parameters, float sigma);
NlmParameters resolve(const NlmParameters& parameters, float sigma);
NlmBilateralParameters resolve(const NlmBilateralParameters& parameters, float sigma);

/// A filter with its parameters.
using Filter = std::variant<Bm3dParameters, BilateralParameters, AdaptiveBilateralParameters, NlmParameters,
                            NlmBilateralParameters>;
/// Their names, in the variant's order.
inline constexpr std::array<std::string_view, 5> kFilterNames = {"bm3d", "bilateral", "adaptive-bilateral",
                                                                 "nlm", "nlm-bilateral"};
static_assert(kFilterNames.size() == std::variant_size_v<Filter>);

/// Throws UsageError unless all parameters are legal, naming the first that is not and its legal range.
void validate(const Filter& filter);

std::string_view to_string(const Filter& filter);
/// The filter of that name, with the parameters that it has unless told otherwise (BM3D: profile np). Throws
/// UsageError listing the names.
Filter parse_filter(std::string_view name);

/// Names as on the command line ("dct", "np", ...). The parsers throw UsageError listing the legal names.
std::string_view to_string(Profile profile);
std::string_view to_string(Transform2d transform);
std::string_view to_string(Transform1d transform);
std::string_view to_string(Matching matching);
std::string_view to_string(GroupTransform transform);
Profile parse_profile(std::string_view name);
Transform2d parse_transform_2d(std::string_view name);
Transform1d parse_transform_1d(std::string_view name);
Matching parse_matching(std::string_view name);
GroupTransform parse_group_transform(std::string_view name);

}  // namespace limpid
