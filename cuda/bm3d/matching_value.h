// SPDX-License-Identifier: MIT
#pragma once

#include "core/bm3d/bm3d_parameters.h"

namespace limpid::cuda {

/// The matching value of a guide's sample.
__device__ inline int matching_value(const MatchingScale& scale, float value) {
  const auto limit = static_cast<float>(scale.limit);
  const float units = (value - 128.0F) * static_cast<float>(scale.scale) + kMatchingBias;
  if (scale.folds) {
    const float whole = rintf(units);
    return __float2int_rn(scale.folded(whole - scale.period() * rintf(whole / scale.period())));
  }
  return __float2int_rn(fminf(fmaxf(units, -limit), limit));
}

}  // namespace limpid::cuda
