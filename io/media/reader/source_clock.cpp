// SPDX-License-Identifier: MIT
#include "io/media/reader/source_clock.h"

#include <algorithm>
#include <cstdlib>

#include "io/media/input_format.h"
#include "io/media/time_range.h"

namespace limpid::io {

SourceClock::SourceClock(const AVFormatContext& input, std::int64_t first_time)
    : kind_(is_device(*input.iformat)   ? Kind::kBeginsWithFirstPacket
            : has_jumps(*input.iformat) ? Kind::kJumps
                                        : Kind::kSteady),
      first_jump_(TimeRange::kOpen),
      first_time_(first_time),
      lines_(input.nb_streams) {
  if (kind_ == Kind::kJumps && input.start_time != AV_NOPTS_VALUE) {
    offset_ = first_offset_ = -input.start_time;
  }
}

void SourceClock::set_zero(std::int64_t time) { offset_ = first_offset_ = offset_ - time; }

void SourceClock::shift(AVPacket& packet, const AVStream& stream, bool times_are_guesses) {
  std::int64_t microseconds = offset_;
  if (kind_ == Kind::kJumps) {
    microseconds = offset_without_jumps(packet, stream, times_are_guesses);
  } else if (kind_ == Kind::kBeginsWithFirstPacket && packet.pts != AV_NOPTS_VALUE) {
    microseconds = offset_ += first_time_ - av_rescale_q(packet.pts, stream.time_base, kMicrosecond);
    kind_ = Kind::kSteady;
  }
  const std::int64_t offset =
      is_timeless(stream) ? 0 : av_rescale_q(microseconds, kMicrosecond, stream.time_base);
  if (packet.pts != AV_NOPTS_VALUE) {
    packet.pts += offset;
  }
  if (packet.dts != AV_NOPTS_VALUE) {
    packet.dts += offset;
  }
}

/// Recordings that were cut and joined have a clock that jumps. Like ffmpeg, this treats a step back, or one
/// of more than 10 s, as a jump, and moves later times to the expected position. Packets of other streams may
/// be stored behind the jump, but have times before it: these keep the offset of their stream. A single
/// packet with a late time is no jump.
std::int64_t SourceClock::offset_without_jumps(const AVPacket& packet, const AVStream& stream,
                                               bool times_are_guesses) {
  const AVMediaType type = stream.codecpar->codec_type;
  if (packet.dts == AV_NOPTS_VALUE || (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO)) {
    return offset_;
  }
  constexpr std::int64_t kGreatestGap = 10 * AV_TIME_BASE;
  constexpr std::int64_t kGreatestStepBack = AV_TIME_BASE / 10;
  const std::int64_t time = av_rescale_q(packet.dts, stream.time_base, kMicrosecond);
  const std::int64_t duration = av_rescale_q(packet.duration, stream.time_base, kMicrosecond);
  Line& line = lines_[stream.index];
  std::int64_t offset = offset_;
  if (line.next != AV_NOPTS_VALUE) {
    const auto gap = [&] { return time + offset - line.next; };
    const std::int64_t gap_now = std::abs(gap());
    offset = std::abs(time + line.offset - line.next) < gap_now ? line.offset : offset_;
    const bool is_back = gap() < -(times_are_guesses ? kGreatestGap : kGreatestStepBack) &&
                         std::abs(time + offset - line.regular) > kGreatestStepBack;
    if (gap() > kGreatestGap || is_back) {
      first_jump_ = std::min(first_jump_, line.next);
      offset = offset_ = line.next - time;
    }
  }
  line = {.next = time + offset + duration,
          .regular = line.next == AV_NOPTS_VALUE ? time + offset + duration : line.next + duration,
          .offset = offset};
  return offset;
}

void SourceClock::forget_position() {
  std::fill(lines_.begin(), lines_.end(), Line{});
  offset_ = first_offset_;
}

}  // namespace limpid::io
