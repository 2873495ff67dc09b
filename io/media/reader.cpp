#include "io/media/reader.h"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "io/media/cuda_decoding.h"
#include "io/media/libav.h"
#include "io/media/packet.h"
#include "io/media/pixel_format.h"
#include "io/media/reader_state.h"
#include "io/media/references.h"
#include "io/media/source.h"
#include "io/media/writer.h"

namespace limpid::io {
namespace {

/// What libav has for a file's name: "-" is its "pipe:0", and a file is never taken for a protocol because of
/// a colon in its name.
std::string libav_url(const std::string& url) {
  if (url == "-") {
    return "pipe:0";
  }
  std::error_code ignored;
  const bool is_file = std::filesystem::exists(url, ignored) || url.starts_with("pipe:");
  return !has_protocol(url) && is_file ? "file:" + url : url;
}

/// Demuxers that draw text as video; nobody means them by handing in a text file.
bool draws_text(std::string_view demuxer) {
  return demuxer == "tty" || demuxer == "bin" || demuxer == "xbin" || demuxer == "adf" || demuxer == "idf";
}

bool reads_pictures(std::string_view demuxer) { return demuxer == "image2" || demuxer.ends_with("_pipe"); }

/// ffmpeg's own order: streams with content first, then the default stream, then the largest; cover art last.
std::int64_t preference(const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const bool has_packets = (stream.event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS) != 0;
  const bool is_default = (stream.disposition & AV_DISPOSITION_DEFAULT) != 0;
  return std::int64_t{parameters.width} * parameters.height + (has_packets ? 100'000'000 : 0) +
         (is_default ? 5'000'000 : 0);
}

/// Data whose samples all have one time is data all the same, but newer versions of libav set it aside, as
/// they do with QuickTime's tracks of chapter titles. Before the first packet is read, or it is lost.
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

/// QuickTime's tracks of chapter titles, which libav sets aside, and of timecode: libav delivers both as
/// chapters and tags, of which muxers make such tracks anew.
bool is_told_otherwise(const AVStream& stream) {
  return stream.discard == AVDISCARD_ALL || stream.codecpar->codec_tag == MKTAG('t', 'm', 'c', 'd');
}

bool has_transparent_palette(const AVFrame& frame) {
  constexpr int kEntries = 256;
  const auto* const palette = reinterpret_cast<const std::uint32_t*>(frame.data[1]);
  return std::any_of(palette, palette + kEntries, [](std::uint32_t argb) { return (argb >> 24) != 0xFF; });
}

/// True if core can work on the rows where they are: top to bottom and aligned to the samples.
bool has_usable_rows(const AVFrame& frame, const FrameFormat& format) {
  const auto bytes = static_cast<std::uintptr_t>(format.bytes_per_sample());
  for (int p = 0; p < format.plane_count(); ++p) {
    if (frame.linesize[p] <= 0 || frame.linesize[p] % bytes != 0 ||
        reinterpret_cast<std::uintptr_t>(frame.data[p]) % bytes != 0) {
      return false;
    }
  }
  return true;
}

std::shared_ptr<AVFrame> properties_of(const AVFrame& frame, AVRational time_base) {
  FrameHandle properties = make_frame();
  check(av_frame_copy_props(properties.get(), &frame), "frame", "can't copy its properties");
  properties->time_base = time_base;
  return properties;
}

/// 0/1 for none. Without any other hint, libav comes up with the resolution of the container's clock.
constexpr int kGreatestRate = 480;

AVRational plausible_rate(AVRational rate) {
  return rate.num > 0 && rate.den > 0 && av_q2d(rate) <= kGreatestRate ? rate : AVRational{0, 1};
}

std::string length_text(std::int64_t microseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(microseconds) / AV_TIME_BASE);
  return text.data();
}

/// Neither the end of the source, nor an interrupt, nor a device that has nothing yet.
bool is_failure(int code) {
  return code < 0 && code != AVERROR_EOF && code != AVERROR_EXIT && code != AVERROR(EAGAIN);
}

}  // namespace

std::optional<double> presentation_time(const Frame& frame) {
  const auto* const properties = static_cast<const AVFrame*>(frame.attachment.get());
  if (properties == nullptr || properties->pts == AV_NOPTS_VALUE) {
    return std::nullopt;
  }
  return static_cast<double>(properties->pts) * av_q2d(properties->time_base);
}

Reader::State::State(std::string source_url, const ReaderOptions& options)
    : url(std::move(source_url)), interrupted(options.interrupted), allocate_(options.allocate) {
  open(options);
  describe();
  decode_first_frame();
}

