// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// The plan of BM3D for a picture (a frame or a field): which planes are filtered, as which components, and on
// which guides their patches are matched. All engines execute one plan.

namespace limpid {

/// A channel that BM3D filters: gray, Y, U, V or one of RGB's opponent channels. Patches are matched on the
/// first one, called luma here.
struct Bm3dComponent {
  int width = 0;
  int height = 0;
  float sigma = 0;  ///< noise level; 0: not filtered
  /// Variances of the noise's 2D coefficients [patch_size v + u] relative to sigma^2, for the first and, if
  /// present, the second step. All are 1 for white noise.
  std::array<std::vector<float>, 2> coefficient_variances;
  /// NoiseShape::curve, unless it is 1 throughout: noise in a group of brightness m has the standard
  /// deviation deviation_at(m) times sigma. Luma's brightness is the mean of the noisy group in the first
  /// step, and of the basic estimate's group in the second. Chroma's is the brightness of its reference patch
  /// in the guide (brightness_of()). RGB's U and V have no curve.
  std::optional<NoiseShape::Curve> curve;
  bool curve_by_guide = false;  ///< true for chroma with a curve
  float repetition = 0;         ///< NoiseShape::repetition, for temporal filters
};

/// The factor of a group's weight, given deviation_at() of the group: (least_deviation / deviation)^2, so
/// weights are at most 1.
constexpr float weight_factor(float least_deviation, float deviation) {
  return (least_deviation / deviation) * (least_deviation / deviation);
}

/// The picture on which one step matches patches.
struct Bm3dGuide {
  bool basic_estimate = false;  ///< luma's basic estimate, otherwise its noisy samples
  bool smoothed = false;        ///< smoothed with the kernel of core/bm3d/bm3d_parameters.h
  MatchingScale scale;
  MatchingDistances distances;
};

/// Components of one size, which share their groups.
struct Bm3dComponentSet {
  std::vector<int> components;  ///< component numbers, ascending
  int width = 0;
  int height = 0;
  int shift_x = 0;  ///< A sample of the guide is the mean of the 2^shift_x x 2^shift_y luma samples under it;
                    ///< if both shifts are 0, luma is the guide.
  int shift_y = 0;
  std::array<Bm3dGuide, 2> guides;  ///< for the first and, if present, the second step

  bool subsampled() const { return shift_x > 0 || shift_y > 0; }
};

struct Bm3dPlan {
  /// The noise that the plan was made for.
  NoiseModel noise;
  PlaneHeights heights{};

  bool opponent = false;  ///< RGB, filtered as opponent channels; otherwise component p is plane p
  std::array<Bm3dComponent, 3> components;  ///< components; as many as there are color planes
  std::array<bool, kMaxPlanes> copied{};    ///< planes that pass through unchanged
  /// All filtered components: those of full size, then subsampled chroma. Empty if all planes are copied.
  std::vector<Bm3dComponentSet> sets;
};

/// The plan for legal parameters and a picture whose planes have `heights` rows.
Bm3dPlan make_plan(const Bm3dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                   const PlaneHeights& heights);

/// The noise of the components. The noise of RGB's opponent channels follows from the planes' noise unless
/// the model contains it.
std::array<PlaneNoise, 3> component_noise(const FrameFormat& format, const NoiseModel& noise);

/// The guide of one step for components with these shifts. `luma` is the noise of luma; its sigma is 0 if
/// luma is not filtered.
Bm3dGuide make_guide(const Bm3dParameters& parameters, const FrameFormat& format, bool second_step,
                     int shift_x, int shift_y, const PlaneNoise& luma);

/// Standard deviation of the noise in a guide of noisy samples, given the noise of luma.
double guide_deviation(const PlaneNoise& luma, bool smoothed, int shift_x, int shift_y);

/// A sentence for each plane that is smaller than a patch of either step, and passes through unchanged.
std::vector<std::string> warnings_of_small_planes(const Bm3dParameters& parameters,
                                                  const FrameFormat& format);

}  // namespace limpid
