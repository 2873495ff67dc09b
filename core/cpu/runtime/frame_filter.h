#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/reach.h"
#include "core/noise/noise_level.h"

namespace limpid::cpu {

/// What a filter over time keeps of one frame for as long as results depend on it, such as its basic
/// estimate.
class FrameState {
 public:
  FrameState() = default;
  FrameState(const FrameState&) = delete;
  FrameState& operator=(const FrameState&) = delete;
  virtual ~FrameState() = default;
};

/// A frame as a filter sees it.
struct FilteredFrame {
  const Frame* frame = nullptr;
  NoiseLevel noise;             ///< in 8-bit code values
  FrameState* state = nullptr;  ///< what make_state() has made
};

/// The frames that a result may depend on: the one that is filtered and those around it, as many as the
/// filter's reach at most, fewer where the stream begins, ends or is cut.
struct FrameWindow {
  std::vector<FilteredFrame> frames;
  std::size_t current = 0;
};

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
  virtual void filter_window(const FrameWindow& window, Frame& out) = 0;

  /// The state of one frame; null if nothing is kept. States are used again for other frames, after renew().
  virtual std::unique_ptr<FrameState> make_state() { return nullptr; }
  /// The state is another frame's from now on.
  virtual void renew(FrameState& /*state*/) {}

  /// What will not be filtered as asked, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }
};

/// A filter that looks at no other frame.
class SpatialFilter : public FrameFilter {
 public:
  void filter_window(const FrameWindow& window, Frame& out) final {
    const FilteredFrame& current = window.frames[window.current];
    filter(*current.frame, current.noise, out);
  }
  virtual void filter(const Frame& in, const NoiseLevel& noise, Frame& out) = 0;
};

}  // namespace limpid::cpu
