// SPDX-License-Identifier: MIT
#pragma once

// The times of packets and decoded frames. Private to io.

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "io/media/container_header.h"
#include "io/media/libav.h"
#include "io/media/reader/health.h"

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

/// The source of a decoder's packets.
struct VideoSource {
  const AVInputFormat& container;
  const AVStream& stream;
  AVRational rate;     ///< average frames per second; 0/1 if unknown
  std::int64_t begin;  ///< time of the first frame if no frame has a time, in microseconds
  std::optional<ContainerCropping> cropping = {};
};

/// A queue of decoded frames, in presentation order, that sets their times: the times of the source,
/// corrected to increase. Matroska cannot store times before zero, so the first frames may have none. These
/// frames wait for the first frame with a time, and their times are counted back from it. A frame whose time
/// is not the expected one waits for the next frame: if that has an earlier time, its own is wrong, otherwise
/// there is a gap.
class FrameTimes {
 public:
  explicit FrameTimes(const VideoSource& source);

  /// Adds the next frame of the decoder. Requires !has_frame().
  void push(DecodedFrame decoded);
  /// Ends the wait for later frames. Returns false if no frame was waiting.
  bool end();
  bool has_frame() const;
  /// The next frame. `rate`: frame rate of the decoder, in frames per second, 0/1 if unknown.
  DecodedFrame pop(AVRational rate);
  /// Declares that the next frame does not continue the previous one.
  void forget_position();

  /// False if no frame has been taken since forget_position().
  bool has_begun() const { return last_pts_ != AV_NOPTS_VALUE; }
  /// End time of the last frame, in microseconds.
  std::int64_t end_time() const;

 private:
  void prefer_own_time(AVFrame& frame);
  bool waits(const AVFrame& frame) const;
  bool is_doubtful(const AVFrame& frame) const;
  void count_back_from(const AVFrame& timed);
  bool set_time(AVFrame& frame, AVRational rate);

  AVRational time_base_;
  AVRational rate_;
  std::int64_t first_time_;
  std::int64_t least_duration_;
  bool has_times_;  ///< of its own
  bool may_wait_;   ///< false once so many frames have had no time that none is expected
  bool has_ended_ = false;
  bool has_sought_ = false;
  std::deque<DecodedFrame> frames_;
  std::int64_t last_own_ = AV_NOPTS_VALUE;  ///< as decoded
  std::int64_t own_times_ = 0;              ///< number of frames with times
  std::int64_t faults_ = 0;                 ///< of which so many step back
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  std::int64_t last_duration_ = 0;
};

}  // namespace limpid::io
