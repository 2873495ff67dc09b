// SPDX-License-Identifier: MIT
// The connections between the parts of Reader. Private to io.

#include "io/media/reader.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <deque>
#include <string_view>

#include "core/base/not_copyable.h"
#include "io/media/container_header.h"
#include "io/media/cuda_frames.h"
#include "io/media/first_frame_check.h"
#include "io/media/libav.h"
#include "io/media/pixel_format.h"
#include "io/media/reader/decoder.h"
#include "io/media/reader/demuxer.h"
#include "io/media/reader/frame_converter.h"
#include "io/media/reader/health.h"
#include "io/media/reader/open_input.h"
#include "io/media/reader/range.h"
#include "io/media/source.h"
#include "io/media/writer.h"

namespace limpid::io {

/// Packets in the range go from the demuxer to the decoder or the caller. Frames in the range go from the
/// decoder to the filters of ReaderOptions::before, the converter and the caller.
///
/// After a seek, decoding begins at the last key frame that is shown by the requested time; for a range, half
/// a second earlier, because audio packets may be stored before the pictures of their time. Packets are read
/// without decoding until that key frame is certain, from an earlier position if the container's times are
/// only approximate. If the decoded frames begin too late, an earlier key frame is tried, and finally
/// decoding starts at the beginning. Sources that cannot seek or have no times are also decoded from the
/// beginning, and so are seeks beyond a removed jump of the clock. Audio is cut between its packets.
struct Reader::State {
  State(std::string url, const ReaderOptions& options)
      : State(std::move(url), options, Dictionary(options.options)) {}

  Item read();
  void seek(double seconds, double before, const std::function<bool()>& given_up,
            const std::function<void(Frame)>& glimpse);

  Source source() const;
  /// Result of the search for the first frame. kNothing: decoding began early enough, but no frame follows.
  enum class Found { kFrame, kNothing, kNoKeyFrame };

  State(std::string url, const ReaderOptions& options, Dictionary&& unused);
  void describe();
  void describe_filtered();
  AVRational frame_rate() const;
  AVRational time_base() const;
  AVRational sample_aspect_ratio() const;
  void read_first_frame();
  [[noreturn]] void throw_no_first_frame() const;

  Item read_next();
  std::optional<Frame> next_of_context();
  std::shared_ptr<Packet> feed_decoder();
  std::shared_ptr<Packet> read_packet();
  void decode(const AVPacket& packet) {
    decoder_.send(packet, range_.is_shown(packet), range_.contains(packet));
  }
  std::optional<Frame> take(DecodedFrame decoded);
  void set_up_converter(const AVFrame& first);
  Frame deliver(FrameHandle decoded, std::int64_t index, bool context_only);
  std::shared_ptr<Packet> rest_of_range();
  void look_for_shortfall();
  void compare_length(const DeclaredLength::Length& length);

  bool find_first_frame();
  void show_glimpse(const AVFrame& decoded);
  std::int64_t index_at(const Frame& frame) const;
  Found seek_first_frame();
  bool may_seek_to_target() const;
  bool show_first_packet();
  bool begin_at_key_frame(std::int64_t margin);
  bool gather_from_key_frame();
  void rewind();
  void forget_position();
  bool is_given_up() const { return given_up_ && given_up_(); }

