#pragma once

#include <algorithm>
#include <cstdint>

namespace limpid {

/// What a device has done at one stage, in nanoseconds of its clock.
struct DeviceStage {
  std::int64_t frames = 0;
  std::int64_t busy_ns = 0;
  std::int64_t waited_for_input_ns = 0;   ///< for the stage before it
  std::int64_t waited_for_output_ns = 0;  ///< for the stage after it to make room

  /// Adds a frame's turn, which began and ended then and for whose output there was room from `room` on,
  /// which may have been long before. Turns in order, moments since any other, to a microsecond: `last_end`
  /// is the end of the turn before, and becomes this one's.
  void add_turn(std::int64_t room, std::int64_t begin, std::int64_t end, std::int64_t& last_end) {
    const std::int64_t free = frames > 0 ? last_end : begin;
    begin = std::max(begin, free);
    last_end = std::max(begin, end);
    const std::int64_t had_room = std::clamp(room, free, begin);
    ++frames;
    waited_for_output_ns += had_room - free;
    waited_for_input_ns += begin - had_room;
    busy_ns += last_end - begin;
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
