#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/bm3d/bm3d_plan.h"
#include "core/frame/fields.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/trajectories.h"
#include "core/vbm4d/vbm4d_parameters.h"

// What V-BM4D does with a picture (a frame or a field) of a stream, the same in every engine. Engines carry
// it out.

namespace limpid {

struct Vbm4dPlan {
  /// Components, sets, their guides' scales and the coefficients' variances, in both steps. Guides are not
  /// smoothed; their `distances` are TrajectoryBounds::similar.
  Bm3dPlan planes;
  /// By set (as many as `planes` has) and step.
  std::array<std::array<vbm4d::TrajectoryBounds, 2>, 2> bounds{};
  /// What noise makes of the difference of a block that is followed (motion::is_followed()), from this
  /// picture to another; more than any difference where the noise is not known, as of luma that is not
  /// filtered.
  std::int32_t motion_noise = 0;
};

/// BM3D with the steps' spacings and windows, whose grids, tables and plans V-BM4D uses: patches of 8x8,
/// DCTs.
Bm3dParameters bm3d_of(const Vbm4dParameters& parameters);

/// The plan for legal parameters and a picture whose planes have so many rows.
Vbm4dPlan make_plan(const Vbm4dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                    const PlaneHeights& heights);

/// For the first step or the second, and noise with this NoiseShape::repetition. What repeats adds up in what
/// is constant over time. It is missing in what changes, which is left as it is: that loses less.
vbm4d::NoiseOverTime noise_over_time(const Vbm4dParameters& parameters, bool second_step, float repetition);

/// The orthonormal transform across a group's patches [coefficient][patch], row-major: a DCT-II over time and
/// Haar's transform across trajectories. Patch frame * members + member; the first coefficient is the mean's.
/// `members` is a power of two.
std::vector<double> group_transform(int frames, int members);

}  // namespace limpid