void Reader::State::open(const ReaderOptions& options) {
  const AVInputFormat* format = nullptr;
  if (!options.input_format.empty()) {
    avdevice_register_all();
    format = av_find_input_format(options.input_format.c_str());
    if (format == nullptr) {
      throw UsageError("no input format is called '" + options.input_format + "'");
    }
  }
  if (options.local_only) {
    require_local_source(libav_url(url), format, options.options);
  }
  if (format != nullptr && !options.allow_references && follows_references(*format) &&
      !is_address_for(url, *format)) {
    throw_reference(format->name);
  }
  if (PipeInput::is_pipe(url)) {
    pipe.emplace(url, interrupted);
  }
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) {
    throw Error("out of memory");
  }
  context->interrupt_callback = interrupt_callback();
  if (format != nullptr && is_live(*format)) {
    // A read that waits in the driver could not be interrupted, and what has been queued while probing is
    // old.
    context->flags |= AVFMT_FLAG_NONBLOCK | AVFMT_FLAG_NOBUFFER;
  }
  if (pipe) {
    context->pb = pipe->bytes();
  }
  const AVInputFormat* found = format;
  if (options.local_only) {
    context->protocol_whitelist = av_strdup(kLocalProtocols);
  }
  if (format == nullptr && !options.allow_references) {
    context->format_whitelist = av_strdup(demuxers_without_references(url).c_str());
    // As libav would do it: a pipe can't be looked at again to say why it has been refused.
    if (pipe && av_probe_input_buffer2(context->pb, &found, url.c_str(), context, 0, 0) >= 0 &&
        follows_references(*found)) {
      avformat_free_context(context);
      throw_reference(found->name);
    }
  }
  Dictionary remaining(options.options);
  forget_logged_messages();
  // On failure libav frees the context.
  const int code = avformat_open_input(&context, libav_url(url).c_str(), found, remaining.get());
  if (code < 0) {
    explain_open_failure(code, options);
  }
  input.reset(context);
  declared_.note(*input);
  if (format == nullptr && draws_text(input->iformat->name)) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  take_up_data_of_one_time(*input);
  // Streams whose parameters can't be found may still decode, so a failure here isn't one yet.
  avformat_find_stream_info(input.get(), nullptr);
  choose_streams(options);
  open_decoder(options, remaining);
  set_range(options);
}

AVIOInterruptCB Reader::State::interrupt_callback() {
  if (!interrupted) {
    return {};
  }
  return {.callback = [](void* state) { return static_cast<State*>(state)->interrupted() ? 1 : 0; },
          .opaque = this};
}

void Reader::State::explain_open_failure(int code, const ReaderOptions& options) {
  std::error_code ignored;
  if (url != "-" && !has_protocol(url) && options.input_format.empty()) {
    if (std::filesystem::is_directory(url, ignored)) {
      throw Error(url + ": is a directory, not a file");
    }
    if (std::filesystem::is_regular_file(url, ignored) && std::filesystem::file_size(url, ignored) == 0) {
      throw NoVideo(url + ": the file is empty", false);
    }
  }
  if (code == AVERROR_INVALIDDATA) {
    throw NoVideo(url + ": no video or picture found in it", false);
  }
  if (code == AVERROR(EINVAL) && !options.allow_references && !pipe) {
    const std::string name = demuxer_of_references(libav_url(url), interrupt_callback());
    if (!name.empty()) {
      throw_reference(name);
    }
  }
  if (code == AVERROR(EBUSY) && options.input_format.empty()) {
    // libav's reader of y4m says so.
    throw Error(url + ": no picture has the size that its header tells");
  }
  if (code == AVERROR(EINVAL) && !options.options.empty()) {
    throw UsageError(url + ": can't open it with the options given" + logged_reason());
  }
  if (code == AVERROR(ENOENT) && is_sequence(url)) {
    throw Error(url +
                ": no picture of this sequence has one of its first 5 numbers, 0 to 4 without --input-option "
                "start_number=N");
  }
  check(code, url, "can't open it");
  throw Error(url + ": can't open it");
}

void Reader::State::throw_reference(const std::string& demuxer) const {
  throw Error(url + ": is a list of other files (" + demuxer +
              "), which are read only with --allow-references");
}

void Reader::State::choose_streams(const ReaderOptions& options) {
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* const stream = input->streams[i];
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO &&
        (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) == 0 &&
        (video_stream == nullptr || preference(*stream) > preference(*video_stream))) {
      video_stream = stream;
    }
  }
  if (video_stream == nullptr) {
    throw NoVideo(url + ": has no video stream", true);
  }
  for (unsigned i = 0; i < input->nb_streams; ++i) {
    AVStream* const stream = input->streams[i];
    bool copy = false;
    switch (stream->codecpar->codec_type) {
      case AVMEDIA_TYPE_AUDIO:
        copy = options.audio;
        break;
      case AVMEDIA_TYPE_SUBTITLE:
        copy = options.subtitles;
        break;
      case AVMEDIA_TYPE_DATA:
        copy = options.data && !is_told_otherwise(*stream);
        break;
      case AVMEDIA_TYPE_ATTACHMENT:
        copy = options.data;
        break;
      case AVMEDIA_TYPE_VIDEO:
        // Cover art belongs to the file; a second video would be a second, noisy version of it.
        copy = options.data && (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
        break;
      case AVMEDIA_TYPE_UNKNOWN:
        copy = options.data;  // Writer says that it is left out
        break;
      default:
        break;
    }
    copied.push_back(copy);
    if (!copy && stream != video_stream) {
      stream->discard = AVDISCARD_ALL;
    }
  }
  next_time_.assign(input->nb_streams, AV_NOPTS_VALUE);
  past_range_.assign(input->nb_streams, false);
  if ((input->iformat->flags & AVFMT_TS_DISCONT) != 0 && input->start_time != AV_NOPTS_VALUE) {
    time_offset = -input->start_time;
  }
}

