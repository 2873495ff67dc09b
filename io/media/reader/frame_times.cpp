// SPDX-License-Identifier: MIT
#include "io/media/reader/frame_times.h"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/media/input_format.h"

namespace limpid::io {

FrameTimes::FrameTimes(const VideoSource& source)
    : time_base_(source.stream.time_base),
      rate_(source.rate),
      first_time_(av_rescale_q(source.begin, kMicrosecond, time_base_)),
      // FFmpeg 7 uses one tick for the frames of raw streams without a rate.
      least_duration_(is_raw(source.container) ? av_rescale_q(1, {1, kGreatestRate}, time_base_) : 1),
      may_wait_(!is_raw(source.container) && !is_device(source.container)) {}

/// A GPU's decoder has too few frames to wait.
bool FrameTimes::waits(const AVFrame& frame) const {
  return frame.best_effort_timestamp == AV_NOPTS_VALUE && last_pts_ == AV_NOPTS_VALUE && may_wait_ &&
         frame.hw_frames_ctx == nullptr;
}

void FrameTimes::push(DecodedFrame decoded) {
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
  if (!frames_.empty()) {
    count_back_from(frame);
  }
  frames_.push_back(std::move(decoded));
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
  return has_waited;
}

bool FrameTimes::has_frame() const { return !frames_.empty() && !waits(*frames_.front().frame); }

DecodedFrame FrameTimes::pop(AVRational rate) {
  DecodedFrame decoded = std::move(frames_.front());
  frames_.pop_front();
  set_time(*decoded.frame, rate);
  return decoded;
}

void FrameTimes::set_time(AVFrame& frame, AVRational rate) {
  std::int64_t duration = duration_of(frame);
  if (duration < least_duration_ && rate.num > 0) {
    duration = av_rescale_q(1, av_inv_q(rate), time_base_);
  }
  frame.pts = frame.best_effort_timestamp;
  if (frame.pts == AV_NOPTS_VALUE) {
    frame.pts =
        last_pts_ == AV_NOPTS_VALUE ? first_time_ : last_pts_ + std::max<std::int64_t>(last_duration_, 1);
  } else if (last_pts_ != AV_NOPTS_VALUE && frame.pts <= last_pts_) {
    frame.pts = last_pts_ + 1;
  }
  set_duration(frame, duration);
  last_pts_ = frame.pts;
  last_duration_ = duration;
}

void FrameTimes::forget_position() {
  frames_.clear();
  last_pts_ = AV_NOPTS_VALUE;
}

std::int64_t FrameTimes::end_time() const {
  return av_rescale_q(last_pts_ + last_duration_, time_base_, kMicrosecond);
}

}  // namespace limpid::io
