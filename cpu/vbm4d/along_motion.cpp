// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/along_motion.h"

#include <tbb/enumerable_thread_specific.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "core/vbm4d/executor.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cpu/vbm4d/picture_estimates.h"
#include "cpu/vbm4d/picture_motion.h"
#include "cpu/vbm4d/picture_state.h"
#include "cpu/vbm4d/trajectory_tile.h"

namespace limpid::cpu {
namespace {

const Vbm4dParameters& checked(const Vbm4dParameters& parameters) {
  parameters.validate();
  return parameters;
}

const FrameFormat& checked(const FrameFormat& format) {
  format.validate("frame");
  return format;
}

std::array<StepTables, 2> tables_of(const Vbm4dParameters& parameters, int patches) {
  const Bm3dParameters bm3d = bm3d_of(parameters);
  std::array<StepTables, 2> tables{StepTables(bm3d.hard_threshold, parameters.lambda),
                                   StepTables(bm3d.wiener.value_or(bm3d.hard_threshold), 0.0F)};
  for (StepTables& each : tables) {
    each.numerator_unit = PictureSums::numerator_unit(each.step.spacing, patches);
  }
  return tables;
}

class FilterAlongMotion final : public FrameFilter {
 public:
  FilterAlongMotion(const Vbm4dParameters& parameters, const FrameFormat& format, const GroupStage& stage)
      : parameters_(checked(parameters)),
        layout_(checked(format)),
        tables_(tables_of(parameters, stage.patches)),
        groups_(parameters, stage, layout_, tables_),
        estimates_(layout_, tables_, parameters.wiener ? 2 : 1),
        executor_(parameters, format) {}

  Reach reach() const override { return reach_of(parameters_); }
  bool estimates_means() const override { return true; }
  std::vector<std::string> warnings() const override {
    return warnings_of_small_planes(bm3d_of(parameters_), layout_.format);
  }
  std::unique_ptr<FrameState> make_state() override { return std::make_unique<StateAlongMotion>(); }

  void renew(FrameState& state) override {
    for (PictureState& picture : static_cast<StateAlongMotion&>(state).pictures) {
      release(picture);
      picture.plan = nullptr;
      picture.progress = {};
    }
  }

  bool is_done(const FrameState& state) const override {
    const auto& pictures = static_cast<const StateAlongMotion&>(state).pictures;
    const auto is_released = [](const PictureState& picture) {
      return picture.progress.has(vbm4d::Work::kRelease);
    };
    return is_released(pictures[0]) &&
           (is_released(pictures[1]) || !pictures[1].progress.has(vbm4d::Work::kLoad));
  }

  void filter_window(const FilterWindow& window, Frame& out) override {
    executor_.filter<StateAlongMotion>(
        window,
        [&](const auto& sequence) {
          layout_.heights = sequence.heights;
          return PictureWindow{sequence, out};
        },
        *this);
  }

 private:
  friend vbm4d::Executor;

  void load(const PictureWindow& window, int t) {
    PictureState& picture = window.picture(t);
    const std::array<Plane, kMaxPlanes> in = window.samples(layout_, t);
    estimates_.load(in, picture);
    motion_.load(layout_.format, in, picture);
    if (t > 0) {
      motion_.find(window.picture(t - 1), picture);
    }
  }

  void filter_groups(const PictureWindow& window, int t, int step, int /*first_target*/) {
    groups_.filter(window, t, step);
  }

  void make_basic(const PictureWindow& window, int t) {
    estimates_.make_basic(window.samples(layout_, t), window.picture(t));
  }

  void store_result(const PictureWindow& window, int t) {
    estimates_.make_result(window.samples(layout_, t), window.picture(t), window.out(layout_));
  }

  void release(PictureState& picture) {
    motion_.release(picture);
    estimates_.release(picture);
  }

  Vbm4dParameters parameters_;
  PictureLayout layout_;
  std::array<StepTables, 2> tables_;
  PictureMotion motion_;
  PictureGroups groups_;
  PictureEstimates estimates_;
  vbm4d::Executor executor_;
};

}  // namespace

std::unique_ptr<FrameFilter> make_filter_along_motion(const Vbm4dParameters& parameters,
                                                      const FrameFormat& format, const GroupStage& groups) {
  return std::make_unique<FilterAlongMotion>(parameters, format, groups);
}

std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format) {
  const auto scratch = std::make_shared<tbb::enumerable_thread_specific<TrajectoryScratch>>();
  return make_filter_along_motion(
      parameters, format,
      GroupStage{temporal_span(parameters).frames(), [scratch](const TrajectoryJob& job, const Tile& tile) {
                   process_trajectories(job, tile, scratch->local());
                 }});
}

}  // namespace limpid::cpu
