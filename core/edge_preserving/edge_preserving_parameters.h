// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <variant>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/parameter.h

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

// The weights of the edge-preserving filters in the form that engines compute: powers of two whose exponents
// are sums of non-negative terms. With such a sum E(p, q), all of these filters are
//
//   out(p) = I(p) + (sum over q of 2^-E(p, q) (I(q) - I(p))) / (sum over q of 2^-E(p, q)),
//
// with I in 8-bit code values and q over the window's samples inside the plane, including p with the weight
// 1. Results are rounded once, to the samples' depth. Before rounding, an engine's results must be within a
// quarter of a code value of this definition, so that engines agree within one code value. Weights with a
// relative error of at most 2^-10 suffice, since they move the mean by at most that share of the window's
// range of 255. Weights under 2^-64 may be omitted.

/// E = spatial |p - q|^2 + range (I(p) - I(q))^2.
struct BilateralWeights {
  int radius = 0;
  float spatial = 0;
  float range = 0;
};

/// Two passes. The first uses the weights `first` and only measures V(p) = (sum over q of 2^-E (I(q) -
/// I(p))^2) / (sum over q of 2^-E). The second filters with adapted_range / (V(p) + epsilon) instead of
/// `range` at p.
struct AdaptiveBilateralWeights {
  BilateralWeights first;
  float adapted_range = 0;
  float epsilon = 0;
};

/// E = max(patch S / n - offset, 0) + range (I(p) - I(q))^2 + spatial |p - q|^2, for q at most
/// search_radius_x columns and search_radius_y rows away.
///
/// S is the sum of squared differences of the plane's matching values (patch_scale()) over the n pairs (p +
/// t, q + t) whose samples both lie in the plane, t up to patch_radius rows and columns. S is an integer
/// under 2^31, so all engines get the same value in any order of summation. E(p, q) = E(q, p).
struct PatchWeights {
  int patch_radius = 0;
  int search_radius_x = 0;
  int search_radius_y = 0;
  float patch = 0;
  float offset = 0;
  float range = 0;
  float spatial = 0;
};

/// Conversion of a plane's samples to matching values: 8-bit samples unchanged, others in steps of a quarter
/// code value.
inline MatchingScale patch_scale(const FrameFormat& format) {
  return matching_scale(format.sample_type == SampleType::kUint8);
}

/// The weights for a plane of the given size with noise of standard deviation `sigma` (8-bit code values, >
/// 0).
BilateralWeights make_weights(const BilateralParameters& parameters, float sigma);
AdaptiveBilateralWeights make_weights(const AdaptiveBilateralParameters& parameters, float sigma);
PatchWeights make_weights(const NlmParameters& parameters, float sigma, const MatchingScale& scale, int width,
                          int height);
PatchWeights make_weights(const NlmBilateralParameters& parameters, float sigma, const MatchingScale& scale,
                          int width, int height);

}  // namespace limpid
