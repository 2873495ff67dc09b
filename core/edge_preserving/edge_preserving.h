// SPDX-License-Identifier: MIT
#pragma once

#include "core/bm3d/matching.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/frame/frame.h"

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

namespace limpid {

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
