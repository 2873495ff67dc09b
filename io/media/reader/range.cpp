// SPDX-License-Identifier: MIT
#include "io/media/reader/range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/error.h"
#include "core/base/regular_file.h"

namespace limpid::io {
namespace {

constexpr std::int64_t kRounding = 500;  // as in TimeRange

std::int64_t microseconds(double seconds) { return std::llround(seconds * AV_TIME_BASE); }

double in_seconds(std::int64_t microseconds) { return static_cast<double>(microseconds) / AV_TIME_BASE; }

std::string seconds_text(std::int64_t microseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g s", in_seconds(microseconds));
  return text.data();
}

}  // namespace

void ContextFrames::keep(FrameHandle frame) {
  frames_.push_back(std::move(frame));
  if (count() > wanted_) {
    frames_.pop_front();
  }
}

FrameHandle ContextFrames::take() {
  if (!first_ || frames_.empty()) {
    return nullptr;
  }
  FrameHandle frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

std::optional<Frame> ContextFrames::take_held() {
  return frames_.empty() ? std::exchange(first_, std::nullopt) : std::nullopt;
}

void ContextFrames::clear() {
  frames_.clear();
  first_.reset();
}

void KeyFrameQueue::begin(std::int64_t latest) {
  clear();
  latest_ = latest;
}

bool KeyFrameQueue::add(PacketHandle packet) {
  const std::int64_t shown = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
  const std::int64_t decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  // No frame is shown before it is decoded.
  const bool may_improve = decoded == AV_NOPTS_VALUE || decoded <= latest_;
  const bool is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  if (is_key && shown != AV_NOPTS_VALUE && shown <= latest_) {
    clear();
  } else if (packets_.empty()) {
    return may_improve;
  }
  constexpr std::int64_t kMostBytes = 64 << 20;
  bytes_ += packet->size;
  packets_.push_back(std::move(packet));
  return may_improve && bytes_ < kMostBytes;
}

PacketHandle KeyFrameQueue::take() {
  if (packets_.empty()) {
    return nullptr;
  }
  PacketHandle packet = std::move(packets_.front());
  packets_.pop_front();
  return packet;
}

void KeyFrameQueue::clear() {
  packets_.clear();
  bytes_ = 0;
}

Range::Range(const ReaderOptions& options, std::int64_t begin, const AVFormatContext& input,
             const AVStream& video)
    : video_(video),
      source_begin_(begin),
      past_end_(input.nb_streams, false),
      context_(options.start ? options.context_before : 0),
      context_after_(options.end ? options.context_after : 0) {
  if (options.start) {
    times_.begin = times_.shift = target_ = source_begin_ + microseconds(*options.start);
  }
  if (options.end) {
    times_.end = source_begin_ + microseconds(*options.end);
  }
}

void Range::set_target(double seconds, double before) {
  target_ = times_.shift + microseconds(seconds);
  times_.begin = target_ - microseconds(before);
}

int Range::skipped_frames(AVRational rate) const {
  if (!times_.has_begin() || rate.num <= 0) {
    return 0;
  }
  const std::int64_t frames =
      av_rescale_q_rnd(times_.begin - source_begin_ - kRounding, kMicrosecond, av_inv_q(rate), AV_ROUND_UP);
  return narrowed<int>(frames).value_or(0);
}

void Range::describe(VideoProperties& video) const {
  if (!times_.has_begin() && !times_.has_end()) {
    return;
  }
  const std::int64_t begin = times_.has_begin() ? times_.begin : source_begin_;
  if (video.duration > 0) {
    video.duration = std::max(0.0, video.duration - in_seconds(begin - source_begin_));
  }
  if (times_.has_end()) {
    const double length = in_seconds(times_.end - begin);
    video.duration = video.duration > 0 ? std::min(video.duration, length) : length;
  }
  video.frame_count = std::llround(video.duration * video.frames_per_second);
}

void Range::throw_no_frame(const std::string& url, std::int64_t seen, std::int64_t duration) const {
  const std::int64_t length =
      std::max(seen + times_.shift - source_begin_, std::max<std::int64_t>(duration, 0));
  const std::int64_t begin = times_.has_begin() ? times_.begin - source_begin_ : 0;
  throw Error(url + ": has no frame from " + seconds_text(begin) +
              (times_.has_end() ? " to " + seconds_text(times_.end - source_begin_) : " on") + "; it is " +
              seconds_text(length) + " long");
}

void Range::forget_position() {
  phase_ = Phase::kReading;
  gathered_.clear();
  std::fill(past_end_.begin(), past_end_.end(), false);
  is_last_behind_ = false;
  last_decoding_time_ = first_time_ = AV_NOPTS_VALUE;
  context_.clear();
  frames_behind_ = 0;
}

std::int64_t Range::before_target(std::int64_t margin) const {
  return target_ - times_.shift - margin + kRounding;
}

void Range::begin_gathering(std::int64_t latest) {
  gathered_.begin(av_rescale_q_rnd(latest, kMicrosecond, video_.time_base, AV_ROUND_DOWN));
  phase_ = Phase::kGathering;
}

void Range::gather(PacketHandle packet) {
  phase_ = gathered_.add(std::move(packet)) ? Phase::kGathering : Phase::kReading;
}

bool Range::end_gathering() {
  phase_ = is_gathering() ? Phase::kReading : phase_;
  return !gathered_.is_empty();
}

bool Range::take(AVPacket& packet, const AVStream& stream) {
  if (is_timeless(stream)) {
    return true;
  }
  const std::int64_t behind = times_.behind(stream.time_base);
  const bool is_behind = times_.has_end() && packet.dts != AV_NOPTS_VALUE && packet.dts >= behind;
  // The time of a single packet of the video may be wrong.
  const bool was_behind = &stream != &video_ || std::exchange(is_last_behind_, is_behind);
  if (is_behind && was_behind) {
    past_end_[packet.stream_index] = true;
    // An audio stream that ends before the range has no packet that marks its end.
    constexpr std::int64_t kFarthestApart = 10 * AV_TIME_BASE;
    if (&stream == &video_ &&
        packet.dts - behind > av_rescale_q(kFarthestApart, kMicrosecond, stream.time_base)) {
      std::fill(past_end_.begin(), past_end_.end(), true);
    }
  }
  if (&stream != &video_) {
    return times_.clip(packet, stream.time_base, stream.codecpar->codec_type);
  }
  if (past_end_[packet.stream_index] && context_after_ == 0) {
    // All frames that are shown before this one is decoded have been sent.
    end_video();
  }
  return !has_video_ended();
}

bool Range::contains(const AVPacket& packet) const {
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  return time == AV_NOPTS_VALUE ||
         (time >= times_.first(video_.time_base) && time < times_.behind(video_.time_base));
}

bool Range::is_shown(const AVPacket& packet) {
  // Its time may still be corrected slightly.
  constexpr std::int64_t kMargin = AV_TIME_BASE / 10;
  const std::int64_t first = times_.first(video_.time_base);
  // No frame is shown before it is decoded. Times that step back are corrected after decoding.
  last_decoding_time_ = std::max(last_decoding_time_, packet.dts);
  const bool is_reached = last_decoding_time_ != AV_NOPTS_VALUE && last_decoding_time_ >= first;
  return is_reached || !times_.has_begin() || context_.wanted() > 0 || packet.pts == AV_NOPTS_VALUE ||
         packet.pts >= first - av_rescale_q(kMargin, kMicrosecond, video_.time_base);
}

Range::Place Range::place(const AVFrame& frame) {
  if (first_time_ == AV_NOPTS_VALUE) {
    first_time_ = frame.pts;
  }
  // Filters may change the time base.
  const AVRational time_base = frame.time_base.num > 0 ? frame.time_base : video_.time_base;
  if (frame.pts >= times_.behind(time_base)) {
    return Place::kBehind;
  }
  return frame.pts >= times_.first(time_base) ? Place::kInside : Place::kBefore;
}

bool Range::take_behind() {
  if (frames_behind_ == context_after_) {
    return false;
  }
  ++frames_behind_;
  return true;
}

}  // namespace limpid::io
