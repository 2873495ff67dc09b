// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

namespace limpid {

/// Activity of one stage of a device, in nanoseconds of its clock. A turn is the stage's work on one frame.
/// Between the beginning of its first turn and the end of its last, the stage was either busy or waiting.
struct DeviceStage {
  std::int64_t frames = 0;
  std::int64_t busy_ns = 0;
  std::int64_t waited_for_input_ns = 0;   ///< time of waiting for the stage before, or for a frame
  std::int64_t waited_for_output_ns = 0;  ///< time of waiting for free memory in the stage after
  std::int64_t end_ns = 0;                ///< time when the last turn ended

  /// Adds the turn of the next frame. The turn began when the previous turn had ended, its input was
  /// available (`input`) and memory for its output was free (`room`), and ended at `end`. All times have one
  /// arbitrary origin. Clocks are not exact: if `end` precedes the beginning, the turn counts as zero time.
  void add_turn(std::int64_t input, std::int64_t room, std::int64_t end) {
    const std::int64_t free = frames > 0 ? end_ns : std::max(input, room);
    const std::int64_t begin = std::max({free, input, room});
    end_ns = std::max(begin, end);
    const std::int64_t had_room = std::clamp(room, free, begin);
    ++frames;
    waited_for_output_ns += had_room - free;
    waited_for_input_ns += begin - had_room;
    busy_ns += end_ns - begin;
  }
};

/// The stages through which each frame passes in a device with its own memory. Stages work on different
/// frames at the same time.
struct DeviceStages {
  DeviceStage upload;  ///< copies from host memory or a decoder
  DeviceStage filter;
  DeviceStage download;  ///< copies to host memory or an encoder
};

}  // namespace limpid
