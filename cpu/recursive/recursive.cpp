// SPDX-License-Identifier: MIT
#include "cpu/recursive/recursive.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "core/base/parallel.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "cpu/motion/motion_estimation.h"
#include "cpu/recursive/plane_merger.h"
#include "cpu/recursive/recursive_state.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/planes.h"

namespace limpid::cpu {
namespace {

using Planes = std::array<Plane, kMaxPlanes>;

// The filter's components, planes and noise follow from BM3D's plan for patches of the same size.
Bm3dParameters planned_like() {
  Bm3dParameters parameters;
  parameters.hard_threshold.patch_size = recursive::kPatch;
  parameters.hard_threshold.transform_2d = Transform2d::kDct;
  parameters.wiener.reset();
  return parameters;
}

// values(row, column) in the order of a vector kernel.
template <typename Values>
PatchValues patch_values(const Values& values) {
  constexpr int kSide = recursive::kPatch;
  PatchValues result{};
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < 2 * kSide; ++column) {
      result[row * 2 * kSide + column] = static_cast<float>(values(row, column % kSide));
    }
  }
  return result;
}

PatchStep patch_step(const Bm3dComponent& component, float lambda) {
  PatchStep step;
  const float threshold = coefficient_threshold(lambda, 1);
  step.threshold = threshold * threshold;
  // Coefficients are transposed.
  const auto variance = [&](int row, int column) {
    return component.sigma * component.sigma *
           component.coefficient_variances[0][column * recursive::kPatch + row];
  };
  step.variances = patch_values(variance);
  step.inverse_variances = patch_values([&](int row, int column) { return 1 / variance(row, column); });
  const std::vector<double> window = kaiser_window(recursive::kPatch, double{recursive::kKaiserBeta});
  step.window = patch_values([&](int row, int column) { return window[row * recursive::kPatch + column]; });
  return step;
}

}  // namespace

// One picture of each frame: the frame itself, or one of its fields.
class RecursiveFilter::Picture {
 public:
  Picture(const RecursiveParameters& parameters, const FrameFormat& format)
      : parameters_(parameters), format_(format) {}

  void filter(const Planes& in, const NoiseModel& noise, const PlaneHeights& heights, const Planes& out);
  void forget() { state_.valid = false; }

 private:
  // Working memory of a component, beside its state.
  struct Component {
    PaddedPlane noisy;
    PaddedPlane first_estimate;
    WarpedState warped;
    PatchStep step;
    std::array<PlaneMerger, 2> mergers;  // of each step
  };

  bool is_filtered(int c) const { return plan_->components[c].sigma > 0; }
  int component_count() const { return format_.color_plane_count(); }
  ComponentShifts shifts_of(int c) const;
  void prepare(const NoiseModel& noise, const PlaneHeights& heights);
  void adapt_state();
  void load(const Planes& in);
  bool is_repeat() const;
  void merge();
  void search(const PaddedPlane& luma, bool with_pilot);
  void run_step(int c, bool second, bool has_prior);
  void store(const Planes& out);
  void build_pyramid(const PaddedPlane& luma, MotionPyramid& pyramid);

  RecursiveParameters parameters_;
  FrameFormat format_;
  std::optional<Bm3dPlan> plan_;
  RecursiveState state_;
  std::array<Component, 3> components_;
  MotionPyramid current_;
  MotionEstimator estimator_;
  FollowedMotion motion_;
  AlignedVector<std::uint8_t> bytes_;
};

void RecursiveFilter::Picture::filter(const Planes& in, const NoiseModel& noise, const PlaneHeights& heights,
                                      const Planes& out) {
  prepare(noise, heights);
  for (int p = 0; p < format_.plane_count(); ++p) {
    if (plan_->copied[p]) {
      copy_plane(format_, in[p], out[p]);
    }
  }
  if (plan_->sets.empty()) {
    state_.valid = false;
    return;
  }
  adapt_state();
  load(in);
  if (!is_repeat()) {
    merge();
  }
  store(out);
}

ComponentShifts RecursiveFilter::Picture::shifts_of(int c) const {
  return c == 0 || format_.color_model != ColorModel::kYuv
             ? ComponentShifts{}
             : ComponentShifts{format_.chroma_shift_x, format_.chroma_shift_y};
}

