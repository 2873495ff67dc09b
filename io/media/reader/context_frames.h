#pragma once

// The frames before a range. Private to io.

#include <deque>
#include <optional>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Keeps the last frames before a range until the range's first frame has been converted, which determines
/// the format. They are delivered next, followed by the first frame of the range.
class ContextFrames {
 public:
  explicit ContextFrames(int wanted) : wanted_(wanted) {}

  int wanted() const { return wanted_; }
  /// Adds a frame before the range, and drops the oldest one if there are too many.
  void keep(FrameHandle frame);
  bool is_empty() const { return frames_.empty(); }
  /// Holds back the range's first frame.
  void hold(Frame first) { first_ = std::move(first); }

  /// The oldest frame, once the range's first frame is held back; null if there is none.
  FrameHandle take();
  /// Number of remaining frames.
  int count() const { return static_cast<int>(frames_.size()); }
  /// The frame that is held back, after all others.
  std::optional<Frame> take_held();
  /// True if no frame was missing, once the first one has been taken.
  bool are_complete() const { return count() + (first_ ? 1 : 0) >= wanted_; }
  void clear();

 private:
  int wanted_;
  std::deque<FrameHandle> frames_;
  std::optional<Frame> first_;
};

}  // namespace limpid::io
