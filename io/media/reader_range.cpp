// The part of Reader that finds and keeps to a range of the source.
//
// A seek begins to decode at the last key frame that is shown by the time that is asked for; a range half a
// second earlier, since sound may lie ahead of the pictures of its time. Packets are read without decoding
// until that key frame is certain, from further back where the container finds times only roughly. If what is
// decoded then begins too late, an earlier key frame is tried, and in the end decoding starts at the
// beginning. So it does for sources that can't seek or have no times, and for seeks beyond a jump of the
// clock that was taken out. Sound is cut between its packets.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/narrowed.h"
#include "io/media/cuda_decoding.h"
#include "io/media/libav.h"
#include "io/media/reader_state.h"

namespace limpid::io {
namespace {

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
    range.begin = range.shift = jump_to_ = source_begin_ + microseconds(*options.start);
    time_offset -= range.shift;
  }
  if (options.end) {
    range.end = source_begin_ + microseconds(*options.end);
  }
  first_offset_ = time_offset;
  context_before_ = range.has_begin() ? options.context_before : 0;
  context_after_ = range.has_end() ? options.context_after : 0;
}

/// Whether the container can be asked for a time.
bool Reader::State::can_jump() const {
  const bool on_disk = !is_device(*input->iformat) &&
                       (input->pb == nullptr || (input->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0);
  // Those that libav counts for raw streams would begin at zero again.
  const bool has_times = !is_raw() && video_stream->start_time != AV_NOPTS_VALUE;
  // Behind a jump of the clock, the container's times are others than ours.
  return on_disk && has_times && jump_to_ - range.shift < first_jump_;
}

/// Finds the last key frame that is shown so many microseconds before `jump_to_`, or earlier. Packets from it
/// on are to be decoded next. False if there is none, or the source can't do it.
bool Reader::State::begin_at_key_frame(std::int64_t margin) {
  // How exactly containers find what they are asked for differs: some know of key frames and when they are
  // shown, others only roughly of times of packets. What they skip costs no decoding.
  constexpr std::array<std::int64_t, 5> kEarlier{0, AV_TIME_BASE, 4 * AV_TIME_BASE, 15 * AV_TIME_BASE,
                                                 60 * AV_TIME_BASE};
  const AVRational time_base = video_stream->time_base;
  constexpr std::int64_t kRounding = 500;  // as TimeRange's
  const std::int64_t latest = jump_to_ - range.shift - margin + kRounding;
  latest_key_ = av_rescale_q_rnd(latest, kMicrosecond, time_base, AV_ROUND_DOWN);
  for (const std::int64_t earlier : kEarlier) {
    if (jump_to_ - margin - earlier <= source_begin_) {
      return false;
    }
    const std::int64_t target = av_rescale_q(latest - range_offset_ - earlier, kMicrosecond, time_base);
    if (avformat_seek_file(input.get(), video_stream->index, INT64_MIN, target, target, 0) < 0) {
      return false;
    }
    forget_position();
    if (gather_from_key_frame() || is_given_up()) {
      return true;
    }
  }
  return false;
}

/// Reads until no key frame can follow that is shown early enough.
bool Reader::State::gather_from_key_frame() {
  gathering_ = true;
  while (gathering_ && !source_ended_ && !video_ended_ && !is_given_up()) {
    if (std::shared_ptr<Packet> packet = demux_next()) {
      first_packets_.push_back(std::move(packet));
    }
  }
  gathering_ = false;
  return !gathered_.empty();
}

void Reader::State::gather(PacketHandle packet) {
  const std::int64_t shown = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
  const std::int64_t decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  const bool is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  if (is_key && shown != AV_NOPTS_VALUE && shown <= latest_key_) {
    gathered_.clear();
    gathered_bytes_ = 0;
  } else if (gathered_.empty()) {
    gathering_ = decoded == AV_NOPTS_VALUE || decoded <= latest_key_;
    return;
  }
  // No frame is shown before it is decoded, and enough is enough.
  constexpr std::int64_t kMostBytes = 64 << 20;
  gathering_ =
      (decoded == AV_NOPTS_VALUE || decoded <= latest_key_) && gathered_bytes_ + packet->size < kMostBytes;
  gathered_bytes_ += packet->size;
  gathered_.push_back(std::move(packet));
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
  if (mender_) {
    mender_->forget();
  }
  mended_.clear();
  untimed_.clear();
  metadata_.clear();
  corrupt_times_.clear();
  shortfall.clear();
  pending_error_.clear();
  gaps_.forget_position();
  first_packets_.clear();
  gathered_.clear();
  gathered_bytes_ = 0;
  std::fill(next_time_.begin(), next_time_.end(), AV_NOPTS_VALUE);
  time_offset = range_offset_;
  first_time_ = last_pts_ = AV_NOPTS_VALUE;
  at_true_end_ = false;
  range_reached_ = false;
  finished_ = source_ended_ = video_ended_ = drained_ = false;
  std::fill(past_range_.begin(), past_range_.end(), false);
  context_.clear();
  behind_context_.reset();
  frames_behind_range_ = 0;
}

/// Some encoders tell only there who they are, and decoders go by that: x264 before build 151 coded 4:4:4
/// otherwise than the standard has it, XviD has a transform of its own. A GPU's decoder doesn't, and would
/// have to be made twice. False if the decoder has seen a packet before.
bool Reader::State::show_first_packet() {
  if (decoded_packets > 0 || decoder->hw_device_ctx != nullptr) {
    return false;
  }
  while (decoded_packets == 0 && !source_ended_ && !is_given_up()) {
    demux_next();
  }
  return true;
}

/// Finds the first frame of the range by seeking to `jump_to_`. False, at the beginning of the source, if it
/// has to be read from there.
bool Reader::State::seek_first_frame() {
  range_offset_ = time_offset;
  if (!can_jump()) {
    return false;
  }
  bool moved = show_first_packet();
  // Sound may lie before the key frame of its time in the file. What comes out must begin before the time
  // that was asked for: what is called a key frame may be none, or one that is shown or complete only later.
  const bool with_others = std::find(copied.begin(), copied.end(), true) != copied.end();
  const std::array<std::int64_t, 4> margins{with_others ? AV_TIME_BASE / 2 : 0, AV_TIME_BASE,
                                            10 * AV_TIME_BASE, 60 * AV_TIME_BASE};
  const AVRational rate = average_rate();
  const std::int64_t of_context =
      rate.num > 0 ? av_rescale_q(context_before_ + 1, av_inv_q(rate), kMicrosecond) : 0;
  for (const std::int64_t least : margins) {
    const std::int64_t margin = least + (context_before_ > 0 ? of_context : 0);
    moved = moved || jump_to_ - margin > source_begin_;
    if (!begin_at_key_frame(margin)) {
      break;
    }
    const bool found = find_first_frame();
    const bool from_before = first_time_ != AV_NOPTS_VALUE && first_time_ <= latest_key_;
    if ((from_before && (!found || has_context())) || is_given_up()) {
      return found;
    }
    first_frame_.reset();
  }
  if (moved) {
    rewind();
  }
  return false;
}

void Reader::State::seek(double seconds, double before, const std::function<bool()>& given_up) {
  struct Restore {
    State& state;
    std::int64_t damaged_packets;
    Restore(State& of, std::int64_t packets) : state(of), damaged_packets(packets) {}
    Restore(const Restore&) = delete;
    Restore& operator=(const Restore&) = delete;
    ~Restore() {
      state.given_up_ = nullptr;
      state.damaged_packets = damaged_packets;  // what comes before doesn't matter
    }
  };
  const Restore restore(*this, damaged_packets);
  given_up_ = given_up;
  first_frame_.reset();
  finished_ = false;
  time_offset = first_offset_;  // jumps of the clock are found again on the way
  jump_to_ = range.shift + microseconds(seconds);
  range.begin = jump_to_ - microseconds(before);
  if (!seek_first_frame() && !finished_ && !is_given_up()) {
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
        packet.dts - behind > av_rescale_q(kFarthestApart, kMicrosecond, stream.time_base)) {
      std::fill(past_range_.begin(), past_range_.end(), true);
    }
  }
  if (&stream != video_stream) {
    return range.clip(packet, stream.time_base, stream.codecpar->codec_type);
  }
  if (past_range_[packet.stream_index]) {
    // Frames that are shown earlier than this one is decoded have all been sent.
    video_ended_ = video_ended_ || context_after_ == 0;
  }
  return !video_ended_;
}

