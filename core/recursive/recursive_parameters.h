// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/frame/reach.h"

namespace limpid {

template <typename Parameters>
struct FilterDescription;  // core/parameters/filter_description.h

/// The recursive filter: each frame is merged with the last result along motion, by a Kalman gain for each
/// DCT coefficient of a patch (Arias and Morel, "Kalman filtering of patches for frame-recursive video
/// denoising", CVPRW 2019; the merge of DCT coefficients as in Hasinoff et al., "Burst photography for high
/// dynamic range and low-light imaging on mobile cameras", SIGGRAPH Asia 2016). docs/algorithms.md has the
/// definition.
struct RecursiveParameters {
  int spacing = 4;          ///< distance between patches of the first step, 1 to 8
  int second_spacing = 3;   ///< distance between patches of the second step
  int motion_searches = 2;  ///< 1: motion of the noisy frame only; 2: also of the first step's estimate
  /// Threshold: coefficients of magnitude <= lambda * sigma depend on the pilot; > 0, <= 100.
  float lambda = 2.6F;
  bool operator==(const RecursiveParameters&) const = default;

  static const FilterDescription<RecursiveParameters>& description();
  /// Throws a UsageError that names the parameter and its legal range.
  void validate() const;
};

Reach reach_of(const RecursiveParameters& parameters);

/// Named sets of parameters, from fastest to best.
enum class RecursiveProfile : std::uint8_t { kFast, kNp };

RecursiveParameters recursive_profile(RecursiveProfile profile);

}  // namespace limpid
