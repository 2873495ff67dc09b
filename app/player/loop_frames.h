// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/player/frame_store.h"
#include "app/player/passage.h"
#include "app/player/played_frame.h"

namespace limpid::app {

/// The frames of a passage that is repeated, with their results. Constant once it is shared.
struct LoopFrames {
  std::vector<PlayedFramePointer> frames;  ///< at least one
  double begin = 0;                        ///< of the passage; its first frame may be later
};

/// A reading position in LoopFrames, or none: frames are then read from the source. Not thread-safe.
class LoopPosition {
 public:
  /// Sets the frames to read: the passage with other results. Null ends reading from memory.
  void set_frames(std::shared_ptr<const LoopFrames> frames);
  /// Moves the position to the target. False if the frames do not have it; the position is then none.
  bool find(const SeekTarget& target);
  bool exists() const { return next_.has_value(); }
  /// The frame at the position, which moves on; null at the end.
  PlayedFramePointer next();

 private:
  std::shared_ptr<const LoopFrames> frames_;
  std::optional<std::size_t> next_;
};

}  // namespace limpid::app
