// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/noise/noise_model.h"

namespace limpid::cuda {

/// Bm3dComponent::curve in the layout for kernels, all 1 without a curve.
struct NoiseCurve {
  float deviations[BrightnessScale::kSteps + 1];
  BrightnessScale scale;
  float least;

  __device__ float at(float brightness) const {
    return deviation_at(deviations, scale.position_of(brightness));
  }
  /// The value of the curve at the brightness of a group: from find_brightness(), or, if that is null, the
  /// mean of the group.
  __device__ float at(const float* found, float mean) const {
    return at(found == nullptr ? mean : __ldg(found));
  }
};

/// The brightness of a group, from those of all groups; null if they are null.
__device__ inline const float* brightness_of_group(const float* of_all, std::ptrdiff_t number) {
  return of_all == nullptr ? nullptr : of_all + number;
}

inline NoiseCurve make_curve(const std::optional<NoiseShape::Curve>& given) {
  const NoiseShape::Curve deviations = given.value_or(NoiseShape().curve);
  NoiseCurve curve{};
  std::copy(deviations.begin(), deviations.end(), curve.deviations);
  curve.scale = deviations.scale;
  curve.least = *std::min_element(deviations.begin(), deviations.end());
  return curve;
}

}  // namespace limpid::cuda
