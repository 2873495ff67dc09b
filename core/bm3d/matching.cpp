// SPDX-License-Identifier: MIT
#include "core/bm3d/matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace limpid {

MatchingScale matching_scale(bool whole_code_values) {
  return whole_code_values ? MatchingScale{true, 1, 128} : MatchingScale{false, 4, 1023};
}

MatchingDistances matching_distances(Matching matching, bool second_step, const Bm3dStep& step,
                                     const MatchingScale& scale, double guide_sigma) {
  // The share of white noise's variance that the kernel leaves.
  constexpr double kSide = static_cast<double>(kGuideKernelSide) / kGuideKernelSum;
  constexpr double kCenter = static_cast<double>(kGuideKernelCenter) / kGuideKernelSum;
  constexpr double kEnergy = 2 * kSide * kSide + kCenter * kCenter;
  constexpr double kFirstStep = 0.9 * 2 * kEnergy * kEnergy;
  // The noise that remains in the basic estimate: a tenth of the noise level, and at most 2.5 because
  // clipping weakens strong noise in dark and bright areas.
  constexpr double kResidual = 0.1;
  constexpr double kStrongNoise = 25;

  const auto tau = static_cast<double>(step.max_distance);
  const double residual = kResidual * std::min(guide_sigma, kStrongNoise);
  const double noise = matching == Matching::kNearest ? 0
                       : second_step                  ? 2 * residual * residual
                                                      : kFirstStep * guide_sigma * guide_sigma;
  const double unit = static_cast<double>(step.patch_size) * step.patch_size * scale.scale * scale.scale;
  constexpr double kMost = std::numeric_limits<std::int32_t>::max() - 1;
  const double limit = std::min(std::floor(tau * unit), kMost);
  const double expected = std::floor(std::min(noise * unit, limit / 2));
  return {static_cast<std::int32_t>(expected), static_cast<std::int32_t>(limit - expected)};
}

}  // namespace limpid
