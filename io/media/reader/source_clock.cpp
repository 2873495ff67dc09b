// SPDX-License-Identifier: MIT
#include "io/media/reader/source_clock.h"

#include <algorithm>

#include "io/media/input_format.h"
#include "io/media/time_range.h"

namespace limpid::io {

SourceClock::SourceClock(const AVFormatContext& input, std::int64_t first_time)
    : kind_(is_device(*input.iformat)   ? Kind::kBeginsWithFirstPacket
            : has_jumps(*input.iformat) ? Kind::kJumps
                                        : Kind::kSteady),
      first_jump_(TimeRange::kOpen),
      first_time_(first_time),
      next_time_(input.nb_streams, AV_NOPTS_VALUE) {
  if (kind_ == Kind::kJumps && input.start_time != AV_NOPTS_VALUE) {
    offset_ = first_offset_ = -input.start_time;
  }
}

void SourceClock::set_zero(std::int64_t time) { offset_ = first_offset_ = offset_ - time; }

void SourceClock::shift(AVPacket& packet, const AVStream& stream, bool times_are_guesses) {
  if (kind_ == Kind::kJumps) {
    take_out_jump(packet, stream, times_are_guesses);
  } else if (kind_ == Kind::kBeginsWithFirstPacket && packet.pts != AV_NOPTS_VALUE) {
    offset_ += first_time_ - av_rescale_q(packet.pts, stream.time_base, kMicrosecond);
    kind_ = Kind::kSteady;
  }
  const std::int64_t offset = is_timeless(stream) ? 0 : av_rescale_q(offset_, kMicrosecond, stream.time_base);
  if (packet.pts != AV_NOPTS_VALUE) {
    packet.pts += offset;
  }
  if (packet.dts != AV_NOPTS_VALUE) {
    packet.dts += offset;
  }
}

/// Recordings that were cut and joined have a clock that jumps. Like ffmpeg, this treats a step back, or one
/// of more than 10 s, as a jump, and moves later times to the expected position.
void SourceClock::take_out_jump(const AVPacket& packet, const AVStream& stream, bool times_are_guesses) {
  const AVMediaType type = stream.codecpar->codec_type;
  if (packet.dts == AV_NOPTS_VALUE || (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO)) {
    return;
  }
  constexpr std::int64_t kGreatestGap = 10 * AV_TIME_BASE;
  constexpr std::int64_t kGreatestStepBack = AV_TIME_BASE / 10;
  const std::int64_t time = av_rescale_q(packet.dts, stream.time_base, kMicrosecond);
  std::int64_t& expected = next_time_[stream.index];
  if (expected != AV_NOPTS_VALUE) {
    const std::int64_t gap = time + offset_ - expected;
    if (gap > kGreatestGap || gap < -(times_are_guesses ? kGreatestGap : kGreatestStepBack)) {
      first_jump_ = std::min(first_jump_, expected);
      offset_ -= gap;
    }
  }
  expected = time + offset_ + av_rescale_q(packet.duration, stream.time_base, kMicrosecond);
}

void SourceClock::forget_position() {
  std::fill(next_time_.begin(), next_time_.end(), AV_NOPTS_VALUE);
  offset_ = first_offset_;
}

}  // namespace limpid::io
