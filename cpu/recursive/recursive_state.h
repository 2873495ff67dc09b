#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursion.h"
#include "cpu/motion/motion_pyramid.h"
#include "cpu/recursive/padded_plane.h"

namespace limpid::cpu {

/// The state of one component.
struct ComponentState {
  float sigma = 0;     ///< of the noise that `variances` are relative to; 0: the component is not filtered
  PaddedPlane noisy;   ///< the last frame that was merged
  PaddedPlane merged;  ///< not shrunk
  PaddedPlane result;
  /// Variances of the noise in `merged`, relative to the frame's, of cells of 8 x 8 samples. Samples beyond
  /// the last whole cell belong to the nearest.
  int columns = 0;
  int rows = 0;
  std::vector<float> variances;

  void resize(int width, int height);
  /// Interpolated between the centers of cells.
  float variance_at(float x, float y) const;
};

/// The state of the frames, or of one of their fields.
struct RecursiveState {
  bool valid = false;
  std::array<ComponentState, 3> components;
  MotionPyramid reference;  ///< the result of luma
};

/// The state of a component along motion.
struct WarpedState {
  PaddedPlane prior;             ///< the merged picture
  PaddedPlane pilot;             ///< the result
  std::vector<float> variances;  ///< of each block of luma
};

/// Where each block of luma comes from in the state.
struct FollowedMotion {
  MotionField field;  ///< in whole samples
  std::vector<recursive::EighthVector> vectors;

  /// Adds fractions to the field's vectors. `sigma` is that of luma's noise.
  void refine(const MotionPyramid& reference, const MotionPyramid& current, float sigma);
};

/// How planes of a component lie under those of luma.
struct ComponentShifts {
  int x = 0;
  int y = 0;
};

/// Writes the state along motion, on the threads of the caller's arena; the pilot only if `with_pilot`.
void warp_state(const ComponentState& state, const FollowedMotion& motion, const ComponentShifts& shifts,
                bool with_pilot, WarpedState& warped);

/// True if `noisy` repeats the last frame that was merged, but for what a codec changes.
bool repeats_frame(const ComponentState& state, const PaddedPlane& noisy, float repetition,
                   const std::optional<NoiseShape::Curve>& curve);

/// Factors of the noise's variance for patches at (xs, y) of a component, by the brightness of `luma` there.
void noise_factors(const NoiseShape::Curve& curve, const PaddedPlane& luma, const ComponentShifts& shifts,
                   int y, std::span<const int> xs, std::span<float> factors);

}  // namespace limpid::cpu
