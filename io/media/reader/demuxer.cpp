// SPDX-License-Identifier: MIT
#include "io/media/reader/demuxer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace limpid::io {
namespace {

/// The last bytes of a file, at most `count`. Restores the position.
std::string tail_of(AVIOContext& bytes, std::int64_t count) {
  const std::int64_t position = avio_tell(&bytes);
  const std::int64_t size = avio_size(&bytes);
  std::string tail(static_cast<std::size_t>(std::clamp<std::int64_t>(size, 0, count)), '\0');
  avio_seek(&bytes, size - static_cast<std::int64_t>(tail.size()), SEEK_SET);
  const int read =
      avio_read(&bytes, reinterpret_cast<unsigned char*>(tail.data()), static_cast<int>(tail.size()));
  avio_seek(&bytes, position, SEEK_SET);
  tail.resize(static_cast<std::size_t>(std::max(read, 0)));
  return tail;
}

/// A trailer follows the empty block that ends a picture; some programs append a few bytes.
bool has_gif_trailer(AVIOContext& bytes) {
  using namespace std::string_view_literals;
  constexpr std::int64_t kNear = 64;
  return tail_of(bytes, kNear).find("\0;"sv) != std::string::npos;
}

/// The chunk that ends the file, with its empty content and its checksum.
bool has_png_end(AVIOContext& bytes) {
  constexpr std::int64_t kNear = 64;
  return tail_of(bytes, kNear).find("IEND") != std::string::npos;
}

/// The last page ends with the file, and is marked as the end of its stream (RFC 3533, section 6).
bool has_last_ogg_page(AVIOContext& bytes) {
  constexpr std::size_t kHeader = 27;
  constexpr std::int64_t kLargestPage = 65307;
  const std::string tail = tail_of(bytes, kLargestPage);
  const std::size_t page = tail.rfind("OggS");
  if (page == std::string::npos || page + kHeader > tail.size()) {
    return false;
  }
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(tail[page + at]); };
  constexpr std::size_t kFlags = 5;
  constexpr int kEndOfStream = 4;
  const std::size_t segments = byte(kHeader - 1);
  std::size_t size = kHeader + segments;
  for (std::size_t i = 0; i < segments && page + kHeader + i < tail.size(); ++i) {
    size += byte(kHeader + i);
  }
  return (byte(kFlags) & kEndOfStream) != 0 && page + size <= tail.size();
}

/// Packets of 188 bytes, or of 192 or 204 with additions, fill the file to its end.
bool ends_with_ts_packets(AVIOContext& bytes) {
  constexpr std::array<std::size_t, 3> kSizes{188, 192, 204};
  constexpr std::size_t kPackets = 5;
  const std::string tail = tail_of(bytes, kSizes.back() * kPackets);
  return std::ranges::any_of(kSizes, [&](std::size_t size) {
    const std::size_t sync = size == 192 ? 4 : 0;  // behind a time
    bool are_packets = tail.size() >= size;
    for (std::size_t from_end = size; from_end <= std::min(kPackets * size, tail.size()); from_end += size) {
      are_packets = are_packets && tail[tail.size() - from_end + sync] == 0x47;
    }
    return are_packets;
  });
}

}  // namespace

bool is_behind_gif_trailer(const AVFormatContext& input) {
  return traits_of(*input.iformat).end == InputTraits::End::kGif && input.pb != nullptr &&
         input.pb->buf_ptr - input.pb->buffer >= 2 && input.pb->buf_ptr[-1] == ';' &&
         input.pb->buf_ptr[-2] == 0;
}

std::string missing_end(AVFormatContext& input) {
  if (input.pb == nullptr || (input.pb->seekable & AVIO_SEEKABLE_NORMAL) == 0) {
    return "";
  }
  using End = InputTraits::End;
  const End end = traits_of(*input.iformat).end;
  const bool is_whole = end == End::kGif   ? has_gif_trailer(*input.pb)
                        : end == End::kPng ? has_png_end(*input.pb)
                        : end == End::kOgg ? has_last_ogg_page(*input.pb)
                        : end == End::kTs  ? ends_with_ts_packets(*input.pb)
                                           : true;
  if (!is_whole && end == End::kTs) {
    return "it does not end with a whole packet of a transport stream";
  }
  return is_whole
             ? ""
             : std::string("it ends without the mark that ends a file of the format ") + input.iformat->name;
}

