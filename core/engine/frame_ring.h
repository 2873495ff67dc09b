// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "core/frame/reach.h"

namespace limpid {

/// The frames in a temporal filter, in order of arrival: those whose results are pending, and their
/// neighbors. `Kept` is an engine's data for each frame. Frames are kept exactly as long as the filter's
/// reach requires. A window is shorter at the ends of the stream, and does not extend across a frame with
/// `begins_anew`: after a cut, or where the level of the noise changes. A filter of unbounded reach stores
/// data of earlier frames itself; each of its windows has one frame. Not thread-safe.
template <typename Kept>
class FrameRing {
 public:
  using Window = FrameWindow<Kept*>;

  explicit FrameRing(Reach reach) : reach_(reach) {}

  /// `begins_anew`, `context_only`: as in Frame.
  void push(Kept kept, bool begins_anew, bool context_only) {
    frames_.push_back({std::move(kept), begins_anew || frames_.empty(), !context_only});
  }
  /// The last pushed frame, which must still be in the ring.
  const Kept& newest() const { return frames_.back().kept; }
  /// Ends the stream.
  void end() { ended_ = true; }

  /// True if next() has a window.
  bool has_next() {
    skip_context();
    return next_ < frames_.size() && (ended_ || last_of(next_) - next_ == after() || is_cut_behind(next_));
  }

  /// The next window. Its frames stay in place until retire().
  Window next() {
    skip_context();
    std::size_t first = next_;
    while (!frames_[first].begins_anew && next_ - first < before() && first > 0) {
      --first;
    }
    Window window;
    const std::size_t last = last_of(next_);
    for (std::size_t i = first; i <= last; ++i) {
      window.frames.push_back(&frames_[i].kept);
    }
    window.current = next_ - first;
    window.wanted = frames_[next_].wanted;
    ++next_;
    return window;
  }

  /// Calls `retire(Kept)`, in order, for the frames that no later window contains.
  template <typename Retire>
  void retire(const Retire& retire) {
    skip_context();
    std::size_t needed = next_ - std::min(next_, before());
    // Frames before a cut are of no use to frames after it.
    for (std::size_t i = next_; i > needed; --i) {
      if (i < frames_.size() && frames_[i].begins_anew) {
        needed = i;
      }
    }
    if (ended_ && next_ == frames_.size()) {
      needed = next_;
    }
    for (; needed > 0; --needed, --next_) {
      retire(std::move(frames_.front().kept));
      frames_.pop_front();
    }
  }

  /// Begins a new stream. Calls `retire(Kept)` for all frames.
  template <typename Retire>
  void reset(const Retire& retire) {
    for (Slot& slot : frames_) {
      retire(std::move(slot.kept));
    }
    frames_.clear();
    next_ = 0;
    ended_ = false;
  }

 private:
  struct Slot {
    Kept kept;
    bool begins_anew;
    bool wanted;
  };

  std::size_t before() const { return reach_.unbounded ? 0 : static_cast<std::size_t>(reach_.before); }
  std::size_t after() const { return static_cast<std::size_t>(reach_.after); }

  void skip_context() {
    while (!reach_.unbounded && next_ < frames_.size() && !frames_[next_].wanted) {
      ++next_;
    }
  }

  // The last present frame of frame `i`'s window.
  std::size_t last_of(std::size_t i) const {
    std::size_t last = i;
    while (last + 1 < frames_.size() && last - i < after() && !frames_[last + 1].begins_anew) {
      ++last;
    }
    return last;
  }
  bool is_cut_behind(std::size_t i) const {
    const std::size_t last = last_of(i);
    return last + 1 < frames_.size() && frames_[last + 1].begins_anew;
  }

  Reach reach_;
  std::deque<Slot> frames_;
  std::size_t next_ = 0;  // the first frame whose window has not been returned
  bool ended_ = false;
};

}  // namespace limpid
