// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/frame/frame.h"

namespace limpid::oracle {

/// A sample of any type, unscaled.
inline double sample_at(const Frame& frame, int plane, int x, int y) {
  return visit_samples(frame.format, [&]<typename Sample>(Sample) {
    return static_cast<double>(frame.planes[plane].row<const Sample>(y)[x]);
  });
}

/// Sets a sample to `value`. For integers, it is rounded, halves up, and limited to the bit depth.
inline void set_sample(const Frame& frame, int plane, int x, int y, double value) {
  visit_samples(frame.format, [&]<typename Sample>(Sample) {
    Sample& sample = frame.planes[plane].row<Sample>(y)[x];
    if constexpr (std::is_integral_v<Sample>) {
      sample = static_cast<Sample>(
          std::clamp(std::floor(value + 0.5), 0.0, std::exp2(frame.format.bit_depth) - 1));
    } else {
      sample = static_cast<Sample>(static_cast<float>(value));
    }
  });
}

}  // namespace limpid::oracle
