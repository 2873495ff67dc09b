#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/matching.h"
#include "core/frame/fields.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

// What BM3D does with a picture (a frame or a field), the same in every engine: which planes are filtered,
// as what components, and on what patches are matched. Engines carry it out.

namespace limpid {

/// A channel that BM3D works on: gray, Y, U, V or one of RGB's opponent channels. The first one, called luma
/// here, is what patches are matched on.
struct Bm3dComponent {
  int width = 0;
  int height = 0;
  float sigma = 0;  ///< of its noise; 0: it is not filtered
  /// Of the first step and, if there is one, of the second: the variances of its noise's 2D coefficients
  /// [patch_size v + u], relative to sigma^2. All are 1 for white noise.
  std::array<std::vector<float>, 2> coefficient_variances;
  /// NoiseShape::curve unless it is 1 throughout: the noise of a group of brightness m deviates by
  /// deviation_at(m) times sigma. Luma's brightness is the mean of the noisy group in the first step, of the
  /// basic estimate's in the second. Chroma's is that of its reference patch in the guide (brightness_of()).
  /// RGB's U and V have no curve.
  std::optional<NoiseShape::Curve> curve;
  bool curve_by_guide = false;  ///< there is one, of chroma
  float repetition = 0;         ///< NoiseShape::repetition, for filters over time
};

/// What a group's weight is multiplied by, given its deviation_at(): its least value's square over that of
/// this one, so that weights remain at most 1.
constexpr float weight_factor(float least_deviation, float deviation) {
  return (least_deviation / deviation) * (least_deviation / deviation);
}

/// What the groups of one step are matched on.
struct Bm3dGuide {
  bool basic_estimate = false;  ///< luma's basic estimate; else its noisy samples
  bool smoothed = false;        ///< by the kernel of core/bm3d/matching.h
  MatchingScale scale;
  MatchingDistances distances;
};

/// Components of one size, which are filtered with the same groups.
struct Bm3dComponentSet {
  std::vector<int> components;  ///< their numbers, ascending
  int width = 0;
  int height = 0;
  int shift_x = 0;  ///< a sample of the guide is the mean of the 2^shift_x x 2^shift_y luma samples that lie
  int shift_y = 0;  ///< under it; if both are 0, luma is the guide as it is
  std::array<Bm3dGuide, 2> guides;  ///< of the first step and, if there is one, of the second

  bool subsampled() const { return shift_x > 0 || shift_y > 0; }
};

struct Bm3dPlan {
  /// What it was made for.
  NoiseModel noise;
  PlaneHeights heights{};

  bool opponent = false;  ///< RGB, filtered as opponent channels; else component p is plane p
  std::array<Bm3dComponent, 3> components;  ///< as many as there are planes of color
  std::array<bool, kMaxPlanes> copied{};    ///< planes that pass through unchanged
  /// All components that are filtered: those of full size, then subsampled chroma. None if all planes are
  /// copied.
  std::vector<Bm3dComponentSet> sets;
};

/// The plan for legal parameters and a picture whose planes have so many rows.
Bm3dPlan make_plan(const Bm3dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                   const PlaneHeights& heights);

/// The noise of the components. That of RGB's opponent channels follows from the planes' unless the model
/// tells it.
std::array<PlaneNoise, 3> component_noise(const FrameFormat& format, const NoiseModel& noise);

/// The guide of one step for components with those shifts. `luma` is luma's noise, with sigma 0 if it is not
/// filtered.
Bm3dGuide make_guide(const Bm3dParameters& parameters, const FrameFormat& format, bool second_step,
                     int shift_x, int shift_y, const PlaneNoise& luma);

/// The deviation of the noise in such a guide of the noisy samples, of the luma that has that noise.
double guide_deviation(const PlaneNoise& luma, bool smoothed, int shift_x, int shift_y);

/// A sentence for each plane that is smaller than a patch of either step: such planes pass through unchanged.
std::vector<std::string> warnings_of_small_planes(const Bm3dParameters& parameters,
                                                  const FrameFormat& format);

}  // namespace limpid
