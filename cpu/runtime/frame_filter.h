#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/frame_window.h"
#include "core/frame/reach.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// A frame as a filter sees it.
struct FilteredFrame {
  const Frame* frame = nullptr;
  NoiseModel noise;             ///< in 8-bit code values
  FrameState* state = nullptr;  ///< what make_state() has made
};

using FilterWindow = FrameWindow<FilteredFrame>;

/// What filters frames of one format, on the threads of the caller's arena. Holds all working memory, so that
/// frame after frame allocates nothing. One frame at a time.
class FrameFilter {
 public:
  FrameFilter() = default;
  FrameFilter(const FrameFilter&) = delete;
  FrameFilter& operator=(const FrameFilter&) = delete;
  virtual ~FrameFilter() = default;

  virtual Reach reach() const { return {}; }

  /// Filters the window's current frame into `out`, which has planes of the same format; alpha is copied.
  virtual void filter_window(const FilterWindow& window, Frame& out) = 0;

  /// The state of one frame; null if nothing is kept. States are used again for other frames, after renew().
  virtual std::unique_ptr<FrameState> make_state() { return nullptr; }
  /// The state is another frame's from now on.
  virtual void renew(FrameState& /*state*/) {}
  /// Whether the samples of the frame that has this state will not be looked at any more, though windows to
  /// come have the frame.
  virtual bool is_done(const FrameState& /*state*/) const { return false; }

  /// Of a filter of unbounded reach: forgets the frames before, as the next one does not continue them.
  virtual void forget() {}

  /// Whether results are estimates of the noisy samples' mean, in which clipping is to be undone
  /// (core/noise/clipping.h).
  virtual bool estimates_means() const { return false; }

  /// What will not be filtered as asked, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// A filter that looks at no other frame.
class SpatialFilter : public FrameFilter {
 public:
  void filter_window(const FilterWindow& window, Frame& out) final {
    const FilteredFrame& current = window.frames[window.current];
    filter(*current.frame, current.noise, out);
  }
  virtual void filter(const Frame& in, const NoiseModel& noise, Frame& out) = 0;
};

}  // namespace limpid::cpu
