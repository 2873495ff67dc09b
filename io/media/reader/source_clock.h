// SPDX-License-Identifier: MIT
#pragma once

// The clock of a source. Private to io.

#include <cstdint>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// Shifts the timestamps of packets to the source's zero and removes jumps of the clock. Times without a time
/// base are microseconds.
class SourceClock {
 public:
  /// The offset is the time of the first packet. MPEG streams (AVFMT_TS_DISCONT) begin at zero. The clocks of
  /// devices count from the start of the machine or from 1970, so the times of devices also begin at zero
  /// with the first packet, or at `first_time`, in microseconds.
  explicit SourceClock(const AVFormatContext& input, std::int64_t first_time = 0);

  /// Makes `time` the zero of all timestamps. Must be called before the first packet.
  void set_zero(std::int64_t time);

  /// Shifts a packet of `stream`. `times_are_guesses`: true after a seek, when steps back are not jumps of
  /// the clock.
  void shift(AVPacket& packet, const AVStream& stream, bool times_are_guesses);

  /// Must be called when the reader seeks to a position before the first jump of the clock.
  void forget_position();

  /// The current offset, and the offset before any jump.
  std::int64_t offset() const { return offset_; }
  std::int64_t first_offset() const { return first_offset_; }
  /// The time of the first jump, including the offset; TimeRange::kOpen for none.
  std::int64_t first_jump() const { return first_jump_; }

 private:
  enum class Kind { kSteady, kJumps, kBeginsWithFirstPacket };

  /// The times of a stream, after the shift.
  struct Line {
    std::int64_t next = AV_NOPTS_VALUE;  ///< expected time of the next packet
    std::int64_t regular = 0;            ///< the same if the last packet had the expected time
    std::int64_t offset = 0;             ///< of the last packet
  };

  std::int64_t offset_without_jumps(const AVPacket& packet, const AVStream& stream, bool times_are_guesses);

  Kind kind_;
  std::int64_t offset_ = 0;
  std::int64_t first_offset_ = 0;
  std::int64_t first_jump_;
  std::int64_t first_time_;
  std::vector<Line> lines_;  ///< by stream
};

}  // namespace limpid::io
