#pragma once

#include "core/bm3d/matching.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/frame/frame.h"

// The weights of the edge-preserving filters in the form that engines compute them: powers of two, whose
// exponents are sums of non-negative terms. With E(p, q) such a sum, all of these filters are
//
//   out(p) = I(p) + (sum over q of 2^-E(p, q) (I(q) - I(p))) / (sum over q of 2^-E(p, q)),
//
// I in 8-bit code values, q over the window's samples that lie in the plane, p itself (whose weight is 1)
// included. Results are rounded once, to the samples' depth. Before that an engine's are within a quarter of
// a code value of these, so that engines agree within one code value: weights whose relative error is at most
// 2^-10 suffice, since they move the mean by at most that share of the window's range of 255, and weights
// under 2^-64 may be left out.

namespace limpid {

/// E = spatial |p - q|^2 + range (I(p) - I(q))^2.
struct BilateralWeights {
  int radius = 0;
  float spatial = 0;
  float range = 0;
};

/// Two passes. The first, with the weights `first`, only measures V(p) = (sum over q of 2^-E (I(q) - I(p))^2)
/// / (sum over q of 2^-E). The second filters with adapted_range / (V(p) + epsilon) in place of `range` at p.
struct AdaptiveBilateralWeights {
  BilateralWeights first;
  float adapted_range = 0;
  float epsilon = 0;
};

/// E = max(patch S / n - offset, 0) + range (I(p) - I(q))^2 + spatial |p - q|^2, for q at most
/// search_radius_x columns and search_radius_y rows away.
///
/// S is the sum of squared differences of the plane's matching values (patch_scale() says which) over the n
/// pairs (p + t, q + t) whose samples both lie in the plane, t up to patch_radius rows and columns. It is an
/// integer under 2^31, so that engines find the same however they sum. E(p, q) = E(q, p).
struct PatchWeights {
  int patch_radius = 0;
  int search_radius_x = 0;
  int search_radius_y = 0;
  float patch = 0;
  float offset = 0;
  float range = 0;
  float spatial = 0;
};

/// How a plane's samples become matching values: 8-bit samples of any plane as they are, others at a quarter
/// code value.
inline MatchingScale patch_scale(const FrameFormat& format) {
  return matching_scale(format.sample_type == SampleType::kUint8);
}

/// The weights for a plane of the given size with noise of deviation `sigma` (8-bit code values, > 0).
BilateralWeights make_weights(const BilateralParameters& parameters, float sigma);
AdaptiveBilateralWeights make_weights(const AdaptiveBilateralParameters& parameters, float sigma);
PatchWeights make_weights(const NlmParameters& parameters, float sigma, const MatchingScale& scale, int width,
                          int height);
PatchWeights make_weights(const NlmBilateralParameters& parameters, float sigma, const MatchingScale& scale,
                          int width, int height);

}  // namespace limpid
