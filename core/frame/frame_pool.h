#pragma once

#include <functional>
#include <memory>

#include "core/frame/frame.h"

namespace limpid {

/// Frames whose memory is used again: streams of frames, each of its own format, allocate only as many as are
/// alive at once. Memory that has not been needed for 1024 frames, or eight times as many as there are, is
/// freed. Thread-safe. Frames may outlive the pool.
class FramePool {
 public:
  using Allocator = std::function<Frame(const FrameFormat&)>;

  /// `allocate` makes the frames that the pool has none of.
  explicit FramePool(Allocator allocate = allocate_frame);
  /// Samples are not initialized. Throws OutOfMemory.
  Frame allocate(const FrameFormat& format);

 private:
  struct State;
  Allocator allocate_;
  std::shared_ptr<State> state_;
};

}  // namespace limpid
