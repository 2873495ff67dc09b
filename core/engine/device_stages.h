#pragma once

#include <algorithm>
#include <cstdint>

namespace limpid {

/// What a device has done at one stage, in nanoseconds of its clock. A turn is the stage's work on one frame.
/// From the beginning of its first turn to the end of its last, the stage was either busy or waiting.
struct DeviceStage {
  std::int64_t frames = 0;
  std::int64_t busy_ns = 0;
  std::int64_t waited_for_input_ns = 0;   ///< for the stage before it, or to be given another frame
  std::int64_t waited_for_output_ns = 0;  ///< for the stage after it to make room
  std::int64_t end_ns = 0;                ///< of the last turn

  /// Adds the turn of the next frame, which began when the last had ended, its input was there and there was
  /// room for its output, and ended at `end`. The moments count from any that is the same for all. Clocks are
  /// not exact: a turn that seems to end before it began took no time.
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

/// The stages through which a device with memory of its own takes each frame, while it takes others through
/// the other stages.
struct DeviceStages {
  DeviceStage upload;  ///< from the host's memory, or a decoder's
  DeviceStage filter;
  DeviceStage download;  ///< to the host's memory, or an encoder's
};

}  // namespace limpid
