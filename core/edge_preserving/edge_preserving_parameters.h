// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <variant>

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/filter_description.h

// The edge-preserving filters. Every sample p of a plane becomes a weighted mean of the samples q of a window
// around it, I(p) + sum w(p, q) (I(q) - I(p)) / sum w(p, q). docs/algorithms.md defines what all engines
// compute; core/edge_preserving/edge_preserving.h has the weights in the form that engines use. Parameters
// that are not set follow from the plane's noise level: resolve().

/// The bilateral filter (Tomasi and Manduchi 1998): w = exp(-|p - q|^2 / (2 spatial_sigma^2))
/// exp(-(I(p) - I(q))^2 / (2 range_sigma^2)), for q at most `radius` rows and columns away.
struct BilateralParameters {
  std::optional<int> radius = {};  ///< the window is 2 radius + 1 samples wide and high; 1 to 64
  /// Standard deviation of the spatial weight, in samples, 0.1 to 1000.
  std::optional<float> spatial_sigma = {};
  /// Standard deviation of the range weight, in 8-bit code values, 0.01 to 1000.
  std::optional<float> range_sigma = {};
  bool operator==(const BilateralParameters&) const = default;

  static const FilterDescription<BilateralParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range. All validate() below do so.
  void validate() const;
};

/// The bilateral filter in two passes (Indurkhya and Vallabhu 2023). The first, with `range_sigma`, only
/// measures the weighted variance around each sample, V(p) = sum w (I(q) - I(p))^2 / sum w. The second is the
/// bilateral filter with the range sigma kappa sqrt(V(p) + epsilon) at p.
struct AdaptiveBilateralParameters {
  std::optional<int> radius = {};           ///< radius in both passes, 1 to 64
  std::optional<float> spatial_sigma = {};  ///< spatial sigma of both passes, in samples, 0.1 to 1000
  /// Range sigma of the first pass, in 8-bit code values, 0.01 to 1000.
  std::optional<float> range_sigma = {};
  /// Factor of the second pass's range sigma, 0.01 to 100; 0.5 in the paper.
  std::optional<float> kappa = {};
  /// Constant added to the variance, in squared 8-bit code values, 0.0001 to 10000.
  float epsilon = 0.01F;
  bool operator==(const AdaptiveBilateralParameters&) const = default;

  static const FilterDescription<AdaptiveBilateralParameters>& description();
  void validate() const;
};

/// Non-local means, sample by sample (Buades, Coll and Morel, IPOL 2011): w = exp(-max(d^2 - 2 sigma^2, 0) /
/// h^2), d^2 the mean squared difference of the patches around p and q, sigma the plane's noise level.
struct NlmParameters {
  std::optional<int> patch_size = {};     ///< side of a patch, odd, 1 to 21
  std::optional<int> search_window = {};  ///< side of the square search window around p, odd, 1 to 257
  /// In 8-bit code values, 0.01 to 1000. At least sigma / 64 is used; with less, rounding would determine the
  /// weights.
  std::optional<float> h = {};
  bool operator==(const NlmParameters&) const = default;

  static const FilterDescription<NlmParameters>& description();
  void validate() const;
};

/// Non-local means with a bilateral filter's range weight (Indurkhya and Vallabhu 2023): w = exp(-d^2 / (2
/// patch_sigma^2)) exp(-(I(p) - I(q))^2 / (2 range_sigma^2)), and, if a spatial sigma is given,
/// exp(-|p - q|^2 / (2 spatial_sigma^2)).
struct NlmBilateralParameters {
  std::optional<int> patch_size = {};     ///< side of a patch, odd, 1 to 21
  std::optional<int> search_window = {};  ///< side of the square search window around p, odd, 1 to 257; 0:
                                          ///< the whole plane
  /// Standard deviation of the patch weight, in 8-bit code values, 0.01 to 1000.
  std::optional<float> patch_sigma = {};
  /// Standard deviation of the range weight, in 8-bit code values, 0.01 to 1000.
  std::optional<float> range_sigma = {};
  /// Standard deviation of the spatial weight, in samples, 0.1 to 1000; none: no spatial weight.
  std::optional<float> spatial_sigma = {};
  bool operator==(const NlmBilateralParameters&) const = default;

  static const FilterDescription<NlmBilateralParameters>& description();
  void validate() const;
};

/// The parameters for a plane with noise of standard deviation `sigma` (8-bit code values, > 0): missing ones
/// are replaced by defaults that follow from sigma. Only a missing NlmBilateralParameters::spatial_sigma
/// remains missing.
BilateralParameters resolve(const BilateralParameters& parameters, float sigma);
AdaptiveBilateralParameters resolve(const AdaptiveBilateralParameters& parameters, float sigma);
NlmParameters resolve(const NlmParameters& parameters, float sigma);
NlmBilateralParameters resolve(const NlmBilateralParameters& parameters, float sigma);

using EdgePreservingFilter =
    std::variant<BilateralParameters, AdaptiveBilateralParameters, NlmParameters, NlmBilateralParameters>;

}  // namespace limpid
