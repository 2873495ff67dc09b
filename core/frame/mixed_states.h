// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/frame/frame_window.h"
#include "core/frame/reach.h"

// For two filters of the same frames whose results are mixed.

namespace limpid {

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

/// Two filters of an engine, and what they keep of each frame.
template <typename Filter>
struct FilterPair {
  Reach reach() const { return greater(first->reach(), second->reach()); }
  std::unique_ptr<FrameState> make_state() const {
    return std::make_unique<MixedStates>(first->make_state(), second->make_state());
  }
  void renew(FrameState& state) const {
    first->renew(*MixedStates::of(state).first);
    second->renew(*MixedStates::of(state).second);
  }

  std::unique_ptr<Filter> first;
  std::unique_ptr<Filter> second;
};

}  // namespace limpid