namespace {

/// The order of the ffmpeg program: streams with content first, then the default stream, then the largest;
/// cover art last.
std::int64_t preference(const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const bool has_packets = (stream.event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS) != 0;
  const bool is_default = (stream.disposition & AV_DISPOSITION_DEFAULT) != 0;
  return std::int64_t{parameters.width} * parameters.height + (has_packets ? 100'000'000 : 0) +
         (is_default ? 5'000'000 : 0);
}

/// Selects data streams whose samples all have one time. Newer versions of libav discard them, like
/// QuickTime's tracks of chapter titles. Must be called before the first packet is read, or that is lost.
void take_up_data_of_one_time(AVFormatContext& input) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    AVStream& stream = *input.streams[i];
    const std::uint32_t tag = stream.codecpar->codec_tag;
    const bool may_be_titles = tag == MKTAG('t', 'e', 'x', 't') || tag == MKTAG('t', 'x', '3', 'g');
    const int samples = avformat_index_get_entries_count(&stream);
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_DATA && stream.discard == AVDISCARD_ALL &&
        !may_be_titles && samples > 0 &&
        avformat_index_get_entry(&stream, 0)->timestamp ==
            avformat_index_get_entry(&stream, samples - 1)->timestamp) {
      stream.discard = AVDISCARD_DEFAULT;
    }
  }
}

/// True for QuickTime's tracks of chapter titles, which libav discards, and of timecode: libav delivers both
/// as chapters and tags, from which muxers make such tracks again.
bool is_told_otherwise(const AVStream& stream) {
  return stream.discard == AVDISCARD_ALL || stream.codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd');
}

/// True if a stream, other than the video that is decoded, is to be copied.
bool is_wanted(const AVStream& stream, const ReaderOptions& options) {
  switch (stream.codecpar->codec_type) {
    case AVMEDIA_TYPE_AUDIO:
      return options.audio;
    case AVMEDIA_TYPE_SUBTITLE:
      return options.subtitles;
    case AVMEDIA_TYPE_DATA:
      return options.data && !is_told_otherwise(stream);
    case AVMEDIA_TYPE_ATTACHMENT:
    case AVMEDIA_TYPE_UNKNOWN:  // Writer reports that it is left out
      return options.data;
    case AVMEDIA_TYPE_VIDEO:
      // Cover art belongs to the file; a second video would be a second, noisy version.
      return options.data && (stream.disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    default:
      return false;
  }
}

AVStream& best_video(const std::string& url, const AVFormatContext& input) {
  AVStream* best = nullptr;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    AVStream* const stream = input.streams[i];
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
        (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0 &&
        (best == nullptr || preference(*stream) > preference(*best))) {
      best = stream;
    }
  }
  if (best == nullptr) {
    throw NoVideo(url + ": has no video stream", true);
  }
  return *best;
}

/// Marks the streams, by index, that belong to programs of a transport stream, but not to one of the video.
std::vector<bool> find_other_programs(const AVFormatContext& input, const AVStream& video) {
  std::vector<bool> in_any(input.nb_streams, false);
  std::vector<bool> with_video(input.nb_streams, false);
  for (unsigned p = 0; p < input.nb_programs; ++p) {
    const AVProgram& program = *input.programs[p];
    const std::span<const unsigned> streams(program.stream_index, program.nb_stream_indexes);
    const bool has_video = std::ranges::find(streams, static_cast<unsigned>(video.index)) != streams.end();
    for (const unsigned stream : streams) {
      in_any[stream] = true;
      with_video[stream] = with_video[stream] || has_video;
    }
  }
  std::vector<bool> others;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    others.push_back(with_video[video.index] && in_any[i] && !with_video[i]);
  }
  return others;
}

/// Marks the streams to copy, by index, and makes the demuxer discard those that are not read.
std::vector<bool> choose_copied(const AVFormatContext& input, const AVStream& video,
                                const ReaderOptions& options, std::vector<bool>& of_other_program) {
  std::vector<bool> copied;
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    AVStream& stream = *input.streams[i];
    const bool is_copied = is_wanted(stream, options);
    of_other_program[i] = of_other_program[i] && is_copied;
    copied.push_back(is_copied && !of_other_program[i]);
    if (!copied.back() && &stream != &video) {
      stream.discard = AVDISCARD_ALL;
    }
  }
  return copied;
}

AVRational plausible_rate(AVRational rate) {
  return rate.num > 0 && rate.den > 0 && av_q2d(rate) <= kGreatestRate ? rate : AVRational{0, 1};
}