void Reader::State::open_decoder(const ReaderOptions& options, Dictionary& codec_options) {
  const AVCodecParameters& parameters = *video_stream->codecpar;
  const AVCodec* const of_cuda = options.memory.is_host() ? nullptr : find_cuda_decoder(parameters.codec_id);
  const bool is_exact = !options.same_samples || has_exact_samples(parameters.codec_id);
  const AVCodec* const cuda_codec = is_exact ? of_cuda : nullptr;
  const AVCodec* const codec = cuda_codec != nullptr ? cuda_codec : avcodec_find_decoder(parameters.codec_id);
  if (codec == nullptr) {
    throw Error(url + ": there is no decoder for its video (" + avcodec_get_name(parameters.codec_id) + ")");
  }
  decoder.reset(avcodec_alloc_context3(codec));
  if (decoder == nullptr) {
    throw Error("out of memory");
  }
  check(avcodec_parameters_to_context(decoder.get(), &parameters), url, "can't set up the decoder");
  decoder->pkt_timebase = video_stream->time_base;
  decoder->framerate = video_stream->avg_frame_rate;
  decoder->thread_count = options.decoder_threads;
  if (cuda_codec != nullptr) {
    memory_ = options.memory;
    video.why_not_on_cuda = decode_on_cuda(*decoder, memory_.ordinal);
  } else if (!options.memory.is_host()) {
    const char* const name = avcodec_get_name(parameters.codec_id);
    video.why_not_on_cuda = of_cuda == nullptr
                                ? std::string("no GPU decodes ") + name
                                : std::string("GPUs decode ") + name + ", maybe to other samples";
  }
  // Some have a meaning for the demuxer too, which has taken them.
  std::vector<std::pair<std::string, std::string>> decoder_options;
  for (const auto& [key, value] : options.options) {
    if (av_opt_find(decoder.get(), key.c_str(), nullptr, AV_OPT_FLAG_DECODING_PARAM,
                    AV_OPT_SEARCH_CHILDREN) != nullptr) {
      decoder_options.emplace_back(key, value);
      codec_options.set(key, value);
    }
  }
  if (cuda_codec == nullptr && PictureMender::is_for(*decoder, decoder_options)) {
    mender_.emplace(*decoder, parameters, std::move(decoder_options));
  }
  if (cuda_codec == nullptr && ChecksumErrors::is_for(parameters.codec_id)) {
    checksums.watch(*decoder);
  }
  forget_logged_messages();
  if (const int code = avcodec_open2(decoder.get(), codec, codec_options.get()); code < 0) {
    throw Error(url + ": can't open the decoder " + codec->name + ": " + error_text(code) + logged_reason());
  }
  skip_frame_ = decoder->skip_frame;
  if (const std::string unknown = codec_options.any_key(); !unknown.empty()) {
    throw UsageError(url + ": neither the input format " + input->iformat->name + " nor the decoder " +
                     codec->name + " has an option '" + unknown + "'");
  }
}

void Reader::State::decode_first_frame() {
  const bool found = (range.has_begin() && seek_first_frame()) || find_first_frame();
  if (!found && last_pts_ != AV_NOPTS_VALUE) {
    throw_no_frame_in_range();
  }
  if (!found && pipe && last_packet_end_ < 0 && is_mp4()) {
    throw Error(
        url +
        ": the index that tells where its frames are comes behind them, and a pipe can't go back: open "
        "the file itself, or move the index with 'ffmpeg -i IN -c copy -movflags +faststart OUT'");
  }
  if (!found) {
    throw Error(url + ": not one frame of its video could be decoded" + logged_reason());
  }
  if (range.has_begin()) {
    damaged_packets = 0;  // what comes before the range doesn't matter
  }
}

