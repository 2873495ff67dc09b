// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursion.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/recursive/padded_plane.h"

namespace limpid::cpu {

/// The state of one component of a picture.
struct ComponentState {
  /// Level of the noise that `variances` are relative to; 0: the component is not filtered.
  float sigma = 0;
  PaddedPlane noisy;   ///< noisy samples of the last frame that was merged
  PaddedPlane merged;  ///< not shrunk
  PaddedPlane result;
  /// Variances of the noise in `merged`, relative to the noise of the frame, for cells of 8 x 8 samples.
  /// Samples beyond the last whole cell belong to the nearest cell.
  int columns = 0;
  int rows = 0;
  std::vector<float> variances;

  void resize(int width, int height);
  /// The variance at a position, interpolated between the centers of cells.
  float variance_at(float x, float y) const;
};

/// The state of a stream of frames, or of one of their fields.
struct RecursiveState {
  bool valid = false;
  std::array<ComponentState, 3> components;
  MotionPyramid reference;  ///< pyramid of the result's luma
};

/// The state of a component along the motion to the current frame.
struct WarpedState {
  PaddedPlane prior;             ///< the merged picture
  PaddedPlane pilot;             ///< the result
  std::vector<float> variances;  ///< variances of the blocks of luma
};

/// Motion from the current frame to the state, for the blocks of luma.
struct FollowedMotion {
  MotionField field;  ///< in whole samples
  std::vector<recursive::EighthVector> vectors;

  /// Adds fractions of a sample to the vectors of the field. `sigma`: noise level of luma.
  void refine(const MotionPyramid& reference, const MotionPyramid& current, float sigma);
};

/// Subsampling of a component relative to luma.
struct ComponentShifts {
  int x = 0;
  int y = 0;
};

/// Writes the state along motion, on the threads of the caller's arena. Writes the pilot only if
/// `with_pilot`.
void warp_state(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                bool with_pilot, WarpedState& warped);

/// True if `noisy` repeats the last merged frame, apart from changes by a codec.
bool repeats_frame(const ComponentState& state, const PaddedPlane& noisy, float repetition,
                   const std::optional<NoiseShape::Curve>& curve);

/// Factors of the noise variance for patches at (xs, y) of a component, by the brightness of `luma` at these
/// positions.
void noise_factors(const NoiseShape::Curve& curve, const PaddedPlane& luma, const ComponentShifts& shifts,
                   int y, std::span<const int> xs, std::span<float> factors);

}  // namespace limpid::cpu
