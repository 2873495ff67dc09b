// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/parallel.h"
#include "core/frame/frame.h"
#include "core/motion/motion_field.h"
#include "core/vbm4d/schedule.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cpu/bm3d/tile.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/runtime/planes.h"
#include "cpu/vbm4d/picture_sums.h"
#include "cpu/vbm4d/trajectory_tile.h"

// What filters along motion keep of each picture, a frame or a field, and the shape of its planes.

namespace limpid::cpu {

/// A pool of memory of one kind for pictures.
template <typename T>
class BufferPool {
 public:
  void take(std::unique_ptr<T>& into) {
    if (into == nullptr && idle_.empty()) {
      into = std::make_unique<T>();
    } else if (into == nullptr) {
      into = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  void give_back(std::unique_ptr<T>& from) {
    if (from != nullptr) {
      idle_.push_back(std::move(from));
    }
  }

 private:
  std::vector<std::unique_ptr<T>> idle_;
};

/// One plane per component.
using FloatPlanes = std::array<PlaneBuffer<float>, 3>;
using ValuePlanes = std::array<PlaneBuffer<std::int16_t>, 3>;
/// One plane for components of luma's size, and one for subsampled chroma. Values are bytes, 128 more than
/// matching values (TrajectoryJob).
using GuidePlanes = std::array<PlaneBuffer<std::uint8_t>, 2>;

struct StepSums {
  std::array<PictureSums, 3> components;
  std::array<std::vector<std::mutex>, 2> locks;  ///< indices as in GuidePlanes
};

/// The state of a frame or a field.
struct PictureState : vbm4d::ScheduledPicture {
  std::unique_ptr<MotionPyramid> pyramid;
  std::unique_ptr<MotionField> back;
  std::unique_ptr<MotionField> ahead;
  std::unique_ptr<FloatPlanes> noisy;  ///< null if groups read the frame's own samples
  std::unique_ptr<FloatPlanes> basic;  ///< null if groups read integers: basic_values
  std::unique_ptr<ValuePlanes> basic_values;
  std::unique_ptr<GuidePlanes> noisy_guide;
  std::unique_ptr<GuidePlanes> basic_guide;
  std::array<std::unique_ptr<StepSums>, 2> sums;

  bool is_filtered(int component) const { return plan->planes.components[component].sigma > 0; }
};

struct StateAlongMotion final : FrameState {
  std::array<PictureState, 2> pictures;  ///< of the frame, or of its fields
};

/// Shape and storage of the planes of a stream's pictures.
struct PictureLayout {
  /// A range of rows or sets.
  struct Rows {
    int first = 0;
    int last = 0;
  };

  /// Rows of luma per task of loading or estimating: few, so that many threads finish at the same time, and a
  /// whole number of chroma rows.
  static constexpr int kBandRows = 4;

  explicit PictureLayout(const FrameFormat& of)
      : format(of),
        converted(of.is_float() || of.color_model == ColorModel::kRgb),
        samples_guide(!converted && of.sample_type == SampleType::kUint8) {}

  FrameFormat format;
  bool converted;          ///< groups read floats instead of the frame's samples
  bool samples_guide;      ///< luma's noisy guide is the frame's samples
  PlaneHeights heights{};  ///< of the current pictures: frames or fields of one parity

  int colors() const { return format.color_plane_count(); }
  int width_of(int component) const { return format.plane_width(component); }
  /// The set of a component: 1 for subsampled chroma.
  int set_of(int component) const {
    return component > 0 && (format.chroma_shift_x > 0 || format.chroma_shift_y > 0) ? 1 : 0;
  }
  bool has_set(int set) const { return set == 0 || (colors() > 1 && set_of(1) == 1); }
  /// A component whose planes have the size of the set's.
  static int component_of(int set) { return set; }

  /// Calls function(band) for all bands of a picture, in parallel.
  template <typename Function>
  void for_each_band(const Function& function) const {
    for_each_index(block_count(heights[0], kBandRows), 1, function);
  }
  /// The rows of a component in a band.
  Rows rows_of(int band, int component) const {
    const int band_rows = kBandRows >> (set_of(component) == 1 ? format.chroma_shift_y : 0);
    return {std::min(band * band_rows, heights[component]),
            std::min((band + 1) * band_rows, heights[component])};
  }
  template <typename Planes>
  void resize(Planes& planes, int component) const {
    planes[component].resize(static_cast<std::size_t>(width_of(component)) * heights[component]);
  }
};

struct PictureWindow : vbm4d::Sequence<StateAlongMotion, FilteredFrame> {
  Frame& result;

  /// The samples of picture t.
  std::array<Plane, kMaxPlanes> samples(const PictureLayout& layout, int t) const {
    return picture_of(layout.format, frame(t).frame->planes, rows);
  }
  std::array<Plane, kMaxPlanes> out(const PictureLayout& layout) const {
    return picture_of(layout.format, result.planes, rows);
  }
};

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

}  // namespace limpid::cpu