/// NUT files that were written to a pipe have no index.
bool is_harmless(const std::string& error) { return error.find("no index at the end") != std::string::npos; }

/// True unless the code is the end of the source, an interrupt, or a device without a frame yet.
bool is_failure(int code) {
  return code < 0 && code != AVERROR_EOF && code != AVERROR_EXIT && code != AVERROR(EAGAIN);
}

}  // namespace

Demuxer::Demuxer(std::string url, const ReaderOptions& options, Dictionary& unused, Health& health)
    : url_(std::move(url)),
      interrupted_(options.interrupted),
      health_(health),
      input_(open(options, unused)),
      video_(best_video(url_, *input_)),
      of_other_program_(find_other_programs(*input_, video_)),
      copied_(choose_copied(*input_, video_, options, of_other_program_)),
      unread_bytes_(bytes_behind_boxes(*input_)),
      clock_(*input_, options.first_time) {}

InputHandle Demuxer::open(const ReaderOptions& options, Dictionary& unused) {
  const AVInputFormat* const requested = requested_format(url_, options);
  if (PipeInput::is_pipe(url_)) {
    pipe_.emplace(url_, interrupted_);
  }
  if (!pipe_ && is_sequence(url_)) {
    const auto start =
        std::ranges::find(options.options, "start_number", &std::pair<std::string, std::string>::first);
    sequence_.emplace(url_,
                      start == options.options.end() ? 0 : std::strtoll(start->second.c_str(), nullptr, 10));
    first_picture_ = sequence_->first();
    skips_missing_ = options.skip_missing && sequence_->missing() > 0;
    if (skips_missing_) {
      unused.set("pattern_type", "glob");
      health_.note_missing_pictures(sequence_->missing_text(), sequence_->missing());
    } else if (first_picture_) {
      unused.set("start_number", std::to_string(*first_picture_));
    }
  }
  const std::string pattern = skips_missing_ ? sequence_->glob() : "";
  take_demuxer_error();
  take_corrupt_streams();
  InputHandle input = open_input(url_, pattern, options, requested, pipe_ ? pipe_->bytes() : nullptr,
                                 interrupt_callback(), unused);
  declared_.note(*input);
  take_up_data_of_one_time(*input);
  // Streams whose parameters are not found may still be decodable, so this is not an error yet. Packets that
  // are read ahead here are delivered later, without their errors.
  avformat_find_stream_info(input.get(), nullptr);
  if (std::string error = take_demuxer_error(); !is_harmless(error)) {
    health_.note_container_error(std::move(error));
  }
  corrupt_at_opening_ = take_corrupt_streams();
  interrupted_at_opening_ = take_interrupted_pids();
  is_at_gif_end_ = is_behind_gif_trailer(*input);
  if (!options.sound_device.empty()) {
    add_sound(*input, options);
  }
  return input;
}

// The sound becomes a stream of the camera.
void Demuxer::add_sound(AVFormatContext& input, const ReaderOptions& options) {
  sound_ = std::make_unique<SoundDevice>(options.sound_device, options.sound_format, options.interrupted);
  AVStream* const stream = avformat_new_stream(&input, nullptr);
  if (stream == nullptr) {
    throw Error("out of memory");
  }
  check(avcodec_parameters_copy(stream->codecpar, sound_->stream().codecpar), options.sound_device,
        "can't keep its parameters");
  stream->time_base = sound_->stream().time_base;
  sound_index_ = stream->index;
}

// Null if there is no sound yet. The times of the camera begin with its first frame.
PacketHandle Demuxer::read_sound() {
  PacketHandle packet = sound_ != nullptr && has_read_ ? sound_->take() : nullptr;
  if (packet != nullptr) {
    packet->stream_index = sound_index_;
    clock_.shift(*packet, stream(sound_index_), false);
  }
  return packet;
}

AVIOInterruptCB Demuxer::interrupt_callback() {
  if (!interrupted_) {
    return {};
  }
  return {.callback = [](void* demuxer) { return static_cast<Demuxer*>(demuxer)->interrupted_() ? 1 : 0; },
          .opaque = this};
}

std::int64_t Demuxer::first_picture() const {
  return reads_pictures(format()) ? first_picture_.value_or(1) : 1;
}

bool Demuxer::is_still_picture() const { return reads_pictures(format()) && !pipe_ && !is_sequence(url_); }

bool Demuxer::can_seek() const {
  return !is_device(format()) &&
         (input_->pb == nullptr || (input_->pb->seekable & AVIO_SEEKABLE_NORMAL) != 0);
}

