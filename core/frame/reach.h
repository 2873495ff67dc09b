// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/not_copyable.h"

namespace limpid {

/// Maximum numbers of frames before and after a frame on which its result depends; 0 and 0 for spatial
/// filters. Any segment of a stream with as many frames of context is bit-exact with the whole stream, unless
/// the reach is unbounded.
struct Reach {
  int before = 0;
  int after = 0;
  /// A result depends on all earlier frames since the beginning of the stream or the last cut. `before` is
  /// the number of frames after which a stream that begins later has results of equal quality; they are never
  /// bit-exact.
  bool unbounded = false;
  bool operator==(const Reach&) const = default;
};

/// The reach of a result that depends on two results of the same frame.
constexpr Reach greater(const Reach& a, const Reach& b) {
  return {.before = a.before > b.before ? a.before : b.before,
          .after = a.after > b.after ? a.after : b.after,
          .unbounded = a.unbounded || b.unbounded};
}

/// Data that a temporal filter keeps for a frame while results depend on it, such as its basic estimate.
class FrameState : NotCopyable {
 public:
  virtual ~FrameState() = default;
};

/// The frames that a result may depend on, as values of type `Seen`: the filtered frame and its neighbors
/// within the filter's reach, fewer at the beginning, the end and at cuts of the stream.
template <typename Seen>
struct FrameWindow {
  std::vector<Seen> frames;
  std::size_t current = 0;  ///< index of the filtered frame
  /// False for frames that are context only, which filters of unbounded reach also receive.
  bool wanted = true;
};

// For two filters of the same frames whose results are mixed.

/// The states of a frame in both filters, which must keep states.
struct MixedStates final : FrameState {
  MixedStates(std::unique_ptr<FrameState> of_first, std::unique_ptr<FrameState> of_second)
      : first(std::move(of_first)), second(std::move(of_second)) {}

  // All states of a filter are made by itself.
  static MixedStates& of(FrameState& state) { return static_cast<MixedStates&>(state); }
  static const MixedStates& of(const FrameState& state) { return static_cast<const MixedStates&>(state); }

  std::unique_ptr<FrameState> first;
  std::unique_ptr<FrameState> second;
};

/// The part of a window that one of the filters reaches, with its states.
template <typename Window>
Window within(const Window& window, const Reach& reach,
              const std::unique_ptr<FrameState> MixedStates::*state) {
  const std::size_t first = window.current - std::min(window.current, static_cast<std::size_t>(reach.before));
  const std::size_t last =
      std::min(window.frames.size() - 1, window.current + static_cast<std::size_t>(reach.after));
  Window part{.frames = {window.frames.begin() + static_cast<std::ptrdiff_t>(first),
                         window.frames.begin() + static_cast<std::ptrdiff_t>(last) + 1},
              .current = window.current - first,
              .wanted = window.wanted};
  for (auto& frame : part.frames) {
    frame.state = (MixedStates::of(*frame.state).*state).get();
  }
  return part;
}

/// Two filters of an engine, and what they keep of each frame. Their mix also depends on the first one's
/// result of the frame before.
template <typename Filter>
struct FilterPair {
  Reach reach() const {
    Reach both = greater(first->reach(), second->reach());
    ++both.before;
    return both;
  }
  std::unique_ptr<FrameState> make_state() const {
    return std::make_unique<MixedStates>(first->make_state(), second->make_state());
  }
  void renew(FrameState& state) {
    last = last == &state ? nullptr : last;
    first->renew(*MixedStates::of(state).first);
    second->renew(*MixedStates::of(state).second);
  }

  /// Calls run(window) with the first filter's windows of the frame before, unless it was the last one, and
  /// of the current frame.
  template <typename Window, typename Run>
  void run_first(const Window& window, const Run& run) {
    if (window.current > 0 && window.frames[window.current - 1].state != last) {
      Window of_before = window;
      --of_before.current;
      run(within(of_before, first->reach(), &MixedStates::first));
    }
    run(within(window, first->reach(), &MixedStates::first));
    last = window.frames[window.current].state;
  }

  std::unique_ptr<Filter> first;
  std::unique_ptr<Filter> second;
  const FrameState* last = nullptr;  ///< of the frame of run_first(); null once it is another frame's
};

}  // namespace limpid
