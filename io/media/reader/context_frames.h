// SPDX-License-Identifier: MIT
#pragma once

// The frames before a range. Private to io.

#include <deque>
#include <optional>

#include "core/frame/frame.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Keeps the last frames before a range until the first frame of the range has been converted, because that
/// frame determines the format. The kept frames are then delivered, followed by the first frame of the range.
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
  /// Number of frames that have not been taken.
  int count() const { return static_cast<int>(frames_.size()); }
  /// The first frame of the range, after all others have been taken.
  std::optional<Frame> take_held();
  /// True if as many frames preceded the range as requested.
  bool are_complete() const { return count() + (first_ ? 1 : 0) >= wanted_; }
  void clear();

 private:
  int wanted_;
  std::deque<FrameHandle> frames_;
  std::optional<Frame> first_;
};

}  // namespace limpid::io
