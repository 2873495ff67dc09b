// The part of Reader that finds and keeps to a range of the source.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "io/reader_state.h"

namespace limpid::io {
namespace {

constexpr AVRational kMicroseconds{1, AV_TIME_BASE};

std::int64_t microseconds(double seconds) { return std::llround(seconds * AV_TIME_BASE); }

double in_seconds(std::int64_t microseconds) { return static_cast<double>(microseconds) / AV_TIME_BASE; }

std::string seconds_text(std::int64_t microseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g s", in_seconds(microseconds));
  return text.data();
}

}  // namespace

void Reader::State::set_range(const ReaderOptions& options) {
  // Devices' times become those since the first frame that is read, which isn't the first one of probing.
  const bool begins_at_zero = is_device(*input->iformat) || input->start_time == AV_NOPTS_VALUE;
  source_begin_ = begins_at_zero ? 0 : input->start_time + time_offset;
  if (options.start) {
    range.begin = range.shift = source_begin_ + microseconds(*options.start);
    time_offset -= range.shift;
  }
  if (options.end) {
    range.end = source_begin_ + microseconds(*options.end);
  }
  first_offset_ = time_offset;
}

/// Goes to the last key frame, as far as the container knows them, before the range and so many microseconds.
/// False if that is the source's beginning or the source can't do it; nothing has happened then.
bool Reader::State::seek_before_range(std::int64_t margin) {
  const bool on_disk = !is_device(*input->iformat) &&
                       (input->pb == nullptr || (input->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0);
  // Raw streams have no times: those that libav counts would begin at zero again.
  const bool has_times =
      (input->iformat->flags & AVFMT_NOTIMESTAMPS) == 0 && video_stream->start_time != AV_NOPTS_VALUE;
  if (!on_disk || !has_times || range.begin <= source_begin_ + margin) {
    return false;
  }
  const std::int64_t target = av_rescale_q(-range_offset_ - margin, kMicroseconds, video_stream->time_base);
  if (avformat_seek_file(input.get(), video_stream->index, INT64_MIN, target, target, 0) < 0) {
    return false;
  }
  forget_position();
  wants_key_frame_ = true;
  return true;
}

void Reader::State::rewind() {
  // Where there is no index, "not later than the first frame is shown" may be behind the key frame that comes
  // first. Others know no time before the first.
  constexpr std::int64_t kWellBefore = 10 * AV_TIME_BASE;
  const std::int64_t first = input->start_time == AV_NOPTS_VALUE ? 0 : input->start_time;
  // Raw streams have no times to go to, but begin with the first byte.
  if (avformat_seek_file(input.get(), -1, INT64_MIN, first - kWellBefore, first, 0) < 0 &&
      avformat_seek_file(input.get(), -1, INT64_MIN, first, first, 0) < 0) {
    check(avformat_seek_file(input.get(), -1, 0, 0, 0, AVSEEK_FLAG_BYTE), url,
          "can't go back to its beginning");
  }
  forget_position();
}

void Reader::State::forget_position() {
  avcodec_flush_buffers(decoder.get());
  first_packets_.clear();
  std::fill(next_time_.begin(), next_time_.end(), AV_NOPTS_VALUE);
  time_offset = range_offset_;
  first_time_ = last_pts_ = AV_NOPTS_VALUE;
  finished_ = source_ended_ = video_ended_ = wants_key_frame_ = false;
  std::fill(past_range_.begin(), past_range_.end(), false);
}

/// Finds the first frame of the range by seeking. False, at the beginning of the source, if it has to be read
/// from there.
bool Reader::State::seek_first_frame() {
  range_offset_ = time_offset;
  // Sound may lie before the key frame of its time in the file, and containers without an index give only a
  // rough position: what comes out must begin before the range, or frames may have been missed.
  constexpr std::array<std::int64_t, 3> kMargins{AV_TIME_BASE / 2, 10 * AV_TIME_BASE, 60 * AV_TIME_BASE};
  bool moved = false;
  for (const std::int64_t margin : kMargins) {
    if (!seek_before_range(margin)) {
      break;
    }
    moved = true;
    const bool found = find_first_frame();
    const bool from_before =
        first_time_ != AV_NOPTS_VALUE && first_time_ <= range.first(video_stream->time_base);
    if (from_before) {
      return found;
    }
    first_frame_.reset();
  }
  if (moved) {
    rewind();
  }
  return false;
}

void Reader::State::seek(double seconds) {
  first_frame_.reset();
  finished_ = false;
  time_offset = first_offset_;  // jumps of the clock are found again on the way
  range.begin = range.shift + microseconds(seconds);
  if (!seek_first_frame() && !finished_) {
    rewind();
    find_first_frame();
  }
  if (first_frame_) {
    const double rate = av_q2d(average_rate());
    const double since_begin =
        presentation_time(*first_frame_).value_or(0) - in_seconds(source_begin_ - range.shift);
    first_frame_->index = std::max<std::int64_t>(0, std::llround(since_begin * rate));
    frame_index_ = first_frame_->index + 1;
  }
}

bool Reader::can_seek() const {
  const AVFormatContext& input = *state_->input;
  return !is_device(*input.iformat) &&
         (input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) != 0);
}

/// Whether a packet, its times shifted already, is to be decoded or copied; cuts it to the range.
bool Reader::State::take_for_range(AVPacket& packet) {
  const AVStream& stream = *input->streams[packet.stream_index];
  if (is_timeless(stream)) {
    return true;
  }
  const std::int64_t behind = range.behind(stream.time_base);
  if (range.has_end() && packet.dts != AV_NOPTS_VALUE && packet.dts >= behind) {
    past_range_[packet.stream_index] = true;
    // Should a sound stream have ended before the range does, this tells that there is no more of it to come.
    constexpr std::int64_t kFarthestApart = 10 * AV_TIME_BASE;
    if (&stream == video_stream &&
        packet.dts - behind > av_rescale_q(kFarthestApart, kMicroseconds, stream.time_base)) {
      std::fill(past_range_.begin(), past_range_.end(), true);
    }
  }
  if (&stream != video_stream) {
    return range.clip(packet, stream.time_base, stream.codecpar->codec_type);
  }
  if (past_range_[packet.stream_index]) {
    end_video();  // frames that are shown earlier than this one is decoded have all been sent
    return false;
  }
  wants_key_frame_ = wants_key_frame_ && (packet.flags & AV_PKT_FLAG_KEY) == 0;
  return !wants_key_frame_ && !video_ended_;
}

void Reader::State::end_video() {
  if (!video_ended_) {
    video_ended_ = true;
    avcodec_send_packet(decoder.get(), nullptr);
  }
}

/// Whether a decoded frame, its time set, is to be delivered.
bool Reader::State::take_for_range(const AVFrame& frame) {
  if (first_time_ == AV_NOPTS_VALUE) {
    first_time_ = frame.pts;
  }
  if (frame.pts >= range.behind(video_stream->time_base)) {
    end_video();
    return false;
  }
  return frame.pts >= range.first(video_stream->time_base);
}

/// After the last frame: a packet of the sound that belongs to the range but lies behind the frames in the
/// file. Null at the end.
std::shared_ptr<Packet> Reader::State::rest_of_range() {
  const auto is_outstanding = [this](std::size_t index) {
    return copied[index] && input->streams[index]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
           !past_range_[index];
  };
  while (!source_ended_) {
    bool outstanding = false;
    for (std::size_t i = 0; i < copied.size(); ++i) {
      outstanding = outstanding || is_outstanding(i);
    }
    if (!outstanding) {
      break;
    }
    if (std::shared_ptr<Packet> packet = demux_next()) {
      return packet;
    }
  }
  return nullptr;
}

int Reader::State::skipped_frames() const {
  const AVRational rate = average_rate();
  if (!range.has_begin() || rate.num <= 0) {
    return 0;
  }
  constexpr std::int64_t kRounding = 500;  // as TimeRange's
  return static_cast<int>(
      av_rescale_q_rnd(range.begin - source_begin_ - kRounding, kMicroseconds, av_inv_q(rate), AV_ROUND_UP));
}

void Reader::State::describe_range() {
  if (!range.has_begin() && !range.has_end()) {
    return;
  }
  const std::int64_t begin = range.has_begin() ? range.begin : source_begin_;
  if (video.duration > 0) {
    video.duration = std::max(0.0, video.duration - in_seconds(begin - source_begin_));
  }
  if (range.has_end()) {
    const double length = in_seconds(range.end - begin);
    video.duration = video.duration > 0 ? std::min(video.duration, length) : length;
  }
  video.frame_count = std::llround(video.duration * video.frames_per_second);
}

void Reader::State::throw_no_frame_in_range() const {
  const std::int64_t seen =
      av_rescale_q(last_pts_ + last_duration_, video_stream->time_base, kMicroseconds) + range.shift;
  const std::int64_t length = std::max(seen - source_begin_, std::max<std::int64_t>(input->duration, 0));
  const std::int64_t begin = range.has_begin() ? range.begin - source_begin_ : 0;
  throw Error(url + ": has no frame from " + seconds_text(begin) +
              (range.has_end() ? " to " + seconds_text(range.end - source_begin_) : " on") + "; it is " +
              seconds_text(length) + " long");
}

}  // namespace limpid::io