  const ReaderOptions options_;
  Health health_;
  Demuxer demuxer_;
  Range range_;
  Decoder decoder_;
  DecoderFilter filter_;
  std::optional<FrameConverter> converter_;  ///< made with the first frame
  VideoProperties video_;
  std::shared_ptr<AVFrame> first_properties_;  ///< tags and side data of the first frame
  std::int64_t frame_index_ = 0;               ///< index of the next frame
  /// Packets that were read before the first frame was found.
  std::deque<std::shared_ptr<Packet>> first_packets_;
  std::optional<Frame> first_frame_;
  // Arguments of seek() while it runs.
  std::function<bool()> given_up_;
  std::function<void(Frame)> glimpse_;  ///< empty once it has been called
};

namespace {

std::shared_ptr<AVFrame> properties_of(const AVFrame& frame, AVRational time_base) {
  FrameHandle properties = make_frame();
  check(av_frame_copy_props(properties.get(), &frame), "frame", "can't copy its properties");
  properties->time_base = time_base;
  return properties;
}

/// Duration of `frames` in microseconds; 0 if the rate is unknown.
std::int64_t duration_of(int frames, AVRational rate) {
  return rate.num > 0 ? av_rescale_q(frames, av_inv_q(rate), kMicrosecond) : 0;
}

}  // namespace

Reader::State::State(std::string url, const ReaderOptions& options, Dictionary&& unused)
    : options_(options),
      demuxer_(std::move(url), options, unused, health_),
      range_(options, demuxer_.begin(), demuxer_.input(), demuxer_.video()),
      decoder_(demuxer_.url(),
               {demuxer_.format(), demuxer_.video(), demuxer_.average_rate(), -range_.times().shift,
                find_container_cropping(demuxer_.input(), demuxer_.video())},
               options, unused, health_),
      filter_(options, demuxer_.video(), demuxer_.average_rate()) {
  demuxer_.clock().set_zero(range_.times().shift);
  describe();
  read_first_frame();
  if (decoder_.pages() > 1) {
    describe();
  }
  describe_filtered();
}

void Reader::State::describe() {
  const AVStream& stream = demuxer_.video();
  video_.why_not_on_cuda = decoder_.why_not_on_cuda();
  video_.frames_per_second = av_q2d(demuxer_.average_rate());
  if (stream.duration > 0) {
    const std::int64_t duration = stream.duration - time_before_fragments(demuxer_.input(), stream);
    video_.duration = static_cast<double>(duration) * av_q2d(stream.time_base);
  } else if (demuxer_.input().duration > 0) {
    video_.duration = static_cast<double>(demuxer_.input().duration) / AV_TIME_BASE;
  }
  video_.lossless = is_lossless_video(stream.codecpar->codec_id);
  const int pages = decoder_.pages();
  video_.still_picture = demuxer_.is_still_picture() && pages == 1;
  if (demuxer_.is_still_picture() && pages > 1) {
    video_.frame_count = pages;
    video_.duration = pages / video_.frames_per_second;
  } else if (video_.still_picture) {
    video_.frame_count = 1;
    video_.duration = 0;
  } else if (stream.nb_frames > 0) {
    video_.frame_count = stream.nb_frames;
  } else {
    video_.frame_count = std::llround(video_.duration * video_.frames_per_second);
  }
  range_.describe(video_);
}

/// The rate of the frames that the filters deliver.
void Reader::State::describe_filtered() {
  const AVRational source = demuxer_.average_rate();
  const AVRational rate = frame_rate();
  if (source.num > 0 && av_cmp_q(rate, source) != 0) {
    video_.frames_per_second = av_q2d(rate);
    video_.frame_count =
        std::llround(static_cast<double>(video_.frame_count) * av_q2d(rate) / av_q2d(source));
  }
}

AVRational Reader::State::frame_rate() const {
  const FilterGraph* const graph = filter_.graph();
  return graph != nullptr && graph->frame_rate().num > 0 ? graph->frame_rate() : demuxer_.average_rate();
}

AVRational Reader::State::time_base() const {
  return filter_.is_active() ? first_properties_->time_base : demuxer_.video().time_base;
}

AVRational Reader::State::sample_aspect_ratio() const {
  if (const FilterGraph* const graph = filter_.graph()) {
    return graph->sample_aspect_ratio();
  }
  return decoder_.cropper().sample_aspect_ratio().value_or(
      av_guess_sample_aspect_ratio(&demuxer_.input(), &demuxer_.video(), first_properties_.get()));
}

Source Reader::State::source() const {
  const AVRational rate = demuxer_.average_rate();
  const bool keeps_rate = av_cmp_q(frame_rate(), rate) == 0;
  return {.url = demuxer_.url(),
          .input = demuxer_.input(),
          .video = demuxer_.video(),
          .first = *first_properties_,
          .format = video_.format,
          .decoded = av_get_pix_fmt(video_.pixel_format.c_str()),
          .has_fractions = converter_->has_fractions(),
          .copied = demuxer_.copied(),
          .of_other_program = demuxer_.of_other_program(),
          .time_base = time_base(),
          .average_rate = frame_rate(),
          .base_rate = keeps_rate ? demuxer_.base_rate() : frame_rate(),
          .sample_aspect_ratio = sample_aspect_ratio(),
          .range = range_.times(),
          .skipped_frames = range_.skipped_frames(rate),
          .time_offset = demuxer_.clock().offset(),
          .is_pipe = demuxer_.is_pipe(),
          .is_filtered = filter_.is_active(),
          .filter_losses = filter_.losses(),
          .unread_bytes = demuxer_.unread_bytes(),
          .first_picture = demuxer_.first_picture() + range_.skipped_frames(rate)};
}

void Reader::State::read_first_frame() {
  Found found = range_.times().has_begin() ? seek_first_frame() : Found::kNoKeyFrame;
  if (found == Found::kNoKeyFrame && find_first_frame()) {
    found = Found::kFrame;
  }
  if (found != Found::kFrame) {
    throw_no_first_frame();
  }
  if (range_.times().has_begin()) {
    health_.restore_damaged_packets(0);
  }
}

void Reader::State::throw_no_first_frame() const {
  const std::string& url = demuxer_.url();
  if (decoder_.times().has_begun()) {
    range_.throw_no_frame(url, decoder_.times().end_time(), demuxer_.input().duration);
  }
  if (demuxer_.is_pipe() && decoder_.packets() == 0 && is_mp4(demuxer_.format())) {
    throw Error(
        url +
        ": its index is at the end, which a pipe can't seek to: open the file itself, or move the index to "
        "the beginning with 'ffmpeg -i IN -c copy -movflags +faststart OUT'");
  }
  AVIOContext* const bytes = demuxer_.input().pb;
  if (reads_pictures(demuxer_.format()) && bytes != nullptr && avio_size(bytes) > INT_MAX) {
    throw Error(url + ": picture files of more than 2 GiB are not supported; split it into several files");
  }
  const std::string reason = last_decoder_error();
  throw Error(url + ": not one frame of its video could be decoded" +
              (reason.empty() ? logged_reason() : " (" + reason + ")"));
}

Reader::Item Reader::State::read() {
  if (!first_packets_.empty()) {
    std::shared_ptr<Packet> packet = std::move(first_packets_.front());
    first_packets_.pop_front();
    return packet;
  }
  if (first_frame_) {
    return *std::exchange(first_frame_, std::nullopt);
  }
  return read_next();
}

Reader::Item Reader::State::read_next() {
  while (!is_given_up()) {
    if (std::optional<Frame> frame = next_of_context()) {
      return *std::move(frame);
    }
    DecodedFrame decoded;
    switch (filter_.receive(decoder_, decoded, frame_index_)) {
      case Decoder::Status::kFrame:
        if (std::optional<Frame> frame = take(std::move(decoded))) {
          return *std::move(frame);
        }
        break;
      case Decoder::Status::kNeedsPacket:
        if (std::shared_ptr<Packet> packet = feed_decoder()) {
          return packet;
        }
        break;
      case Decoder::Status::kEnded:
        if (std::shared_ptr<Packet> packet = rest_of_range()) {
          return packet;
        }
        look_for_shortfall();
        return End{};
    }
  }
  return End{};
}

/// A frame before the range or, after these, the first frame of the range.
std::optional<Frame> Reader::State::next_of_context() {
  if (FrameHandle before = range_.context().take()) {
    return deliver(std::move(before), -range_.context().count() - 1, true);
  }
  return range_.context().take_held();
}

/// Assigns a decoded frame to the range, and delivers it if it is next.
std::optional<Frame> Reader::State::take(DecodedFrame decoded) {
  ContextFrames& context = range_.context();
  switch (range_.place(*decoded.frame)) {
    case Range::Place::kBefore:
      if (glimpse_) {
        show_glimpse(*decoded.frame);
      }
      if (context.wanted() > 0) {
        // A GPU's decoder has few frames to spare.
        const bool on_gpu = decoded.frame->format == AV_PIX_FMT_CUDA;
        context.keep(on_gpu ? copy_to_host(*decoded.frame, demuxer_.url()) : std::move(decoded.frame));
      }
      return std::nullopt;
    case Range::Place::kBehind:
      if (first_properties_ == nullptr || !range_.take_behind()) {
        range_.end_video();
        return std::nullopt;
      }
      return deliver(std::move(decoded.frame), frame_index_++, true);
    case Range::Place::kInside:
      break;
  }
  health_.note_frame(decoded);
  Frame inside = deliver(std::move(decoded.frame), frame_index_++, false);
  if (context.is_empty()) {
    return inside;
  }
  context.hold(std::move(inside));
  return std::nullopt;
}

void Reader::State::show_glimpse(const AVFrame& decoded) {
  const std::function<void(Frame)> show = std::exchange(glimpse_, nullptr);
  try {
    FrameHandle copy = make_frame();
    check(av_frame_ref(copy.get(), &decoded), demuxer_.url(), "can't keep a frame");
    Frame frame = deliver(std::move(copy), 0, true);
    frame.index = index_at(frame);
    show(std::move(frame));
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the frames that were requested matter
  }
}

/// The index by a frame's time, if the rate is constant.
std::int64_t Reader::State::index_at(const Frame& frame) const {
  const double rate = av_q2d(demuxer_.average_rate());
  const double begin = static_cast<double>(range_.source_begin() - range_.times().shift) / AV_TIME_BASE;
  return std::max<std::int64_t>(0, std::llround((presentation_time(frame).value_or(0) - begin) * rate));
}

/// Sends a packet or the end of the video to the decoder. Returns a packet to copy if that comes first.
std::shared_ptr<Packet> Reader::State::feed_decoder() {
  if (const PacketHandle packet = range_.take_gathered()) {
    decode(*packet);
  } else if (demuxer_.has_ended() || range_.has_video_ended()) {
    decoder_.drain();
  } else {
    return read_packet();
  }
  return nullptr;
}

/// Reads a packet, and sends it to the decoder or, if it is to be copied, returns it.
std::shared_ptr<Packet> Reader::State::read_packet() {
  PacketHandle packet = demuxer_.read(range_.is_gathering());
  if (packet == nullptr || !range_.take(*packet, demuxer_.stream(packet->stream_index))) {
    return nullptr;
  }
  const AVStream& video = demuxer_.video();
  if (packet->stream_index != video.index) {
    return demuxer_.to_copy(std::move(packet));
  }
  health_.note_packet(*packet, video.time_base, has_steady_clock(demuxer_.format()),
                      range_.contains(*packet));
  if (range_.is_gathering()) {
    range_.gather(std::move(packet));
  } else {
    decode(*packet);
  }
  return nullptr;
}

/// After the last frame: an audio packet that belongs to the range but follows the frames in the file. Null
/// at the end.
std::shared_ptr<Packet> Reader::State::rest_of_range() {
  const auto is_outstanding = [this](std::size_t stream) {
    return demuxer_.copied()[stream] && !range_.is_past_end(stream) &&
           demuxer_.stream(stream).codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
  };
  while (!demuxer_.has_ended()) {
    bool outstanding = false;
    for (std::size_t i = 0; i < demuxer_.copied().size(); ++i) {
      outstanding = outstanding || is_outstanding(i);
    }
    if (!outstanding) {
      break;
    }
    if (std::shared_ptr<Packet> packet = read_packet()) {
      return packet;
    }
  }
  return nullptr;
}

/// Compares what was read with the length and the number of frames that the header declares.
void Reader::State::look_for_shortfall() {
  health_.release_end_error();
  if (!decoder_.times().has_begun() || video_.still_picture) {
    return;
  }
  if (const std::optional<DeclaredLength::Length> length = demuxer_.declared_length()) {
    compare_length(*length);
  }
  if (const std::optional<Demuxer::FrameCount> frames = demuxer_.frame_count()) {
    health_.note_frame_count(frames->delivered, frames->declared);
  } else if (std::string_view(demuxer_.format().name) == "gif") {
    // libav counts the pictures of a GIF when it opens the file; its decoder skips damaged ones silently.
    health_.note_frame_count(decoder_.frames(), demuxer_.video().nb_frames);
  }
}

void Reader::State::compare_length(const DeclaredLength::Length& length) {
  const TimeRange& times = range_.times();
  std::int64_t end = decoder_.times().end_time();
  end = length.of_container ? std::max(end, demuxer_.copied_end()) : end;
  end += times.shift - range_.source_begin();
  if (length.is_exact && !times.has_begin() && !times.has_end()) {
    // The times of frames in damaged files may be wrong.
    end = std::min(end, av_rescale(decoder_.frames(), duration_of(1000, demuxer_.average_rate()), 1000));
  }
  const std::int64_t declared = times.has_end()
                                    ? std::min(length.microseconds, times.end - range_.source_begin())
                                    : length.microseconds;
  // Containers that declare a duration differ in the duration of the last frame.
  constexpr std::int64_t kLeast = AV_TIME_BASE / 5;
  constexpr int kFrames = 3;
  const AVRational rate = demuxer_.average_rate();
  const std::int64_t tolerance =
      length.is_exact ? duration_of(1, rate) / 2 : std::max(kLeast, duration_of(kFrames, rate));
  health_.note_length(end, declared, tolerance);
}

void Reader::State::set_up_converter(const AVFrame& first) {
  const AVPixelFormat samples = decoder_.sample_format(first);
  video_.decoded_on_cuda = first.format == AV_PIX_FMT_CUDA;
  if (decoder_.uses_gpu() && !video_.decoded_on_cuda) {
    video_.why_not_on_cuda = "the GPU can't decode such a stream";
  }
  converter_.emplace(demuxer_.url(), options_, first, samples);
  video_.format = converter_->format();
  video_.pixel_format = name_of(samples);
  video_.white = decoder_.white();
}

Frame Reader::State::deliver(FrameHandle decoded, std::int64_t index, bool context_only) {
  if (!converter_) {
    set_up_converter(*decoded);
  }
  if (decoded->format == AV_PIX_FMT_CUDA && decoded->data[0] == nullptr) {
    // libavcodec outputs such frames once all of the decoder's surfaces are held.
    throw Error(demuxer_.url() + ": frame " + std::to_string(index) + ": the GPU decoder ran out of memory");
  }
  if (!converter_->fits(*decoded, decoder_.sample_format(*decoded))) {
    decoded = converter_->adapted(*decoded, index);
    if (!context_only) {
      health_.note_converted_frame();
    }
  }
  const AVPixelFormat samples = decoder_.sample_format(*decoded);
  decoded->color_range =
      is_full_range(samples, decoded->color_range) ? AVCOL_RANGE_JPEG : decoded->color_range;
  decoded->format = decoded->format == AV_PIX_FMT_CUDA ? decoded->format : without_range(samples);
  std::shared_ptr<AVFrame> properties =
      properties_of(*decoded, filter_.is_active() ? decoded->time_base : demuxer_.video().time_base);
  if (first_properties_ == nullptr) {
    if (!filter_.is_active()) {
      inherit_hdr(*properties, demuxer_.video());
    }
    first_properties_ = properties;
  }
  Frame frame = converter_->convert(std::move(decoded));
  if (!context_only) {
    health_.note_scan(*first_properties_, *properties, index);
    health_.note_display(*first_properties_, *properties, index);
  }
  frame.interlaced = is_interlaced(*properties);
  frame.begins_anew = kept_metadata(*properties).stored.begins_film;
  frame.index = index;
  frame.context_only = context_only;
  frame.attachment = std::move(properties);
  return frame;
}

bool Reader::State::find_first_frame() {
  while (!first_frame_) {
    Item item = read_next();
    if (auto* const packet = std::get_if<std::shared_ptr<Packet>>(&item)) {
      first_packets_.push_back(std::move(*packet));
    } else if (auto* const frame = std::get_if<Frame>(&item)) {
      first_frame_ = std::move(*frame);
    } else {
      return false;
    }
  }
  return true;
}

/// True if the container can seek to the target's time.
bool Reader::State::may_seek_to_target() const {
  // The times that libav counts for raw streams would begin at zero again.
  const bool has_times = !is_raw(demuxer_.format()) && demuxer_.video().start_time != AV_NOPTS_VALUE;
  // After a jump of the clock, the container's times differ from the corrected ones.
  const std::int64_t target = range_.target() - range_.times().shift;
  return demuxer_.can_seek() && has_times && target < demuxer_.clock().first_jump();
}

/// Finds the last key frame that is shown `margin` microseconds before the target, or earlier. Its packets
/// are decoded next. Returns false if there is none, or the source cannot seek.
bool Reader::State::begin_at_key_frame(std::int64_t margin) {
  // Containers differ in the accuracy of seeking: some have the presentation times of key frames, others only
  // approximate times of packets. Skipped packets need no decoding.
  constexpr std::array<std::int64_t, 5> kEarlier{0, AV_TIME_BASE, 4 * AV_TIME_BASE, 15 * AV_TIME_BASE,
                                                 60 * AV_TIME_BASE};
  const std::int64_t latest = range_.before_target(margin);
  for (const std::int64_t earlier : kEarlier) {
    if (range_.target() - margin - earlier <= range_.source_begin() || !demuxer_.seek(latest - earlier)) {
      return false;
    }
    forget_position();
    range_.begin_gathering(latest);
    if (gather_from_key_frame() || is_given_up()) {
      return true;
    }
  }
  return false;
}

/// Reads until no key frame can follow that is shown early enough.
bool Reader::State::gather_from_key_frame() {
  while (range_.is_gathering() && !demuxer_.has_ended() && !is_given_up()) {
    if (std::shared_ptr<Packet> packet = read_packet()) {
      first_packets_.push_back(std::move(packet));
    }
  }
  return range_.end_gathering();
}

void Reader::State::rewind() {
  demuxer_.rewind();
  forget_position();
}

void Reader::State::forget_position() {
  decoder_.flush();
  filter_.forget_position();
  health_.forget_position();
  range_.forget_position();
  first_packets_.clear();
}

/// Some encoders identify themselves only in the first packet, and decoders depend on it: x264 before build
/// 151 coded 4:4:4 differently from the standard, and XviD has its own transform. GPU decoders do not depend
/// on it, and would have to be created twice. Returns false if the decoder has received a packet before.
bool Reader::State::show_first_packet() {
  if (decoder_.packets() > 0 || decoder_.uses_gpu()) {
    return false;
  }
  while (decoder_.packets() == 0 && !demuxer_.has_ended() && !is_given_up()) {
    read_packet();
  }
  return true;
}

/// Finds the first frame of the range by seeking to the target. kNoKeyFrame, at the beginning of the source,
/// if it must be read from there.
Reader::State::Found Reader::State::seek_first_frame() {
  if (!may_seek_to_target()) {
    return Found::kNoKeyFrame;
  }
  bool moved = show_first_packet();
  // Audio may precede the key frame of its time in the file. Decoded frames must begin before the requested
  // time: a packet marked as a key frame may not be one, or be shown or complete only later.
  const std::vector<bool>& copied = demuxer_.copied();
  const bool with_others = std::find(copied.begin(), copied.end(), true) != copied.end();
  const std::array<std::int64_t, 4> margins{with_others ? AV_TIME_BASE / 2 : 0, AV_TIME_BASE,
                                            10 * AV_TIME_BASE, 60 * AV_TIME_BASE};
  const int context = range_.context().wanted();
  const std::int64_t of_context = context > 0 ? duration_of(context + 1, demuxer_.average_rate()) : 0;
  for (const std::int64_t least : margins) {
    const std::int64_t margin = least + of_context;
    moved = moved || range_.target() - margin > range_.source_begin();
    if (!begin_at_key_frame(margin)) {
      break;
    }
    const bool found = find_first_frame();
    const bool is_whole = range_.begun_in_time() && (!found || range_.context().are_complete());
    if (is_whole || is_given_up()) {
      return found ? Found::kFrame : Found::kNothing;
    }
    first_frame_.reset();
  }
  if (moved) {
    rewind();
  }
  return Found::kNoKeyFrame;
}

void Reader::State::seek(double seconds, double before, const std::function<bool()>& given_up,
                         const std::function<void(Frame)>& glimpse) {
  struct Restore : NotCopyable {
    State& state;
    std::int64_t damaged_packets;
    explicit Restore(State& of) : state(of), damaged_packets(of.health_.damaged_packets()) {}
    ~Restore() {
      state.given_up_ = nullptr;
      state.glimpse_ = nullptr;
      state.health_.restore_damaged_packets(damaged_packets);
    }
  };
  const Restore restore(*this);
  given_up_ = given_up;
  glimpse_ = glimpse;
  first_frame_.reset();
  range_.set_target(seconds, before);
  if (seek_first_frame() == Found::kNoKeyFrame && !is_given_up()) {
    rewind();
    find_first_frame();
  }
  if (first_frame_) {
    first_frame_->index = index_at(*first_frame_);
    frame_index_ = first_frame_->index + 1;
  }
}

std::optional<double> presentation_time(const Frame& frame) {
  const auto* const properties = frame.attachment.get<AVFrame>();
  if (properties == nullptr || properties->pts == AV_NOPTS_VALUE) {
    return std::nullopt;
  }
  return static_cast<double>(properties->pts) * av_q2d(properties->time_base);
}

Reader::Reader(std::string url, const ReaderOptions& options) {
  url = local_name(url);
  if (options.memory.is_host() || !options.before.empty()) {
    ReaderOptions software = options;
    software.memory = kHostMemory;
    state_ = std::make_unique<State>(std::move(url), software);
    if (!options.memory.is_host()) {
      state_->video_.why_not_on_cuda = "--before filters frames in the host's memory";
    }
    return;
  }
  // If the GPU rejects the stream, it is opened again for software decoding, if possible, which then has all
  // threads.
  const bool can_begin_again = !PipeInput::is_pipe(url);
  std::string why_not;
  try {
    state_ = std::make_unique<State>(url, options);
    why_not = video().why_not_on_cuda;
    const bool is_deep_enough = video().format.bit_depth >= options.least_depth &&
                                (video().format.bit_depth > 8 || options.fraction_bits == 0);
    if ((video().decoded_on_cuda && is_deep_enough) || !state_->decoder_.uses_gpu() || !can_begin_again) {
      return;
    }
    why_not = video().decoded_on_cuda ? "the filter needs more bits than the GPU's frames have" : why_not;
  } catch (const Error& error) {
    if (!can_begin_again) {
      throw;
    }
    why_not = "the GPU fails: " + std::string(error.what());
  }
  ReaderOptions software = options;
  software.memory = kHostMemory;
  state_ = std::make_unique<State>(std::move(url), software);
  state_->video_.why_not_on_cuda = std::move(why_not);
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::string& Reader::url() const { return state_->demuxer_.url(); }
const VideoProperties& Reader::video() const { return state_->video_; }
Diagnostics Reader::diagnostics() const {
  return state_->health_.diagnostics(state_->range_.has_video_ended());
}
void Reader::end_sound() { state_->demuxer_.end_sound(); }
std::string Reader::sound_failure() const { return state_->demuxer_.sound_failure(); }
Reader::Item Reader::read() { return state_->read(); }
void Reader::seek(double seconds, double before, const std::function<bool()>& given_up,
                  const std::function<void(Frame)>& glimpse) {
  state_->seek(seconds, before, given_up, glimpse);
}
bool Reader::can_seek() const { return state_->demuxer_.can_seek(); }
int Reader::decoder_threads() const { return state_->decoder_.threads(); }
std::int64_t Reader::decoded_packets() const { return state_->decoder_.packets(); }
std::int64_t Reader::decoded_frames() const { return state_->decoder_.frames(); }
std::int64_t Reader::copies() const { return state_->converter_->copies(); }
int Reader::codec_of(const Packet& packet) const {
  return source().input.streams[packet.stream()]->codecpar->codec_id;
}
Source Reader::source() const { return state_->source(); }

std::vector<Chapter> Reader::chapters() const {
  const Source source = this->source();
  std::vector<Chapter> chapters;
  for (unsigned i = 0; i < source.input.nb_chapters; ++i) {
    const AVChapter& each = *source.input.chapters[i];
    const AVDictionaryEntry* const title = av_dict_get(each.metadata, "title", nullptr, 0);
    const double begin = static_cast<double>(each.start) * av_q2d(each.time_base) +
                         static_cast<double>(source.time_offset) / AV_TIME_BASE;
    chapters.push_back({std::max(begin, 0.0), title != nullptr ? title->value : ""});
  }
  std::ranges::sort(chapters, {}, &Chapter::begin);
  return chapters;
}

}  // namespace limpid::io
