// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/along_motion.h"

#include <tbb/enumerable_thread_specific.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/vbm4d/schedule.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cpu/runtime/planes.h"
#include "cpu/vbm4d/picture_estimates.h"
#include "cpu/vbm4d/picture_groups.h"
#include "cpu/vbm4d/picture_motion.h"
#include "cpu/vbm4d/picture_state.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {
namespace {

using vbm4d::Work;

struct StateAlongMotion final : FrameState {
  std::array<PictureState, 2> pictures;  // of the frame, or of its fields
};

const Vbm4dParameters& checked(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

const FrameFormat& checked(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

}  // namespace

// Executes the schedule of each picture.
class FilterAlongMotion::Worker {
 public:
  Worker(const Vbm4dParameters& parameters, const FrameFormat& format, const GroupStage& stage)
      : parameters_(checked(parameters)),
        layout_(checked(format)),
        steps_(parameters.wiener ? 2 : 1),
        tables_(tables_of(bm3d_of(parameters), parameters.lambda, stage.patches)),
        warnings_(warnings_of_small_planes(bm3d_of(parameters), format)),
        groups_(parameters, stage, layout_, tables_),
        estimates_(layout_, tables_, steps_) {}

  Reach reach() const { return reach_of(parameters_); }
  static bool is_done(const StateAlongMotion& state) {
    const vbm4d::PictureProgress& first = state.pictures[0].progress;
    const vbm4d::PictureProgress& second = state.pictures[1].progress;
    return first.has(Work::kRelease) && (second.has(Work::kRelease) || !second.has(Work::kLoad));
  }
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool is_too_small() const {
    return static_cast<int>(warnings_.size()) == layout_.format.color_plane_count();
  }

  void filter(const FilterWindow& window, Frame& out) {
    const FilteredFrame& current = window.frames[window.current];
    if (is_too_small()) {
      for (int p = 0; p < layout_.format.plane_count(); ++p) {
        copy_plane(layout_.format, current.frame->planes[p], out.planes[p]);
      }
      return;
    }
    // Frames and pairs of fields are not filtered together.
    const auto alike = [&](std::size_t i) {
      return window.frames[i].frame->interlaced == current.frame->interlaced;
    };
    std::size_t first = window.current;
    while (first > 0 && alike(first - 1)) {
      --first;
    }
    std::size_t last = window.current;
    while (last + 1 < window.frames.size() && alike(last + 1)) {
      ++last;
    }
    const auto pictures = pictures_of(current.frame->interlaced);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      layout_.rows = pictures[i];
      layout_.heights = plane_heights(layout_.format, layout_.rows);
      window_.frames.assign(window.frames.begin() + static_cast<std::ptrdiff_t>(first),
                            window.frames.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      window_.pictures.clear();
      for (const FilteredFrame& frame : window_.frames) {
        window_.pictures.push_back(&static_cast<StateAlongMotion&>(*frame.state).pictures[i]);
      }
      filter_picture(static_cast<int>(window.current - first),
                     picture_of(layout_.format, out.planes, layout_.rows));
    }
  }

  void renew(StateAlongMotion& state) {
    for (PictureState& picture : state.pictures) {
      release(picture);
      picture.plan.reset();
      picture.progress = {};
    }
  }

 private:
  static std::array<StepTables, 2> tables_of(const Bm3dParameters& bm3d, float lambda, int patches) {
    std::array<StepTables, 2> tables{StepTables(bm3d.hard_threshold, lambda),
                                     StepTables(bm3d.wiener.value_or(bm3d.hard_threshold), 0.0F)};
    for (StepTables& each : tables) {
      each.numerator_unit = PictureSums::numerator_unit(each.step.spacing, patches);
    }
    return tables;
  }

  void filter_picture(int c, const std::array<Plane, kMaxPlanes>& out) {
    bool any_noise = false;
    for (int t = 0; t < window_.count(); ++t) {
      std::optional<Vbm4dPlan>& plan = window_.pictures[t]->plan;
      if (!plan) {
        plan = make_plan(parameters_, layout_.format, window_.frames[t].noise, layout_.heights);
      }
      any_noise = any_noise || !plan->planes.sets.empty();
    }
    if (!any_noise) {
      return make_result(c, out);
    }
    std::vector<vbm4d::PictureProgress> progress;
    for (const PictureState* picture : window_.pictures) {
      progress.push_back(picture->progress);
    }
    for (const vbm4d::ScheduledStep& step :
         vbm4d::schedule(temporal_span(parameters_), steps_ == 2, c, progress)) {
      execute(step, out);
      window_.pictures[step.picture]->progress.mark(step.work);
    }
  }

  void execute(const vbm4d::ScheduledStep& step, const std::array<Plane, kMaxPlanes>& out) {
    const int t = step.picture;
    PictureState& picture = *window_.pictures[t];
    switch (step.work) {
      case Work::kLoad:
        load(t);
        break;
      case Work::kFirstGroups:
      case Work::kSecondGroups:
        groups_.filter(window_, t, step.work == Work::kSecondGroups ? 1 : 0);
        break;
      case Work::kBasicEstimate:
        estimates_.make_basic(window_.samples(layout_, t), picture);
        break;
      case Work::kResult:
        make_result(t, out);
        estimates_.release_sums(picture);
        break;
      case Work::kRelease:
        release(picture);
        break;
    }
  }

  void load(int t) {
    PictureState& picture = *window_.pictures[t];
    const std::array<Plane, kMaxPlanes> in = window_.samples(layout_, t);
    estimates_.load(in, picture);
    motion_.load(layout_.format, in, picture);
    if (t > 0) {
      motion_.find(*window_.pictures[t - 1], picture);
    }
  }

  void make_result(int t, const std::array<Plane, kMaxPlanes>& out) {
    estimates_.make_result(window_.samples(layout_, t), *window_.pictures[t], out);
  }

  void release(PictureState& picture) {
    motion_.release(picture);
    estimates_.release(picture);
  }

  Vbm4dParameters parameters_;
  PictureLayout layout_;
  int steps_;
  std::array<StepTables, 2> tables_;
  std::vector<std::string> warnings_;
  PictureMotion motion_;
  PictureGroups groups_;
  PictureEstimates estimates_;
  PictureWindow window_;  // of the current frame or field
};

FilterAlongMotion::FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format,
                                     const GroupStage& groups)
    : worker_(std::make_unique<Worker>(parameters, format, groups)) {}

FilterAlongMotion::~FilterAlongMotion() = default;

Reach FilterAlongMotion::reach() const { return worker_->reach(); }

void FilterAlongMotion::filter_window(const FilterWindow& window, Frame& out) {
  worker_->filter(window, out);
}

std::unique_ptr<FrameState> FilterAlongMotion::make_state() { return std::make_unique<StateAlongMotion>(); }

void FilterAlongMotion::renew(FrameState& state) { worker_->renew(static_cast<StateAlongMotion&>(state)); }

bool FilterAlongMotion::is_done(const FrameState& state) const {
  return Worker::is_done(static_cast<const StateAlongMotion&>(state));
}

std::vector<std::string> FilterAlongMotion::warnings() const { return worker_->warnings(); }

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<TrajectoryScratch>>();
  return std::make_unique<FilterAlongMotion>(
      parameters, format,
      GroupStage{temporal_span(parameters).frames(), [scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_trajectories(job, tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