AVRational Demuxer::base_rate() const {
  return plausible_rate(av_guess_frame_rate(input_.get(), &video_, nullptr));
}

AVRational Demuxer::average_rate() const {
  // Raw streams have no times to average: from FFmpeg 7 on, this is libav's default rate.
  const AVRational rate = is_raw(format()) ? AVRational{0, 1} : plausible_rate(video_.avg_frame_rate);
  return rate.num > 0 ? rate : base_rate();
}

std::int64_t Demuxer::begin() const {
  // Devices' times count from the first frame that is read, which is not the first one of probing.
  const bool begins_at_zero = is_device(format()) || input_->start_time == AV_NOPTS_VALUE;
  return begins_at_zero ? 0 : input_->start_time + clock_.offset();
}

PacketHandle Demuxer::read(bool times_are_guesses) {
  if (PacketHandle sound = read_sound()) {
    return sound;
  }
  PacketHandle packet = make_packet();
  take_demuxer_error();
  int code = av_read_frame(input_.get(), packet.get());
  std::string error = take_demuxer_error();
  if (code >= 0 && is_interrupted()) {
    code = AVERROR_EXIT;  // the packet may have been truncated
  }
  if (code == AVERROR(EAGAIN) && !is_interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return nullptr;
  }
  if (code < 0) {
    end(code, std::move(error));
    return nullptr;
  }
  health_.note_container_error(std::move(error));
  if (static_cast<std::size_t>(packet->stream_index) >= copied_.size()) {
    return nullptr;  // a stream that appeared after the header
  }
  count(*packet);
  const std::int64_t offset = clock_.offset();
  clock_.shift(*packet, stream(packet->stream_index), times_are_guesses);
  has_read_ = true;
  judge_corruption(*packet, clock_.offset() != offset);
  if (packet->stream_index == video_.index) {
    video_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
    pictures_ = packet->pts == AV_NOPTS_VALUE ? pictures_ + 1 : packet->pts + 1;
  }
  return packet;
}

void Demuxer::count(const AVPacket& packet) {
  if (packet.stream_index == video_.index) {
    ++video_packets_;
    last_end_ = packet.dts == AV_NOPTS_VALUE ? last_end_ : std::max(last_end_, packet.dts + packet.duration);
  }
}

std::optional<Demuxer::FrameCount> Demuxer::frame_count() const {
  const std::string_view name = format().name;
  if (video_.nb_frames <= 0) {
    return std::nullopt;
  }
  if (name == "avi") {
    // Frames that were dropped at recording have no packets; times are numbers of frames.
    return last_end_ == AV_NOPTS_VALUE ? std::nullopt
                                       : std::make_optional(FrameCount{video_.nb_frames, last_end_});
  }
  // An edit list selects some of the frames.
  const bool has_all = is_mp4(format()) && avformat_index_get_entries_count(&video_) == video_.nb_frames;
  return has_all && !has_sought_ ? std::make_optional(FrameCount{video_.nb_frames, video_packets_})
                                 : std::nullopt;
}

/// Reports corrupt packets of MPEG streams, unless the clock jumps there: where such streams have been
/// joined, the packets' counter is interrupted, but nothing is missing.
void Demuxer::judge_corruption(const AVPacket& packet, bool has_jumped) {
  constexpr int kToJudge = 3;  // parsers deliver a packet after the next one has been read
  if (take_interrupted_pids().contains(video_.id) && has_jumps(format())) {
    packets_to_gap_ = kToJudge;
  }
  if (take_corrupt_streams().contains(video_.index) && has_jumps(format())) {
    packets_to_judge_ = kToJudge;
    corrupt_at_opening_.clear();  // libav logs a packet that is read ahead again
  }
  if (has_jumped) {
    packets_to_judge_ = packets_to_gap_ = 0;
    corrupt_at_opening_.clear();
  }
  if (packet.stream_index != video_.index || packet.dts == AV_NOPTS_VALUE) {
    return;
  }
  const std::int64_t expected = std::exchange(expected_dts_, packet.dts + packet.duration);
  const bool has_gap = expected != AV_NOPTS_VALUE && packet.dts > expected + packet.duration / 2;
  const bool has_lost = has_gap && (packets_to_gap_ > 0 || interrupted_at_opening_.contains(video_.id));
  packets_to_gap_ -= packets_to_gap_ > 0 ? 1 : 0;
  if (has_lost || (packets_to_judge_ > 0 && (has_gap || --packets_to_judge_ == 0))) {
    packets_to_judge_ = 0;
    note_corruption();
  }
}