/// Where a decoded frame is, its time set.
Reader::State::Place Reader::State::place_in_range(const AVFrame& frame) {
  if (first_time_ == AV_NOPTS_VALUE) {
    first_time_ = frame.pts;
  }
  if (frame.pts >= range.behind(video_stream->time_base)) {
    return Place::kBehind;
  }
  return frame.pts >= range.first(video_stream->time_base) ? Place::kInside : Place::kBefore;
}

/// Keeps the last of the frames before the range; not in the memory of a GPU's decoder, which has few to
/// spare.
void Reader::State::keep_as_context(FrameHandle frame) {
  if (context_before_ == 0) {
    return;
  }
  context_.push_back(frame->format == AV_PIX_FMT_CUDA ? copy_to_host(*frame, url) : std::move(frame));
  if (std::ssize(context_) > context_before_) {
    context_.pop_front();
  }
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
  const std::int64_t frames =
      av_rescale_q_rnd(range.begin - source_begin_ - kRounding, kMicrosecond, av_inv_q(rate), AV_ROUND_UP);
  return narrowed<int>(frames).value_or(0);
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
      av_rescale_q(last_pts_ + last_duration_, video_stream->time_base, kMicrosecond) + range.shift;
  const std::int64_t length = std::max(seen - source_begin_, std::max<std::int64_t>(input->duration, 0));
  const std::int64_t begin = range.has_begin() ? range.begin - source_begin_ : 0;
  throw Error(url + ": has no frame from " + seconds_text(begin) +
              (range.has_end() ? " to " + seconds_text(range.end - source_begin_) : " on") + "; it is " +
              seconds_text(length) + " long");
}

}  // namespace limpid::io
