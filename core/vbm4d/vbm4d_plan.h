// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/bm3d/bm3d_plan.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/trajectories.h"
#include "core/vbm4d/vbm4d_parameters.h"

// The plan of V-BM4D for a picture (a frame or a field) of a stream, equal for all engines.

namespace limpid {

struct Vbm4dPlan {
  /// Components, sets, scales of their guides and variances of the coefficients, in both steps. Guides are
  /// not smoothed; their `distances` are TrajectoryBounds::similar.
  Bm3dPlan planes;
  /// Indexed by set of `planes` and step.
  std::array<std::array<vbm4d::TrajectoryBounds, 2>, 2> bounds{};
  /// vbm4d::guide_scale() of luma's guide at full and at chroma's size. Pictures with other scales cannot be
  /// compared.
  std::array<int, 2> guide_scales{1, 1};
  /// The difference that noise causes in a followed block (motion::is_followed()), from this picture to
  /// another; more than any difference if the noise is unknown, as for luma that is not filtered.
  std::int32_t motion_noise = 0;
};

/// BM3D parameters with the steps' spacings and windows, patches of 8x8 and DCTs. V-BM4D uses their grids,
/// tables and plans.
Bm3dParameters bm3d_of(const Vbm4dParameters& parameters);

/// The plan for legal parameters and a picture whose planes have `heights` rows.
Vbm4dPlan make_plan(const Vbm4dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                    const PlaneHeights& heights);

/// Vbm4dParameters::vnlb_share for this noise: less if the first plane's is coarse, as film grain, of which
/// VNLB leaves more; 0 if the four lowest frequencies have four times the mean variance.
float vnlb_share(const Vbm4dParameters& parameters, const NoiseModel& noise);

/// The factors of one step for noise with this NoiseShape::repetition. Repeating noise increases constant
/// coefficients and decreases changing ones. The factors of changing coefficients are not reduced, because
/// that has better results.
vbm4d::NoiseOverTime noise_over_time(const Vbm4dParameters& parameters, bool second_step, float repetition);

/// The orthonormal transform across a group's patches [coefficient][patch], row-major: a DCT-II over time and
/// a Haar transform across trajectories. Patch number is frame * members + member; the first coefficient is
/// the mean. `members` is a power of two.
std::vector<double> group_transform(int frames, int members);

}  // namespace limpid