void Demuxer::note_corruption() {
  health_.note_container_error("[" + std::string(format().name) + "] packets of the video are incomplete");
}

/// Frames before the end are kept, whatever its cause. Demuxers have many codes for damage and truncated
/// files, and some report a failed read as the end.
void Demuxer::end(int code, std::string error) {
  if (is_at_gif_end_) {
    error.clear();  // of bytes behind the trailer, which libav reads after it has read the whole file ahead
  }
  const std::string reason = error.empty() ? "" : " (" + error + ")";
  health_.note_container_error(std::move(error));
  const bool is_corrupt = take_corrupt_streams().contains(video_.index) || packets_to_judge_ > 0 ||
                          corrupt_at_opening_.contains(video_.index);
  if (is_corrupt && has_jumps(format())) {
    note_corruption();
  }
  if (sequence_ && !skips_missing_) {
    if (std::string gap = sequence_->gap_after(pictures_); !gap.empty()) {
      health_.note_failure(std::move(gap));
      code = AVERROR_EOF;
    }
  }
  const int of_reading = input_->pb != nullptr ? input_->pb->error : code;  // devices do their own reading
  if (is_failure(of_reading)) {
    health_.note_failure(error_text(of_reading));
  } else if (is_failure(code)) {
    // For a pipe, the program that writes to it has failed.
    is_pipe() ? health_.note_failure(error_text(code)) : health_.note_damage(error_text(code) + reason);
  }
  const bool in_mid_frame =
      traits_of(format()).hides_errors && video_end_ >= 0 && avio_tell(input_->pb) > video_end_;
  health_.hold_end_error();
  health_.note_end(is_interrupted(), in_mid_frame, is_pipe());
  if (std::string missing = missing_end(*input_); !missing.empty()) {
    health_.note_missing_end(std::move(missing));
  }
  has_ended_ = true;
}

std::shared_ptr<Packet> Demuxer::to_copy(PacketHandle packet) {
  if (!copied_[packet->stream_index]) {
    return nullptr;
  }
  const AVRational time_base = stream(packet->stream_index).time_base;
  if (packet->pts != AV_NOPTS_VALUE) {
    copied_end_ =
        std::max(copied_end_, av_rescale_q(packet->pts + packet->duration, time_base, kMicrosecond));
  }
  return std::make_shared<Packet>(std::move(packet), time_base);
}

bool Demuxer::seek(std::int64_t time) {
  const std::int64_t target = av_rescale_q(time - clock_.first_offset(), kMicrosecond, video_.time_base);
  if (avformat_seek_file(input_.get(), video_.index, INT64_MIN, target, target, 0) < 0) {
    return false;
  }
  forget_position();
  return true;
}

void Demuxer::rewind() {
  // Without an index, a seek to "not later than the first frame" may end after the first key frame. Other
  // demuxers have no times before the first.
  constexpr std::int64_t kWellBefore = 10 * AV_TIME_BASE;
  const std::int64_t first = input_->start_time == AV_NOPTS_VALUE ? 0 : input_->start_time;
  // Raw streams have no times, but begin with the first byte.
  if (avformat_seek_file(input_.get(), -1, INT64_MIN, first - kWellBefore, first, 0) < 0 &&
      avformat_seek_file(input_.get(), -1, INT64_MIN, first, first, 0) < 0) {
    check(avformat_seek_file(input_.get(), -1, 0, 0, 0, AVSEEK_FLAG_BYTE), url_,
          "can't go back to its beginning");
  }
  forget_position();
}

void Demuxer::forget_position() {
  clock_.forget_position();
  packets_to_judge_ = packets_to_gap_ = 0;
  interrupted_at_opening_.clear();
  expected_dts_ = AV_NOPTS_VALUE;
  corrupt_at_opening_.clear();
  has_ended_ = false;
  has_sought_ = true;
}

std::optional<DeclaredLength::Length> Demuxer::declared_length() const {
  std::optional<DeclaredLength::Length> length = declared_.of(*input_, video_);
  if (!length || !length->of_container) {
    return length;
  }
  // Another stream may be the longest.
  for (std::size_t i = 0; i < copied_.size(); ++i) {
    const AVMediaType type = stream(i).codecpar->codec_type;
    const bool has_length =
        type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_SUBTITLE;
    if (!copied_[i] && &stream(i) != &video_ && has_length) {
      return std::nullopt;
    }
  }
  return length;
}

}  // namespace limpid::io