void RecursiveFilter::Picture::prepare(const NoiseModel& noise, const PlaneHeights& heights) {
  if (plan_ && plan_->noise == noise && plan_->heights == heights) {
    return;
  }
  plan_ = make_plan(planned_like(), format_, noise, heights);
  for (int c = 0; c < component_count(); ++c) {
    Component& component = components_[c];
    const Bm3dComponent& planned = plan_->components[c];
    component.noisy.resize(planned.width, planned.height);
    if (!is_filtered(c)) {
      continue;
    }
    component.first_estimate.resize(planned.width, planned.height);
    component.step = patch_step(planned, parameters_.lambda);
    component.mergers[0].place(planned.width, planned.height, parameters_.spacing);
    component.mergers[1].place(planned.width, planned.height, parameters_.second_spacing);
  }
}

// Variances are relative to the noise, so a new noise level rescales them. If components or sizes differ, the
// state is dropped.
void RecursiveFilter::Picture::adapt_state() {
  for (int c = 0; c < component_count(); ++c) {
    const Bm3dComponent& planned = plan_->components[c];
    ComponentState& state = state_.components[c];
    if ((state.sigma > 0) != is_filtered(c) || state.noisy.width() != planned.width ||
        state.noisy.height() != planned.height) {
      state_.valid = false;
      state.resize(planned.width, planned.height);
    } else if (state.sigma != planned.sigma) {
      const float factor = state.sigma / planned.sigma;
      std::ranges::for_each(state.variances, [&](float& variance) { variance *= factor * factor; });
    }
    state.sigma = planned.sigma;
  }
}

void RecursiveFilter::Picture::load(const Planes& in) {
  for (int c = 0; c < component_count(); ++c) {
    PaddedPlane& noisy = components_[c].noisy;
    for_each_row(noisy.height(),
                 [&](int y) { load_row(format_, in[c].row<std::byte>(y), noisy.width(), noisy.row(y)); });
  }
  if (plan_->opponent) {
    for_each_row(components_[0].noisy.height(), [&](int y) {
      rgb_to_opponent_row(components_[0].noisy.row(y), components_[1].noisy.row(y),
                          components_[2].noisy.row(y), components_[0].noisy.width());
    });
  }
}

bool RecursiveFilter::Picture::is_repeat() const {
  if (!state_.valid) {
    return false;
  }
  for (int c = 0; c < component_count(); ++c) {
    const Bm3dComponent& planned = plan_->components[c];
    if (is_filtered(c) &&
        !repeats_frame(state_.components[c], components_[c].noisy, planned.repetition, planned.curve)) {
      return false;
    }
  }
  return true;
}

void RecursiveFilter::Picture::merge() {
  const auto for_each_filtered = [&](const auto& function) {
    for (int c = 0; c < component_count(); ++c) {
      if (is_filtered(c)) {
        function(c);
      }
    }
  };
  bool has_prior = state_.valid;
  if (has_prior) {
    search(components_[0].noisy, true);
  }
  bool is_first_component = true;
  for_each_filtered([&](int c) {
    run_step(c, false, has_prior);
    if (std::exchange(is_first_component, false) && has_prior &&
        components_[c].mergers[0].unknown_share() > recursive::kMostUnknown) {
      has_prior = false;
      run_step(c, false, false);
    }
  });
  if (has_prior && parameters_.motion_searches == 2 && is_filtered(0)) {
    search(components_[0].first_estimate, false);
  }
  for_each_filtered([&](int c) {
    run_step(c, true, has_prior);
    ComponentState& state = state_.components[c];
    components_[c].mergers[1].average_gains(state.columns, state.rows, state.variances);
    std::swap(state.noisy, components_[c].noisy);
  });
  build_pyramid(is_filtered(0) ? state_.components[0].result : components_[0].noisy, state_.reference);
  state_.valid = true;
}

// Finds the motion of a picture of luma, and follows it.
void RecursiveFilter::Picture::search(const PaddedPlane& luma, bool with_pilot) {
  build_pyramid(luma, current_);
  estimator_.estimate(state_.reference, current_, motion_.field);
  motion_.refine(state_.reference, current_, plan_->components[0].sigma);
  for (int c = 0; c < component_count(); ++c) {
    if (is_filtered(c)) {
      warp_state(state_.components[c], motion_, shifts_of(c), with_pilot, components_[c].warped);
    }
  }
}

