// SPDX-License-Identifier: MIT
#include "io/media/reader/context_frames.h"

#include <utility>

namespace limpid::io {

void ContextFrames::keep(FrameHandle frame) {
  frames_.push_back(std::move(frame));
  if (count() > wanted_) {
    frames_.pop_front();
  }
}

FrameHandle ContextFrames::take() {
  if (!first_ || frames_.empty()) {
    return nullptr;
  }
  FrameHandle frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

std::optional<Frame> ContextFrames::take_held() {
  return frames_.empty() ? std::exchange(first_, std::nullopt) : std::nullopt;
}

void ContextFrames::clear() {
  frames_.clear();
  first_.reset();
}

}  // namespace limpid::io
