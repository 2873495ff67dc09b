// SPDX-License-Identifier: MIT
#include "io/media/reader/frame_times.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

#include "io/media/cuda_frames.h"
#include "io/media/source.h"

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

FrameTimes::FrameTimes(const VideoSource& source)
    : time_base_(source.stream.time_base),
      rate_(source.rate),
      first_time_(av_rescale_q(source.begin, kMicrosecond, time_base_)),
      // FFmpeg 7 uses one tick for the frames of raw streams without a rate.
      least_duration_(is_raw(source.container) ? av_rescale_q(1, {1, kGreatestRate}, time_base_) : 1),
      has_times_(!is_raw(source.container) && !is_device(source.container)),
      may_wait_(has_times_) {}

/// A GPU's decoder has too few frames to wait for a time.
bool FrameTimes::waits(const AVFrame& frame) const {
  return frame.best_effort_timestamp == AV_NOPTS_VALUE && last_pts_ == AV_NOPTS_VALUE && may_wait_ &&
         frame.hw_frames_ctx == nullptr;
}

bool FrameTimes::is_doubtful(const AVFrame& frame) const {
  const std::int64_t time = frame.best_effort_timestamp;
  if (!has_times_ || time == AV_NOPTS_VALUE) {
    return false;
  }
  if (last_pts_ == AV_NOPTS_VALUE) {
    constexpr std::int64_t kLateBegin = AV_TIME_BASE;
    return !has_sought_ && frame.hw_frames_ctx == nullptr &&
           time - first_time_ > av_rescale_q(kLateBegin, kMicrosecond, time_base_);
  }
  const std::int64_t step = time - last_pts_;
  const std::int64_t usual = rate_.num > 0 ? av_rescale_q(1, av_inv_q(rate_), time_base_) : 1;
  return step <= 0 || 2 * step > 3 * std::max(last_duration_, usual);
}

/// One wrong time makes libavcodec prefer decoding times, which belong to other frames, from then on.
void FrameTimes::prefer_own_time(AVFrame& frame) {
  constexpr std::int64_t kFramesPerFault = 50;
  if (has_times_ && frame.pts != AV_NOPTS_VALUE && frame.best_effort_timestamp != AV_NOPTS_VALUE) {
    faults_ += frame.pts <= std::exchange(last_own_, frame.pts) ? 1 : 0;
    const bool is_right = faults_ <= 1 + ++own_times_ / kFramesPerFault;
    frame.best_effort_timestamp = is_right ? frame.pts : frame.best_effort_timestamp;
  }
}

void FrameTimes::push(DecodedFrame decoded) {
  prefer_own_time(*decoded.frame);
  const AVFrame& frame = *decoded.frame;
  if (waits(frame)) {
    constexpr std::int64_t kMostBytes = 256 << 20;
    constexpr std::ptrdiff_t kMost = 100;
    const int bytes =
        av_image_get_buffer_size(static_cast<AVPixelFormat>(frame.format), frame.width, frame.height, 1);
    frames_.push_back(std::move(decoded));
    may_wait_ = std::ssize(frames_) < kMost && std::ssize(frames_) * bytes < kMostBytes;
    return;
  }
  if (!frames_.empty() && frames_.front().frame->best_effort_timestamp == AV_NOPTS_VALUE) {
    count_back_from(frame);
  }
  frames_.push_back(std::move(decoded));
  AVFrame& waiting = *frames_.back().frame;
  if (waiting.hw_frames_ctx != nullptr && !has_frame()) {
    frames_.back().frame = copy_to_host(waiting, "frame");
  }
}

/// The first frames are spread evenly before the first one that has a time.
void FrameTimes::count_back_from(const AVFrame& timed) {
  std::int64_t frames = std::ssize(frames_);
  for (const DecodedFrame& decoded : frames_) {
    AVFrame& frame = *decoded.frame;
    const std::int64_t before = rate_.num > 0 ? av_rescale_q(frames, av_inv_q(rate_), time_base_)
                                              : frames * std::max<std::int64_t>(duration_of(frame), 1);
    frame.best_effort_timestamp = timed.best_effort_timestamp - before;
    --frames;
  }
}

bool FrameTimes::end() {
  const bool has_waited = !frames_.empty();
  may_wait_ = may_wait_ && !has_waited;
  has_ended_ = true;
  return has_waited;
}

bool FrameTimes::has_frame() const {
  return !frames_.empty() && !waits(*frames_.front().frame) &&
         (has_ended_ || frames_.size() > 1 || !is_doubtful(*frames_.front().frame));
}

DecodedFrame FrameTimes::pop(AVRational rate) {
  DecodedFrame decoded = std::move(frames_.front());
  frames_.pop_front();
  decoded.has_wrong_time = set_time(*decoded.frame, rate);
  return decoded;
}

/// Returns true if the time is wrong.
bool FrameTimes::set_time(AVFrame& frame, AVRational rate) {
  std::int64_t duration = duration_of(frame);
  if (duration < least_duration_ && rate.num > 0) {
    duration = av_rescale_q(1, av_inv_q(rate), time_base_);
  }
  const std::int64_t own = frame.best_effort_timestamp;
  const std::int64_t next = frames_.empty() ? AV_NOPTS_VALUE : frames_.front().frame->best_effort_timestamp;
  const bool has_last = last_pts_ != AV_NOPTS_VALUE;
  const bool is_before_next = next != AV_NOPTS_VALUE && (!has_last || next > last_pts_);
  const bool is_early = has_last && own <= last_pts_;
  const bool is_late = is_before_next && own >= next && is_doubtful(frame);
  frame.pts = own;
  if (own == AV_NOPTS_VALUE) {
    frame.pts = has_last ? last_pts_ + std::max<std::int64_t>(last_duration_, 1) : first_time_;
  } else if (is_late && !has_last) {
    frame.pts = next - std::max<std::int64_t>(duration, 1);
  } else if (is_early || is_late) {
    frame.pts = std::max(last_pts_ + 1, is_before_next ? std::midpoint(last_pts_, next) : last_pts_);
  }
  set_duration(frame, duration);
  const bool is_wrong = has_times_ && own != AV_NOPTS_VALUE && own != last_pts_ && (is_early || is_late);
  last_pts_ = frame.pts;
  last_duration_ = duration;
  return is_wrong;
}

void FrameTimes::forget_position() {
  frames_.clear();
  last_pts_ = last_own_ = AV_NOPTS_VALUE;
  has_ended_ = false;
  has_sought_ = true;
}

std::int64_t FrameTimes::end_time() const {
  return av_rescale_q(last_pts_ + last_duration_, time_base_, kMicrosecond);
}

}  // namespace limpid::io
