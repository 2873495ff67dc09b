// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/frame/frame.h"
#include "core/motion/motion_field.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/bm3d/tile.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/vbm4d/picture_state.h"
#include "cpu/vbm4d/trajectory_tile.h"

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

/// A filter's processing of the groups of reference patches.
struct GroupStage {
  /// Maximum number of patches of a group that get estimates.
  int patches = 1;
  /// Finds, filters and aggregates the groups of a tile. Called on many threads at once.
  std::function<void(const TrajectoryJob& job, const Tile& tile)> process;
};

/// Filters the groups of a picture's reference patches, in parallel by tiles.
class PictureGroups {
 public:
  /// Keeps references to `layout` and to the tables of both steps.
  PictureGroups(const Vbm4dParameters& parameters, GroupStage stage, const PictureLayout& layout,
                const std::array<StepTables, 2>& tables);

  /// Filters the groups whose reference patches are in picture t, and adds them to the sums of the pictures
  /// that they reach. The pictures' samples, guides and motion have been made.
  void filter(const PictureWindow& window, int t, int step);

 private:
  // A tile of one of the sets of a picture's groups.
  struct JobTile {
    std::size_t job = 0;
    Tile tile;
  };

  void load_reference_guides(const PictureWindow& window, int t, int step);
  std::vector<JobTile> tiles_of(const std::vector<TrajectoryJob>& jobs, int step) const;
  TrajectoryJob make_job(const PictureWindow& window, int t, int step, const Bm3dComponentSet& set,
                         const vbm4d::TrajectoryBounds& bounds) const;
  FollowedPicture followed_picture(const PictureWindow& window, int u, int step, const Bm3dComponentSet& set,
                                   bool wanted) const;

  Vbm4dParameters parameters_;
  TemporalSpan span_;
  GroupStage stage_;
  const PictureLayout& layout_;
  const std::array<StepTables, 2>& tables_;
  PatchSamples noisy_samples_;
  PatchSamples basic_samples_;
  std::array<PlaneBuffer<std::int16_t>, 2> reference_guides_;  // matching values of the references' picture
};

/// The common part of CPU filters along motion: V-BM4D, and others that follow reference patches in the same
/// way (docs/algorithms.md).
///
/// Each picture passes through the same stages once. Its samples, guides and motion are computed when it
/// arrives, its groups of the first step when the pictures they reach have arrived, its basic estimate when
/// all groups that reach it are done, and so on. These data are kept with the picture until no later group
/// can reach it.
///
/// `parameters` define the steps, grids, windows and spans, and the end of trajectories. Throws UsageError
/// for illegal parameters, and Error for invalid formats.
std::unique_ptr<FrameFilter> make_filter_along_motion(const Vbm4dParameters& parameters,
                                                      const FrameFormat& format, const GroupStage& groups);

/// V-BM4D on the CPU (docs/algorithms.md). Throws UsageError for illegal parameters, and Error for invalid
/// formats.
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
