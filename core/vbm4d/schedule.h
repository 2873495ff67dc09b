// SPDX-License-Identifier: MIT
#pragma once

// The order in which V-BM4D filters the pictures (frames, or fields of one parity) of a stream. All engines
// execute the same steps.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "core/vbm4d/vbm4d_plan.h"

namespace limpid::vbm4d {

enum class Work : std::uint8_t {
  kLoad,           ///< convert the samples, make the matching guide, estimate motion from and to the picture
                   ///< before
  kFirstGroups,    ///< filter the groups with references in the picture, first step
  kBasicEstimate,  ///< make the basic estimate from the sums of the first step
  kSecondGroups,   ///< filter the groups with references in the picture, second step
  kResult,         ///< make the result from the sums of the last step
  kRelease,        ///< free all memory of the picture: no later step uses it
};

struct ScheduledStep {
  Work work = Work::kLoad;
  int picture = 0;  ///< index in the window
  /// Groups only: the first picture that still needs their estimates. An engine may skip earlier ones.
  int first_target = 0;
  bool operator==(const ScheduledStep&) const = default;
};

/// The work done on a picture so far, which is part of its state between two windows.
class PictureProgress {
 public:
  bool has(Work work) const { return done_[static_cast<std::size_t>(work)]; }
  void mark(Work work) { done_[static_cast<std::size_t>(work)] = true; }

 private:
  std::array<bool, 6> done_{};
};

/// The steps, in order, that lead to the result of picture `current` of a window. All work is done once and
/// as late as possible, so that few pictures are kept at a time. Work that `progress` (by picture of the
/// window) contains is omitted, except the result.
std::vector<ScheduledStep> schedule(const TemporalSpan& span, bool has_second_step, int current,
                                    std::span<const PictureProgress> progress);

/// What the schedule needs of a picture. Engines add their own data.
struct ScheduledPicture {
  PictureProgress progress;
  std::shared_ptr<const Vbm4dPlan> plan;
};

/// The pictures of one parity in a window that are filtered together: all are frames, or all are fields.
/// `State` has an array `pictures`, by parity.
template <typename State, typename FilteredFrame>
struct Sequence {
  const FrameWindow<FilteredFrame>& window;
  PictureRows rows;
  PlaneHeights heights;
  std::size_t parity;
  std::size_t begin;
  int count;
  int current;

  const FilteredFrame& frame(int i) const { return window.frames[begin + static_cast<std::size_t>(i)]; }
  auto& picture(int i) const { return static_cast<State*>(frame(i).state)->pictures[parity]; }
};

/// Executes the schedule of V-BM4D on the pictures of a stream. The type `Steps` of an engine has a function
/// for each Work: load(sequence, i), filter_groups(sequence, i, step, first_target), make_basic(sequence, i),
/// store_result(sequence, i) and release(picture).
class Executor {
 public:
  Executor(const Vbm4dParameters& parameters, const FrameFormat& format)
      : parameters_(parameters), format_(format) {}

  /// Makes the result of the window's current frame. `with_target(sequence)` returns a sequence that also has
  /// what the engine needs for its result.
  template <typename State, typename FilteredFrame, typename WithTarget, typename Steps>
  void filter(const FrameWindow<FilteredFrame>& window, const WithTarget& with_target, Steps& steps) {
    const bool interlaced = window.frames[window.current].is_interlaced();
    // Frames and pairs of fields are not filtered together.
    const auto belongs = [&](std::size_t i) { return window.frames[i].is_interlaced() == interlaced; };
    std::size_t begin = window.current;
    while (begin > 0 && belongs(begin - 1)) {
      --begin;
    }
    std::size_t end = window.current + 1;
    while (end < window.frames.size() && belongs(end)) {
      ++end;
    }
    const auto pictures = pictures_of(interlaced);
    for (std::size_t parity = 0; parity < pictures.size(); ++parity) {
      const Sequence<State, FilteredFrame> sequence{window,
                                                    pictures[parity],
                                                    plane_heights(format_, pictures[parity]),
                                                    parity,
                                                    begin,
                                                    static_cast<int>(end - begin),
                                                    static_cast<int>(window.current - begin)};
      filter_picture(with_target(sequence), steps);
    }
  }

 private:
  template <typename Pictures, typename Steps>
  void filter_picture(const Pictures& sequence, Steps& steps) {
    bool any_noise = false;
    std::vector<PictureProgress> progress;
    for (int i = 0; i < sequence.count; ++i) {
      ScheduledPicture& picture = sequence.picture(i);
      plan(picture, sequence.frame(i).noise, sequence.heights);
      progress.push_back(picture.progress);
      any_noise = any_noise || !picture.plan->planes.sets.empty();
    }
    if (!any_noise) {
      return steps.store_result(sequence, sequence.current);
    }
    for (const ScheduledStep& step :
         schedule(temporal_span(parameters_), parameters_.wiener.has_value(), sequence.current, progress)) {
      execute(sequence, step, steps);
      sequence.picture(step.picture).progress.mark(step.work);
    }
  }

  void plan(ScheduledPicture& picture, const NoiseModel& noise, const PlaneHeights& heights) {
    if (picture.plan != nullptr) {
      return;
    }
    if (last_plan_ == nullptr || last_plan_->planes.noise != noise || last_plan_->planes.heights != heights) {
      last_plan_ = std::make_shared<const Vbm4dPlan>(make_plan(parameters_, format_, noise, heights));
    }
    picture.plan = last_plan_;
  }

  template <typename Pictures, typename Steps>
  static void execute(const Pictures& sequence, const ScheduledStep& step, Steps& steps) {
    switch (step.work) {
      case Work::kLoad:
        return steps.load(sequence, step.picture);
      case Work::kFirstGroups:
        return steps.filter_groups(sequence, step.picture, 0, step.first_target);
      case Work::kBasicEstimate:
        return steps.make_basic(sequence, step.picture);
      case Work::kSecondGroups:
        return steps.filter_groups(sequence, step.picture, 1, step.first_target);
      case Work::kResult:
        return steps.store_result(sequence, step.picture);
      case Work::kRelease:
        return steps.release(sequence.picture(step.picture));
    }
  }

  Vbm4dParameters parameters_;
  FrameFormat format_;
  std::shared_ptr<const Vbm4dPlan> last_plan_;
};

}  // namespace limpid::vbm4d
