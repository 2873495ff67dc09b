#pragma once

#include <memory>

#include "core/frame.h"

namespace limpid {

/// Frames whose memory is used again: a stream of frames of one format allocates only as many as are alive at
/// once. Thread-safe. Frames may outlive the pool.
class FramePool {
 public:
  FramePool();
  /// Samples are not initialised. Throws Error if memory does not suffice.
  Frame allocate(const FrameFormat& format);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace limpid
