#pragma once

// The clock of a source. Private to io.

#include <cstdint>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// Moves the timestamps of packets to the source's zero and takes out jumps of the clock. Times without a
/// time base are microseconds.
class SourceClock {
 public:
  /// The offset is that of the first packet. MPEG streams (AVFMT_TS_DISCONT) begin at zero; the clocks of
  /// devices run since the machine was started, or since 1970, and begin at zero with their first packet.
  explicit SourceClock(const AVFormatContext& input);

  /// Makes `time` the zero of all timestamps. Before the first packet.
  void set_zero(std::int64_t time);

  /// Shifts a packet of `stream`. `times_are_guesses`: as behind a seek, where steps back are no jumps.
  void shift(AVPacket& packet, const AVStream& stream, bool times_are_guesses);

  /// The reader goes to another position of the source, without any jump before it.
  void forget_position();

  /// The offset that is added now, and the one before any jump.
  std::int64_t offset() const { return offset_; }
  std::int64_t first_offset() const { return first_offset_; }
  /// The time of the first jump that has been found, with the offset added; TimeRange::kOpen for none.
  std::int64_t first_jump() const { return first_jump_; }

 private:
  enum class Kind { kSteady, kJumps, kBeginsWithFirstPacket };

  void take_out_jump(const AVPacket& packet, const AVStream& stream, bool times_are_guesses);

  Kind kind_;
  std::int64_t offset_ = 0;
  std::int64_t first_offset_ = 0;
  std::int64_t first_jump_;
  std::vector<std::int64_t> next_time_;  ///< expected begin of the next packet, by stream
};

}  // namespace limpid::io