bool Reader::State::find_first_frame() {
  while (!first_frame_) {
    Item item = decode_next();
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

void Reader::State::describe() {
  video.frames_per_second = av_q2d(average_rate());
  if (video_stream->duration > 0) {
    video.duration = static_cast<double>(video_stream->duration) * av_q2d(video_stream->time_base);
  } else if (input->duration > 0) {
    video.duration = static_cast<double>(input->duration) / AV_TIME_BASE;
  }
  const bool pictures = reads_pictures(input->iformat->name);
  video.still_picture = pictures && !pipe && !is_sequence(url);
  if (video.still_picture) {
    video.frame_count = 1;
    video.duration = 0;
  } else if (video_stream->nb_frames > 0) {
    video.frame_count = video_stream->nb_frames;
  } else {
    video.frame_count = std::llround(video.duration * video.frames_per_second);
  }
  describe_range();
}

AVRational Reader::State::base_rate() const {
  return plausible_rate(av_guess_frame_rate(input.get(), video_stream, nullptr));
}

AVRational Reader::State::average_rate() const {
  // Raw streams have no times to average: from FFmpeg 7 on it is what libav takes any of them to have.
  const AVRational rate = is_raw() ? AVRational{0, 1} : plausible_rate(video_stream->avg_frame_rate);
  return rate.num > 0 ? rate : base_rate();
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
  return decode_next();
}

Reader::Item Reader::State::decode_next() {
  while (!finished_ && !is_given_up()) {
    if (behind_context_) {
      if (context_.empty()) {
        return *std::exchange(behind_context_, std::nullopt);
      }
      FrameHandle before = std::move(context_.front());
      context_.pop_front();
      return deliver(std::move(before), -std::ssize(context_) - 1, true);
    }
    FrameHandle frame = make_frame();
    int code = 0;
    if (!untimed_.empty() && !waits_for_time(*untimed_.front())) {
      frame = std::move(untimed_.front());
      untimed_.pop_front();
    } else if (!mended_.empty()) {
      frame = std::move(mended_.front());
      mended_.pop_front();
    } else {
      code = avcodec_receive_frame(decoder.get(), frame.get());
      if (code >= 0 && mender_) {
        mender_->received(*frame);
      }
      if (code >= 0 && waits_for_time(*frame)) {
        constexpr std::int64_t kMostBytes = 256 << 20;
        constexpr std::size_t kMost = 100;
        const int bytes = av_image_get_buffer_size(static_cast<AVPixelFormat>(frame->format), frame->width,
                                                   frame->height, 1);
        untimed_.push_back(std::move(frame));
        times_come_ = untimed_.size() < kMost && std::ssize(untimed_) * bytes < kMostBytes;
        continue;
      }
      if (code >= 0 && !untimed_.empty()) {
        count_back_from(*frame);
        untimed_.push_back(std::move(frame));
        continue;
      }
      if (code == AVERROR_EOF && !untimed_.empty()) {
        times_come_ = false;
        continue;
      }
    }
    if (code >= 0) {
      ++decoded_frames;
      const bool has_wrong_checksum = checksums.take(*frame);
      const bool is_corrupt =
          corrupt_times_.erase(frame->pts) > 0 || (frame->flags & AV_FRAME_FLAG_CORRUPT) != 0;
      if (auto metadata = metadata_.extract(frame->pts)) {
        keep_metadata(*frame, std::move(metadata.mapped()));
      }
      set_time(*frame);
      const Place place = place_in_range(*frame);
      if (place == Place::kBefore) {
        keep_as_context(std::move(frame));
        continue;
      }
      if (place == Place::kBehind) {
        if (first_properties == nullptr || frames_behind_range_ == context_after_) {
          video_ended_ = true;
          continue;
        }
        ++frames_behind_range_;
        return deliver(std::move(frame), frame_index_++, true);
      }
      damaged_frames += is_corrupt || frame->decode_error_flags != 0 ? 1 : 0;
      wrong_checksums += has_wrong_checksum ? 1 : 0;
      // It comes first, as it tells the format.
      Frame inside = deliver(std::move(frame), frame_index_++, false);
      if (context_.empty()) {
        return inside;
      }
      behind_context_ = std::move(inside);
    }
    if (code == AVERROR_EOF) {
      if (std::shared_ptr<Packet> packet = rest_of_range(); packet != nullptr) {
        return packet;
      }
      finished_ = true;
      look_for_shortfall();
    } else if (code == AVERROR(ENOMEM)) {
      check(code, url, "can't decode frame " + std::to_string(frame_index_));
    } else if (code != AVERROR(EAGAIN)) {
      // A frame thread reports a damaged packet here, after it was taken.
      decoding_failed();
    } else if (!gathered_.empty()) {
      decode(*gathered_.front());
      gathered_.pop_front();
    } else if (source_ended_ || video_ended_) {
      if (!std::exchange(drained_, true)) {
        avcodec_send_packet(decoder.get(), nullptr);
      }
    } else if (std::shared_ptr<Packet> packet = demux_next(); packet != nullptr) {
      return packet;
    }
  }
  return End{};
}

std::shared_ptr<Packet> Reader::State::demux_next() {
  PacketHandle packet = make_packet();
  take_demuxer_error();
  int code = av_read_frame(input.get(), packet.get());
  std::string error = take_demuxer_error();
  if (code >= 0 && pending_error_.empty()) {
    pending_error_ = std::move(error);  // what ends the source is told otherwise
  }
  if (code >= 0 && interrupted && interrupted()) {
    code = AVERROR_EXIT;  // the packet may have been cut short
  }
  if (code == AVERROR(EAGAIN) && !(interrupted && interrupted())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return nullptr;
  }
  if (code < 0) {
    // Whatever stops the source, the frames before it are worth having. Demuxers call damage and files that
    // are cut by many names, and a failure to read sometimes the end.
    const int of_reading = input->pb != nullptr ? input->pb->error : code;  // devices read by themselves
    if (is_failure(of_reading)) {
      failure = error_text(of_reading);
    } else if (is_failure(code)) {
      // Of a pipe, the program that writes to it has failed.
      (pipe ? failure : damage) = error_text(code);
    }
    look_at_end();
    count_container_error();
    source_ended_ = true;
    return nullptr;
  }
  const auto index = static_cast<std::size_t>(packet->stream_index);
  if (index >= copied.size()) {
    return nullptr;  // a stream that appeared after the header
  }
  const AVRational time_base = input->streams[index]->time_base;
  if ((input->iformat->flags & AVFMT_TS_DISCONT) != 0) {
    take_out_clock_jumps(*packet);
  }
  begin_device_clock(*packet);
  const std::int64_t offset =
      is_timeless(*input->streams[index]) ? 0 : av_rescale_q(time_offset, kMicrosecond, time_base);
  if (packet->pts != AV_NOPTS_VALUE) {
    packet->pts += offset;
  }
  if (packet->dts != AV_NOPTS_VALUE) {
    packet->dts += offset;
  }
  if (!take_for_range(*packet)) {
    return nullptr;
  }
  if (packet->stream_index != video_stream->index) {
    if (copied[index] && packet->pts != AV_NOPTS_VALUE) {
      copied_end_ =
          std::max(copied_end_, av_rescale_q(packet->pts + packet->duration, time_base, kMicrosecond));
    }
    return copied[index] ? std::make_shared<Packet>(std::move(packet), time_base) : nullptr;
  }
  look_for_gap(*packet);
  last_packet_end_ = packet->pos < 0 ? -1 : packet->pos + packet->size;
  // MPEG streams have it also where they were cut and joined, which does no harm.
  if ((packet->flags & AV_PKT_FLAG_CORRUPT) != 0 && packet->pts != AV_NOPTS_VALUE &&
      (input->iformat->flags & AVFMT_TS_DISCONT) == 0) {
    corrupt_times_.insert(packet->pts);
  }
  if (gathering_) {
    gather(std::move(packet));
  } else {
    decode(*packet);
  }
  return nullptr;
}

/// Whether the frame that a packet holds comes before the range.
bool Reader::State::is_unseen(const AVPacket& packet) {
  // Its time may yet be corrected a little.
  constexpr std::int64_t kMargin = AV_TIME_BASE / 10;
  const AVRational time_base = video_stream->time_base;
  // No frame is shown before it is decoded. Times that step back later are set right once they are decoded.
  range_reached_ = range_reached_ || (packet.dts != AV_NOPTS_VALUE && packet.dts >= range.first(time_base));
  return !range_reached_ && range.has_begin() && context_before_ == 0 && packet.pts != AV_NOPTS_VALUE &&
         !mender_ && packet.pts < range.first(time_base) - av_rescale_q(kMargin, kMicrosecond, time_base);
}

void Reader::State::decode(const AVPacket& packet) {
  ++decoded_packets;
  // Of what comes before the range, only what other frames are predicted from is needed.
  decoder->skip_frame = is_unseen(packet) ? std::max(skip_frame_, AVDISCARD_NONREF) : skip_frame_;
  if (mender_) {
    mender_->sent(packet);
  }
  if (reads_pictures(input->iformat->name)) {
    PictureMetadata metadata =
        find_metadata(video_stream->codecpar->codec_id, {packet.data, static_cast<std::size_t>(packet.size)});
    if (!metadata.empty()) {
      metadata_[packet.pts] = std::move(metadata);
    }
  }
  const int sent = avcodec_send_packet(decoder.get(), &packet);
  if (sent == AVERROR(ENOMEM)) {
    check(sent, url, "can't decode");
  }
  if (sent < 0) {
    decoding_failed();
  }
}

void Reader::State::decoding_failed() {
  if (FrameHandle frame = mender_ ? mender_->mend() : nullptr) {
    mended_.push_back(std::move(frame));
  } else {
    ++damaged_packets;
  }
}

/// Where the demuxer has stopped: whether that is in the middle of a frame.
void Reader::State::look_at_end() {
  at_true_end_ = failure.empty() && !(interrupted && interrupted());
  const bool tells_nothing_else = std::string_view(input->iformat->name) == "yuv4mpegpipe";
  if (at_true_end_ && damage.empty() && tells_nothing_else && last_packet_end_ >= 0 &&
      avio_tell(input->pb) > last_packet_end_) {
    (pipe ? failure : shortfall) = "it ends in the middle of a frame";
  }
}

/// Whether less has come than the header tells.
void Reader::State::look_for_shortfall() {
  const std::optional<DeclaredLength::Length> length = declared_.of(*input, *video_stream);
  if (!at_true_end_ || !failure.empty() || !shortfall.empty() || !length || last_pts_ == AV_NOPTS_VALUE ||
      video.still_picture) {
    return;
  }
  std::int64_t end = av_rescale_q(last_pts_ + last_duration_, video_stream->time_base, kMicrosecond);
  if (length->of_container) {
    // The longest stream may be another.
    for (std::size_t i = 0; i < copied.size(); ++i) {
      const AVMediaType type = input->streams[i]->codecpar->codec_type;
      const bool has_length =
          type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO || type == AVMEDIA_TYPE_SUBTITLE;
      if (!copied[i] && input->streams[i] != video_stream && has_length) {
        return;
      }
    }
    end = std::max(end, copied_end_);
  }
  end += range.shift - source_begin_;
  // What containers tell of the last frame's duration differs.
  constexpr std::int64_t kLeast = AV_TIME_BASE / 5;
  constexpr int kFrames = 3;
  const AVRational rate = average_rate();
  const std::int64_t tolerance =
      std::max(kLeast, rate.num > 0 ? av_rescale_q(kFrames, av_inv_q(rate), kMicrosecond) : 0);
  const std::int64_t told =
      range.has_end() ? std::min(length->microseconds, range.end - source_begin_) : length->microseconds;
  if (end + tolerance < told) {
    shortfall =
        "it ends after " + length_text(end) + " of the " + length_text(told) + " that its header tells";
  }
}

void Reader::State::count_container_error() {
  const std::string error = std::exchange(pending_error_, {});
  if (error.empty()) {
    return;
  }
  first_container_error = container_errors == 0 ? error : first_container_error;
  ++container_errors;
}

/// Whether frames are missing before a packet of the video, or the demuxer has reported an error before it.
void Reader::State::look_for_gap(const AVPacket& packet) {
  const std::int64_t time = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  const AVRational time_base = video_stream->time_base;
  const bool is_inside =
      time == AV_NOPTS_VALUE || (time >= range.first(time_base) && time < range.behind(time_base));
  // The clock of broadcasts and live streams may jump, and raw streams and pictures have none.
  const bool has_clock = (input->iformat->flags & (AVFMT_TS_DISCONT | AVFMT_NOFILE)) == 0 && !is_raw() &&
                         !is_device(*input->iformat);
  if (has_clock) {
    gaps_.add(packet, time_base, !pending_error_.empty(), is_inside);
  }
  if (is_inside) {
    count_container_error();
  }
  pending_error_.clear();
}

/// Recordings that were cut and joined have a clock that jumps; like ffmpeg, a step back or one of more than
/// 10 s is taken for such a jump, and what follows is moved to where it was expected.
void Reader::State::take_out_clock_jumps(const AVPacket& packet) {
  const AVStream& stream = *input->streams[packet.stream_index];
  const AVMediaType type = stream.codecpar->codec_type;
  if (packet.dts == AV_NOPTS_VALUE || (type != AVMEDIA_TYPE_VIDEO && type != AVMEDIA_TYPE_AUDIO)) {
    return;
  }
  constexpr std::int64_t kGreatestGap = 10 * AV_TIME_BASE;
  constexpr std::int64_t kGreatestStepBack = AV_TIME_BASE / 10;
  const std::int64_t time = av_rescale_q(packet.dts, stream.time_base, kMicrosecond);
  std::int64_t& expected = next_time_[packet.stream_index];
  if (expected != AV_NOPTS_VALUE) {
    const std::int64_t gap = time + time_offset - expected;
    // The first times behind a seek may be guesses.
    if (gap > kGreatestGap || gap < -(gathering_ ? kGreatestGap : kGreatestStepBack)) {
      first_jump_ = std::min(first_jump_, expected);
      time_offset -= gap;
    }
  }
  expected = time + time_offset + av_rescale_q(packet.duration, stream.time_base, kMicrosecond);
}

/// Cameras and screens tell the time since the machine was started, or since 1970: it becomes that since the
/// first frame.
void Reader::State::begin_device_clock(const AVPacket& packet) {
  if (is_device(*input->iformat) && !device_clock_begun_ && packet.pts != AV_NOPTS_VALUE) {
    device_clock_begun_ = true;
    time_offset -= av_rescale_q(packet.pts, input->streams[packet.stream_index]->time_base, kMicrosecond);
  }
}

void Reader::State::set_format(const AVFrame& first) {
  video.decoded_on_cuda = first.format == AV_PIX_FMT_CUDA;
  if (decoder->hw_device_ctx != nullptr && !video.decoded_on_cuda) {
    video.why_not_on_cuda = "the GPU can't decode such a stream";
  }
  const AVPixelFormat decoded = sample_format(first);
  if (video.decoded_on_cuda && !has_chroma_of(decoded, first)) {
    throw Error(url + ": the GPU gives it less chroma than " + name_of(decoded) + " has");
  }
  source_format_ = without_range(decoded);
  readable_format_ = source_format_;
  const bool full = implies_full_range(decoded) || first.color_range == AVCOL_RANGE_JPEG;
  const int width = visible_width(first);
  const int height = visible_height(first);
  std::optional<FrameFormat> format = frame_format(source_format_);
  if (!format || pixel_format(*format) == AV_PIX_FMT_NONE) {
    const bool transparent = decoded == AV_PIX_FMT_PAL8 && has_transparent_palette(first);
    readable_format_ = readable_equivalent(source_format_, transparent);
    if (readable_format_ == AV_PIX_FMT_NONE) {
      throw Error(url + ": its pixel format " + name_of(decoded) + " is not supported");
    }
    const ColorCoding coding{.matrix = first.colorspace, .full_range = full};
    scaler_.emplace(url, PictureLayout{width, height, source_format_, coding},
                    PictureLayout{width, height, readable_format_, coding});
    format = frame_format(readable_format_);
  }
  format->width = width;
  format->height = height;
  format->matrix = color_matrix(first.colorspace);
  format->range =
      full || format->color_model == ColorModel::kRgb ? ColorRange::kFull : color_range(first.color_range);
  format->validate(url);
  video.format = *format;
  video.pixel_format = name_of(decoded);
}

Diagnostics Reader::State::diagnostics() const {
  using Kind = Diagnostic::Kind;
  Diagnostics all;
  for (const auto& [kind, text] : {std::pair{Kind::kFailure, &failure},
                                   {Kind::kDamage, &damage},
                                   {Kind::kShortfall, &shortfall},
                                   {Kind::kScanChange, &scan_change}}) {
    if (!text->empty()) {
      all.push_back({.kind = kind, .text = *text});
    }
  }
  if (const FrameGaps::Missing missing = gaps_.missing(at_true_end_ || video_ended_); missing.places > 0) {
    all.push_back({.kind = Kind::kMissingFrames, .text = text_of(missing), .count = missing.frames});
  }
  if (container_errors > 0) {
    all.push_back({.kind = Kind::kContainerErrors, .text = first_container_error, .count = container_errors});
  }
  for (const auto& [kind, count] : {std::pair{Kind::kDamagedPackets, damaged_packets},
                                    {Kind::kDamagedFrames, damaged_frames},
                                    {Kind::kWrongChecksums, wrong_checksums},
                                    {Kind::kConvertedFrames, converted_frames}}) {
    if (count > 0) {
      all.push_back({.kind = kind, .text = {}, .count = count});
    }
  }
  return all;
}

/// Encoders are set up for the first frame's fields. Progressive frames among interlaced ones are no harm.
void Reader::State::look_at_scan(const AVFrame& frame, std::int64_t index) {
  if (!scan_change.empty() || !is_interlaced(frame)) {
    return;
  }
  const bool is_as_begun =
      is_interlaced(*first_properties) && is_top_field_first(*first_properties) == is_top_field_first(frame);
  if (!is_as_begun) {
    scan_change = "from frame " + std::to_string(index) + " on it is interlaced, " +
                  (is_top_field_first(frame) ? "top" : "bottom") + " field first";
  }
}

/// HDR10's metadata may be told by the container alone.
void Reader::State::inherit_from_stream(AVFrame& properties) const {
  constexpr std::array<std::pair<AVPacketSideDataType, AVFrameSideDataType>, 2> kTypes{
      {{AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA},
       {AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL}}};
  for (const auto& [from, to] : kTypes) {
    const AVPacketSideData* const data = find_side_data(*video_stream, from);
    if (data == nullptr || av_frame_get_side_data(&properties, to) != nullptr) {
      continue;
    }
    AVFrameSideData* const added = av_frame_new_side_data(&properties, to, data->size);
    if (added == nullptr) {
      throw Error("out of memory");
    }
    std::copy_n(data->data, data->size, added->data);
  }
}

/// Matroska can't tell all times before its zero: the first frames may have none. A GPU's decoder has too few
/// frames to wait.
bool Reader::State::waits_for_time(const AVFrame& frame) const {
  return frame.best_effort_timestamp == AV_NOPTS_VALUE && last_pts_ == AV_NOPTS_VALUE && times_come_ &&
         frame.hw_frames_ctx == nullptr && !is_raw() && !is_device(*input->iformat);
}

/// The first frames were shown evenly before the first that has a time.
void Reader::State::count_back_from(const AVFrame& timed) {
  const AVRational rate = average_rate();
  auto frames = static_cast<std::int64_t>(untimed_.size());
  for (const FrameHandle& frame : untimed_) {
    const std::int64_t before = rate.num > 0 ? av_rescale_q(frames, av_inv_q(rate), video_stream->time_base)
                                             : frames * std::max<std::int64_t>(duration_of(*frame), 1);
    frame->best_effort_timestamp = timed.best_effort_timestamp - before;
    --frames;
  }
}

void Reader::State::set_time(AVFrame& frame) {
  std::int64_t duration = duration_of(frame);
  // FFmpeg 7 has one tick for the frames of raw streams that don't tell their rate.
  const std::int64_t least =
      is_raw() ? av_rescale_q(1, {1, kGreatestRate}, video_stream->time_base) : std::int64_t{1};
  if (duration < least && decoder->framerate.num > 0) {
    duration = av_rescale_q(1, av_inv_q(decoder->framerate), video_stream->time_base);
  }
  frame.pts = frame.best_effort_timestamp;
  if (frame.pts == AV_NOPTS_VALUE) {
    const std::int64_t first = av_rescale_q(-range.shift, kMicrosecond, video_stream->time_base);
    frame.pts = last_pts_ == AV_NOPTS_VALUE ? first : last_pts_ + std::max<std::int64_t>(last_duration_, 1);
  } else if (last_pts_ != AV_NOPTS_VALUE && frame.pts <= last_pts_) {
    frame.pts = last_pts_ + 1;
  }
  set_duration(frame, duration);
  last_pts_ = frame.pts;
  last_duration_ = duration;
}

/// A frame of another size or pixel format than the first one, converted to the first one's, like ffmpeg does
/// it.
FrameHandle Reader::State::as_begun(const AVFrame& other, std::int64_t index) {
  const auto layout = [](const AVFrame& frame, int width, int height, AVPixelFormat format) {
    const bool full =
        implies_full_range(static_cast<AVPixelFormat>(frame.format)) || frame.color_range == AVCOL_RANGE_JPEG;
    return PictureLayout{width, height, format, {.matrix = frame.colorspace, .full_range = full}};
  };
  const PictureLayout from =
      layout(other, other.width, other.height, without_range(static_cast<AVPixelFormat>(other.format)));
  PictureLayout to = layout(other, video.format.width, video.format.height, source_format_);
  to.coding.full_range = video.format.range == ColorRange::kFull;
  FrameHandle converted = rescaled_pool_.take(to.format, to.width, to.height);
  Scaler(url + ": frame " + std::to_string(index), from, to).convert(other, *converted);
  check(av_frame_copy_props(converted.get(), &other), url, "can't copy a frame's properties");
  ++copies;
  return converted;
}

/// Of the samples, wherever they are.
AVPixelFormat Reader::State::sample_format(const AVFrame& frame) const {
  return frame.format == AV_PIX_FMT_CUDA ? decoder->sw_pix_fmt : static_cast<AVPixelFormat>(frame.format);
}

Frame Reader::State::deliver(FrameHandle decoded, std::int64_t index, bool context_only) {
  if (source_format_ == AV_PIX_FMT_NONE) {
    set_format(*decoded);
  }
  bool on_cuda = decoded->format == AV_PIX_FMT_CUDA;
  if (on_cuda && decoded->data[0] == nullptr) {
    // libavcodec gives such frames once all of the decoder's surfaces are held.
    throw Error(url + ": frame " + std::to_string(index) + ": the GPU's decoder had no memory left for it");
  }
  if (visible_width(*decoded) != video.format.width || visible_height(*decoded) != video.format.height ||
      without_range(sample_format(*decoded)) != source_format_) {
    decoded = as_begun(on_cuda ? *copy_to_host(*decoded, url) : *decoded, index);
    converted_frames += context_only ? 0 : 1;
    on_cuda = false;
  }
  if (implies_full_range(sample_format(*decoded))) {
    decoded->color_range = AVCOL_RANGE_JPEG;
    decoded->format = on_cuda ? decoded->format : without_range(sample_format(*decoded));
  }
  std::shared_ptr<AVFrame> properties = properties_of(*decoded, video_stream->time_base);
  if (first_properties == nullptr) {
    inherit_from_stream(*properties);
    first_properties = properties;
  }

  Frame frame;
  if (on_cuda) {
    frame = device_view_of(std::shared_ptr<AVFrame>(std::move(decoded)), video.format, memory_.ordinal);
  } else if (is_planar(readable_format_) && !scaler_ && has_usable_rows(*decoded, video.format)) {
    frame = view_of(std::shared_ptr<AVFrame>(std::move(decoded)), video.format);
    if (allocate_) {
      const Frame own = allocate_(video.format);
      copy_samples(frame, own);
      ++copies;
      frame = own;
    }
  } else {
    FrameHandle scaled;
    if (scaler_) {
      scaled = scaled_pool_.take(readable_format_, decoded->width, decoded->height);
      scaler_->convert(*decoded, *scaled);
      ++copies;
    }
    frame = allocate_ ? allocate_(video.format) : pool_.allocate(video.format);
    unpack(scaled != nullptr ? *scaled : *decoded, frame);
    ++copies;
  }
  if (!context_only) {
    look_at_scan(*properties, index);
  }
  frame.interlaced = is_interlaced(*properties);
  frame.index = index;
  frame.context_only = context_only;
  frame.attachment = std::move(properties);
  return frame;
}

Reader::Reader(std::string url, const ReaderOptions& options) {
  url = local_name(url);
  if (options.memory.is_host()) {
    state_ = std::make_unique<State>(std::move(url), options);
    return;
  }
  // What the GPU turns down is begun again without it, if that can be done, and then has all threads.
  const bool can_begin_again = !PipeInput::is_pipe(url);
  std::string why_not;
  try {
    state_ = std::make_unique<State>(url, options);
    why_not = state_->video.why_not_on_cuda;
    if (state_->video.decoded_on_cuda || state_->decoder->hw_device_ctx == nullptr || !can_begin_again) {
      return;
    }
  } catch (const Error& error) {
    if (!can_begin_again) {
      throw;
    }
    why_not = "the GPU fails: " + std::string(error.what());
  }
  ReaderOptions software = options;
  software.memory = kHostMemory;
  state_ = std::make_unique<State>(std::move(url), software);
  state_->video.why_not_on_cuda = std::move(why_not);
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::string& Reader::url() const { return state_->url; }
const VideoProperties& Reader::video() const { return state_->video; }
Diagnostics Reader::diagnostics() const { return state_->diagnostics(); }
Reader::Item Reader::read() { return state_->read(); }
void Reader::seek(double seconds, double before, const std::function<bool()>& given_up) {
  state_->seek(seconds, before, given_up);
}
int Reader::decoder_threads() const { return state_->decoder->thread_count; }
std::int64_t Reader::decoded_packets() const { return state_->decoded_packets; }
std::int64_t Reader::decoded_frames() const { return state_->decoded_frames; }
std::int64_t Reader::copies() const { return state_->copies; }

Source Reader::source() const {
  return {.url = state_->url,
          .input = *state_->input,
          .video = *state_->video_stream,
          .first = *state_->first_properties,
          .format = state_->video.format,
          .copied = state_->copied,
          .average_rate = state_->average_rate(),
          .base_rate = state_->base_rate(),
          .sample_aspect_ratio = av_guess_sample_aspect_ratio(state_->input.get(), state_->video_stream,
                                                              state_->first_properties.get()),
          .range = state_->range,
          .skipped_frames = state_->skipped_frames(),
          .time_offset = state_->time_offset,
          .is_pipe = state_->pipe.has_value()};
}

}  // namespace limpid::io
