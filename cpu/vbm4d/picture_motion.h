// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "core/frame/frame.h"
#include "core/motion/motion_field.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/vbm4d/picture_state.h"

namespace limpid::cpu {

/// Motion between adjacent pictures.
class PictureMotion {
 public:
  /// Prepares a picture with these samples.
  void load(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& in, PictureState& picture);
  /// Estimates motion between two pictures in both directions, once. A cut has the vectors vbm4d::kNowhere.
  void find(PictureState& before, PictureState& after);
  void release(PictureState& picture);

 private:
  struct Search {
    MotionEstimator estimator;
    MotionField field;
  };

  BufferPool<MotionPyramid> pyramids_;
  BufferPool<MotionField> fields_;
  std::array<Search, 2> searches_;  // one for each direction
};

}  // namespace limpid::cpu
