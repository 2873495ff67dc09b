// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/motion/motion_parameters.h"
#include "cpu/motion/motion_pyramid.h"

namespace limpid::cpu {

struct MotionLevel;

/// Estimates block motion between two pictures (core/motion/motion_blocks.h), on the threads of the caller's
/// arena. The result depends neither on the number of threads nor on the SIMD level. Keeps its working
/// memory, so that later pictures allocate nothing.
class MotionEstimator {
 public:
  /// Writes the motion from `current` to `reference` into `field`. Throws Error if their sizes differ.
  void estimate(const MotionPyramid& reference, const MotionPyramid& current, MotionField& field,
                const MotionParameters& parameters = {});

 private:
  void search(const MotionLevel& level, MotionField& field);
  void sweep(const MotionLevel& level, MotionField& field);

  // With margins (motion_kernels.h).
  std::vector<MotionVector> vectors_;  // of the current level
  std::vector<MotionVector> before_;   // of the current level before a sweep, then of the coarser level
  std::vector<std::uint8_t> changed_;  // vectors changed by the last sweep
  std::vector<std::uint8_t> changed_before_;
};

}  // namespace limpid::cpu
