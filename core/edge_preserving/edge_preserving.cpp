// SPDX-License-Identifier: MIT
#include "core/edge_preserving/edge_preserving.h"

#include <algorithm>
#include <numbers>

namespace limpid {
namespace {

// exp(-x / divisor) = 2^-(exponent(divisor) x).
float exponent(double divisor) { return static_cast<float>(std::numbers::log2e / divisor); }

// exp(-x^2 / (2 sigma^2)) = 2^-(gaussian(sigma) x^2).
float gaussian(float sigma) { return exponent(2 * static_cast<double>(sigma) * static_cast<double>(sigma)); }

PatchWeights patch_geometry(int patch_size, int search_window, int width, int height) {
  PatchWeights weights;
  weights.patch_radius = patch_size / 2;
  weights.search_radius_x = std::min(search_window / 2, width - 1);
  weights.search_radius_y = std::min(search_window / 2, height - 1);
  return weights;
}

}  // namespace

BilateralWeights make_weights(const BilateralParameters& parameters, float sigma) {
  const BilateralParameters resolved = resolve(parameters, sigma);
  return {*resolved.radius, gaussian(*resolved.spatial_sigma), gaussian(*resolved.range_sigma)};
}

AdaptiveBilateralWeights make_weights(const AdaptiveBilateralParameters& parameters, float sigma) {
  const AdaptiveBilateralParameters resolved = resolve(parameters, sigma);
  return {{*resolved.radius, gaussian(*resolved.spatial_sigma), gaussian(*resolved.range_sigma)},
          gaussian(*resolved.kappa),
          resolved.epsilon};
}

PatchWeights make_weights(const NlmParameters& parameters, float sigma, const MatchingScale& scale, int width,
                          int height) {
  const NlmParameters resolved = resolve(parameters, sigma);
  PatchWeights weights = patch_geometry(*resolved.patch_size, *resolved.search_window, width, height);
  const auto h = static_cast<double>(*resolved.h);
  const auto s = static_cast<double>(sigma);
  weights.patch = exponent(h * h * scale.scale * scale.scale);
  weights.offset = exponent(h * h / (2 * s * s));
  return weights;
}

PatchWeights make_weights(const NlmBilateralParameters& parameters, float sigma, const MatchingScale& scale,
                          int width, int height) {
  const NlmBilateralParameters resolved = resolve(parameters, sigma);
  const bool whole_plane = *resolved.search_window == 0;
  PatchWeights weights =
      patch_geometry(*resolved.patch_size,
                     whole_plane ? 2 * std::max(width, height) : *resolved.search_window, width, height);
  weights.patch = gaussian(*resolved.patch_sigma * static_cast<float>(scale.scale));
  weights.range = gaussian(*resolved.range_sigma);
  weights.spatial = resolved.spatial_sigma ? gaussian(*resolved.spatial_sigma) : 0;
  return weights;
}

}  // namespace limpid
