#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include "core/noise/noise_model.h"

namespace limpid::cuda {

/// Bm3dComponent::curve as kernels take it, all 1 if there is none.
struct NoiseCurve {
  float deviations[std::tuple_size_v<NoiseShape::Curve>];
  float least;

  __device__ float at(float brightness) const { return deviation_at(deviations, brightness); }
};

inline NoiseCurve make_curve(const std::optional<NoiseShape::Curve>& given) {
  const NoiseShape::Curve deviations = given.value_or(NoiseShape().curve);
  NoiseCurve curve{};
  std::copy(deviations.begin(), deviations.end(), curve.deviations);
  curve.least = *std::min_element(deviations.begin(), deviations.end());
  return curve;
}

}  // namespace limpid::cuda
