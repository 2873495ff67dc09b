#pragma once

// The frames before a range. Private to io.

#include <deque>
#include <optional>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Keeps the last frames before a range until the range's first frame has been converted, which decides the
/// format. They are delivered next, and the first frame of the range after them.
class ContextFrames {
 public:
  explicit ContextFrames(int wanted) : wanted_(wanted) {}

  int wanted() const { return wanted_; }
  /// Takes a frame before the range, and drops the oldest if there are too many.
  void keep(FrameHandle frame);
  bool is_empty() const { return frames_.empty(); }
  /// Holds the range's first frame back.
  void hold(Frame first) { first_ = std::move(first); }

  /// The oldest frame, once the range's first frame is held; null if there is none.
  FrameHandle take();
  /// Frames that remain.
  int count() const { return static_cast<int>(frames_.size()); }
  /// The frame that is held, behind all others.
  std::optional<Frame> take_held();
  /// True if none was missing, once the first of them has been taken.
  bool are_complete() const { return count() + (first_ ? 1 : 0) >= wanted_; }
  void clear();

 private:
  int wanted_;
  std::deque<FrameHandle> frames_;
  std::optional<Frame> first_;
};

}  // namespace limpid::io