void RecursiveFilter::Picture::run_step(int c, bool second, bool has_prior) {
  Component& component = components_[c];
  ComponentState& state = state_.components[c];
  const Bm3dComponent& planned = plan_->components[c];
  const ComponentShifts shifts = shifts_of(c);
  PatchStep& step = component.step;
  step.second = second;
  step.has_prior = has_prior;
  step.noisy = &component.noisy;
  step.prior = &component.warped.prior;
  step.pilot = second ? &component.first_estimate : &component.warped.pilot;
  const PaddedPlane& luma = second && is_filtered(0) ? components_[0].first_estimate : components_[0].noisy;
  const auto prepare = [&](int y, std::span<const int> xs, std::span<float> states,
                           std::span<float> factors) {
    std::ranges::fill(factors, 1.0F);
    if (planned.curve) {
      noise_factors(*planned.curve, luma, shifts, y, xs, factors);
    }
    for (std::size_t i = 0; has_prior && i < xs.size(); ++i) {
      const auto center = [](int begin, int shift) { return (begin + recursive::kPatch / 2) << shift; };
      states[i] =
          component.warped.variances[motion_.field.block_at(center(xs[i], shifts.x), center(y, shifts.y))] +
          recursive::kAddedVariance;
    }
  };
  component.mergers[second ? 1 : 0].run(step, prepare, second ? state.result : component.first_estimate,
                                        second ? &state.merged : nullptr);
}

void RecursiveFilter::Picture::store(const Planes& out) {
  const auto row_of = [&](int c, int y) {
    return is_filtered(c) ? state_.components[c].result.row(y) : components_[c].noisy.row(y);
  };
  const auto store_plane_row = [&](int c, int y, const float* row) {
    if (!plan_->copied[c]) {
      store_row(format_, row, components_[c].noisy.width(), out[c].row<std::byte>(y));
    }
  };
  if (!plan_->opponent) {
    for (int c = 0; c < component_count(); ++c) {
      for_each_row(components_[c].noisy.height(), [&](int y) { store_plane_row(c, y, row_of(c, y)); });
    }
    return;
  }
  // The state keeps the components.
  for_each_row(components_[0].noisy.height(), [&](int y) {
    std::array<std::vector<float>, 3> rows;
    for (int c = 0; c < 3; ++c) {
      rows[c].assign(row_of(c, y), row_of(c, y) + components_[0].noisy.width());
    }
    opponent_to_rgb_row(rows[0].data(), rows[1].data(), rows[2].data(), components_[0].noisy.width());
    for (int c = 0; c < 3; ++c) {
      store_plane_row(c, y, rows[c].data());
    }
  });
}

void RecursiveFilter::Picture::build_pyramid(const PaddedPlane& luma, MotionPyramid& pyramid) {
  const FrameFormat format = {.width = luma.width(), .height = luma.height()};
  bytes_.resize(static_cast<std::size_t>(luma.width()) * luma.height());
  const Plane plane = {reinterpret_cast<std::byte*>(bytes_.data()), luma.width(), luma.width(),
                       luma.height()};
  for_each_row(luma.height(),
               [&](int y) { store_row(format, luma.row(y), luma.width(), plane.row<std::byte>(y)); });
  pyramid.build(format, {plane});
}

RecursiveFilter::RecursiveFilter(const RecursiveParameters& parameters, const FrameFormat& format)
    : parameters_(parameters), format_(format) {
  parameters.validate();
  format.validate("frame");
  for (int i = 0; i < 2; ++i) {
    pictures_.push_back(std::make_unique<Picture>(parameters, format));
  }
}

RecursiveFilter::~RecursiveFilter() = default;

void RecursiveFilter::filter_window(const FilterWindow& window, Frame& out) {
  const FilteredFrame& current = window.frames[window.current];
  const Frame& in = *current.frame;
  if (in.begins_anew || in.interlaced != by_field_) {
    forget();
  }
  by_field_ = in.interlaced;
  const std::span<const PictureRows> pictures = pictures_of(in.interlaced);
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures_[i]->filter(picture_of(format_, in.planes, pictures[i]), current.noise,
                         plane_heights(format_, pictures[i]), picture_of(format_, out.planes, pictures[i]));
  }
}

void RecursiveFilter::forget() {
  for (const std::unique_ptr<Picture>& picture : pictures_) {
    picture->forget();
  }
}

std::vector<std::string> RecursiveFilter::warnings() const {
  return warnings_of_small_planes(planned_like(), format_);
}

}  // namespace limpid::cpu
