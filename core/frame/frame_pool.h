// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "core/frame/frame.h"

namespace limpid {

/// A pool of frames that reuses their memory, so that a stream allocates only as many frames as are alive at
/// once. Memory that has not been used for 1024 allocations, or eight times the number of frames, is freed.
/// Formats may differ. Thread-safe. Frames may outlive the pool.
class FramePool {
 public:
  using Allocator = std::function<Frame(const FrameFormat&)>;

  /// `allocate` makes a frame when the pool has no free one.
  explicit FramePool(Allocator allocate = allocate_frame);
  /// Samples are uninitialized. Throws OutOfMemory.
  Frame allocate(const FrameFormat& format);

 private:
  struct State;
  Allocator allocate_;
  std::shared_ptr<State> state_;
};

}  // namespace limpid
