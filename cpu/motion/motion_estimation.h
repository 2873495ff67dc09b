#pragma once

#include <cstdint>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/motion/motion_parameters.h"
#include "cpu/motion/motion_pyramid.h"

namespace limpid::cpu {

/// Finds block motion between two pictures (core/motion/motion_blocks.h), on the threads of the caller's
/// arena; the result does not depend on how many these are, nor on the SIMD level. Holds its working memory,
/// so that picture after picture allocates nothing.
class MotionEstimator {
 public:
  /// Writes the motion from `current` to `reference` into `field`. Throws Error if they differ in size.
  void estimate(const MotionPyramid& reference, const MotionPyramid& current, MotionField& field,
                const MotionParameters& parameters = {});

 private:
  // With margins (motion_kernels.h).
  std::vector<MotionVector> vectors_;  // of the level under way
  std::vector<MotionVector> before_;   // before a sweep, then of the coarser level
  std::vector<std::uint8_t> changed_;  // which vectors a sweep has changed
  std::vector<std::uint8_t> changed_before_;
};

}  // namespace limpid::cpu
