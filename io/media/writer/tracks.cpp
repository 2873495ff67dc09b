// SPDX-License-Identifier: MIT
#include "io/media/writer/tracks.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

extern "C" {
#include <libavutil/opt.h>
}
extern "C" {
#include <libavutil/mem.h>
}

#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/system.h"
#include "io/media/traits.h"
#include "io/media/writer/losses.h"

namespace limpid::io {
namespace {

std::string libav_url(const std::string& url, const OutputFile* file) {
  const std::string temporary = file == nullptr ? "" : file->temporary();
  return temporary.empty() ? url : "file:" + temporary;
}

/// Adds the encoder's delay, which readers of Matroska subtract and the muxer only stores.
void delay_opus(AVPacket& packet, const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  const std::int64_t delay =
      av_rescale_q(parameters.initial_padding, {1, parameters.sample_rate}, stream.time_base);
  packet.pts += packet.pts == AV_NOPTS_VALUE ? 0 : delay;
  packet.dts += packet.dts == AV_NOPTS_VALUE ? 0 : delay;
}

}  // namespace

void set_increasing_times(AVPacket& packet, std::int64_t& last, bool may_repeat) {
  if (packet.dts == AV_NOPTS_VALUE) {
    packet.dts = packet.pts != AV_NOPTS_VALUE ? packet.pts : last == AV_NOPTS_VALUE ? 0 : last + 1;
  }
  if (last != AV_NOPTS_VALUE) {
    packet.dts = std::max(packet.dts, last + (may_repeat ? 0 : 1));
  }
  if (packet.pts == AV_NOPTS_VALUE || packet.pts < packet.dts) {
    packet.pts = packet.dts;
  }
  last = packet.dts;
}

Muxer::Muxer(std::string url, const AVOutputFormat& container, std::unique_ptr<OutputFile> file)
    : url_(std::move(url)),
      file_(std::move(file)),
      context_(make_muxer(container, libav_url(url_, file_.get()))) {
  if (file_ != nullptr) {
    context_->pb = file_->bytes();
    reserve_space();
  }
}

void Muxer::reserve_space() {
  const std::int64_t reserve = file_->reserve_space();
  if (traits_of(*context_->oformat).is_matroska) {
    // A cluster is written when it is complete. Small ones lose less in a crash, and the last one must fit
    // the space reserved for the end.
    constexpr std::int64_t kMost = 1 << 20;
    constexpr std::int64_t kLeast = 1 << 14;
    const std::int64_t size = reserve == 0 ? kMost : std::clamp(reserve / 4, kLeast, kMost);
    set_option("cluster_size_limit", std::to_string(size), "");
    set_option("cluster_time_limit", "1000", "");
  }
}

AVStream& Muxer::add_video() {
  video_ = static_cast<int>(context_->nb_streams);
  return add_stream(*context_);
}

void Muxer::set_option(const std::string& key, const std::string& value, const std::string& encoder) {
  const int code = av_opt_set(context_.get(), key.c_str(), value.c_str(), AV_OPT_SEARCH_CHILDREN);
  if (code == AVERROR_OPTION_NOT_FOUND) {
    throw UsageError("the encoder " + encoder + " has no option '" + key + "'");
  }
  if (code < 0) {
    throw UsageError(std::string("the container ") + context_->oformat->name + " doesn't take '" + value +
                     "' for its option '" + key + "'");
  }
}

void Muxer::begin() {
  last_dts_.assign(context_->nb_streams, AV_NOPTS_VALUE);
  forget_logged_messages();
  if (const int code = avformat_write_header(context_.get(), nullptr); code < 0) {
    throw Error(url_ + ": can't begin the file as " + context_->oformat->name + ": " + error_text(code) +
                logged_reason());
  }
}

void Muxer::write_video(PacketHandle packet, AVRational time_base) {
  check_written(interleave(std::move(packet), time_base, video_));
}

void Muxer::write(PacketHandle packet, AVRational time_base, int stream) {
  int code = interleave(std::move(packet), time_base, stream);
  if (code == AVERROR_INVALIDDATA) {
    ++damaged_packets_;  // found by a filter that converts between the containers' forms of the codec
    code = 0;
  }
  check_written(code);
}

int Muxer::interleave(PacketHandle packet, AVRational time_base, int stream) {
  const AVStream& target = *context_->streams[stream];
  const AVOutputFormat& container = *context_->oformat;
  av_packet_rescale_ts(packet.get(), time_base, target.time_base);
  if (!kMatroskaAddsDelay && target.codecpar->codec_id == AV_CODEC_ID_OPUS &&
      traits_of(container).is_matroska) {
    delay_opus(*packet, target);
  }
  packet->stream_index = stream;
  packet->pos = -1;
  set_increasing_times(*packet, last_dts_.at(static_cast<std::size_t>(stream)),
                       (container.flags & AVFMT_TS_NONSTRICT) != 0);
  return av_interleaved_write_frame(context_.get(), packet.get());
}

void Muxer::check_written(int code) {
  if (code < 0) {
    check(code, url_, "can't write" + logged_reason());
  }
  count_bytes();
  if (is_full()) {
    throw DiskFull(url_ + ": can't write: " + error_text(AVERROR(file_->full_because())));
  }
}

void Muxer::count_bytes() {
  if (context_->pb != nullptr) {
    bytes_ = std::max<std::int64_t>(bytes_, avio_tell(context_->pb));
  }
}

void Muxer::end(const std::function<Bytes(BytesView)>& edit) {
  check(av_write_trailer(context_.get()), url_, "can't finish the file");
  if (edit && has_temporary()) {
    avio_flush(context_->pb);
    std::ifstream stream(path_of(file_->temporary()), std::ios::binary);
    const Bytes written((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    avio_seek(context_->pb, 0, SEEK_SET);
    write_bytes(*context_->pb, edit(written));
  }
  if (context_->pb != nullptr) {
    avio_flush(context_->pb);
  }
  count_bytes();
  context_->pb = nullptr;
}

void Muxer::commit(const std::function<void(const std::string&)>& when_whole) {
  if (file_ != nullptr) {
    file_->commit(true, when_whole);
  }
  file_.reset();
}

std::string Muxer::commit_partial() {
  const std::unique_ptr<OutputFile> ended = std::move(file_);
  return ended == nullptr ? "" : ended->commit_partial();
}

Audio::Audio(const std::string& url, const AVOutputFormat& container, const WriterOptions& options)
    : transcodes_(options.audio_codec != "copy" && container.audio_codec != AV_CODEC_ID_NONE),
      bitrate_(options.audio_bitrate) {
  if (!options.audio_codec.empty() && options.audio_codec != "copy") {
    codec_ = &find_audio_encoder(options.audio_codec, container, url);
  }
  if (!bitrate_.empty()) {
    check_bit_rate("--audio-bitrate", bitrate_);
    check_audio_bitrate(bitrate_);
  }
}

/// Null if the container cannot store the transcoder's output.
std::unique_ptr<AudioTranscoder> Audio::make_transcoder(const FileKind& file, const AVStream& stream,
                                                        const AVCodec& codec) const {
  AudioEncoding encoding;
  encoding.bitrate = bitrate_;
  encoding.global_header = (file.container.flags & AVFMT_GLOBALHEADER) != 0;
  encoding.counts_samples = traits_of(file.container).counts_samples;
  encoding.sample_rate = traits_of(file.container).audio_rate;
  auto transcoder =
      std::make_unique<AudioTranscoder>(stream, codec, encoding, file.url + ": " + describe_stream(stream));
  return can_hold_stream(file, transcoder->encoder()) ? std::move(transcoder) : nullptr;
}

AudioRoute Audio::route(const FileKind& file, const AVStream& stream) const {
  if (!transcodes_) {
    return {};
  }
  if (codec_ == nullptr) {
    return can_hold_stream(file, stream) ? AudioRoute{} : suitable_route(file, stream);
  }
  AudioRoute route{.transcoder = make_transcoder(file, stream, *codec_), .loss = {}, .refusal = {}};
  if (route.transcoder == nullptr) {
    throw UsageError(file.url + ": the container " + file.container.name +
                     " can't hold what the audio encoder " + codec_->name + " makes");
  }
  if (const std::string& changes = route.transcoder->changes(); !changes.empty()) {
    route.loss = describe_stream(stream) + " becomes " +
                 avcodec_get_name(route.transcoder->encoder().codec_id) + changes;
  }
  return route;
}

AudioRoute Audio::suitable_route(const FileKind& file, const AVStream& stream) const {
  AudioRoute route;
  const int channels = stream.codecpar->ch_layout.nb_channels;
  for (const AVCodec* const codec : suitable_audio_encoders(file.container, channels)) {
    try {
      route.transcoder = make_transcoder(file, stream, *codec);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      route.refusal = std::string(" (") + error.what() + ")";
    }
    if (route.transcoder != nullptr) {
      route.loss = std::string(file.container.name) + " can't hold " + describe_stream(stream) +
                   ": it becomes " + avcodec_get_name(route.transcoder->encoder().codec_id) +
                   route.transcoder->changes();
      break;
    }
  }
  return route;
}

bool is_wanted(const Source& source, const AVStream& stream, Diagnostics& diagnostics) {
  const auto index = static_cast<unsigned>(stream.index);
  if (index < source.of_other_program.size() && source.of_other_program[index]) {
    report_left_out(diagnostics, index,
                    "the source has several programs: " + describe_stream(stream) +
                        " belongs to another one than the video and is left out");
    return false;
  }
  if (!source.copied[index]) {
    if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_cover_art(stream)) {
      report_left_out(diagnostics, index,
                      "only one video stream is filtered: " + describe_stream(stream) + " is left out");
    }
    return false;
  }
  if (stream.codecpar->codec_type == AVMEDIA_TYPE_UNKNOWN) {
    report_left_out(diagnostics, index,
                    "the type of stream #" + std::to_string(stream.index) + " is not known: it is left out");
    return false;
  }
  return true;
}

void report_not_held(const std::string& container, const AVStream& stream, const std::string& reason,
                     Diagnostics& diagnostics) {
  report_left_out(diagnostics, static_cast<unsigned>(stream.index),
                  container + " can't hold " + describe_stream(stream) + ": it is left out" + reason);
}

void Tracks::add(const AVStream& stream, const AVCodecContext& video, Muxer& muxer,
                 Diagnostics& diagnostics) {
  const AVOutputFormat& container = *muxer.context().oformat;
  const FileKind file{container, url_, video};
  const AVCodecParameters& parameters = *stream.codecpar;
  if (attaches_cover(container, stream)) {
    attach_cover(muxer.context(), stream);
    return;
  }
  std::string refusal;
  if (parameters.codec_type == AVMEDIA_TYPE_AUDIO) {
    if (parameters.sample_rate <= 0 || parameters.ch_layout.nb_channels <= 0) {
      report_left_out(diagnostics, static_cast<unsigned>(stream.index),
                      describe_stream(stream) + " has no sample rate or channels: it is left out");
      return;
    }
    AudioRoute route = audio_.route(file, stream);
    refusal = route.refusal;
    if (add_transcoded(stream, std::move(route), muxer, diagnostics)) {
      return;
    }
  }
  if (can_hold_stream(file, stream)) {
    const auto output = static_cast<int>(muxer.context().nb_streams);
    add_copied_stream(muxer.context(), stream);
    tracks_.emplace(stream.index, Track{output, nullptr, nullptr});
  } else if (!add_converted(stream, muxer, diagnostics)) {
    report_not_held(container.name, stream, refusal, diagnostics);
  }
}

bool Tracks::add_transcoded(const AVStream& stream, AudioRoute route, Muxer& muxer,
                            Diagnostics& diagnostics) {
  if (route.transcoder == nullptr) {
    return false;
  }
  const AVCodecContext& encoder = route.transcoder->encoder();
  const auto output = static_cast<int>(muxer.context().nb_streams);
  AVStream& added = add_transcoded_stream(muxer.context(), stream, encoder);
  added.time_base = encoder.time_base;
  set_tag(&added.metadata, "encoder", std::string(LIBAVCODEC_IDENT " ") + encoder.codec->name);
  if (!route.loss.empty()) {
    report_loss(diagnostics, std::move(route.loss));
  }
  tracks_.emplace(stream.index, Track{output, std::move(route.transcoder), nullptr});
  return true;
}

bool Tracks::add_converted(const AVStream& stream, Muxer& muxer, Diagnostics& diagnostics) {
  const AVOutputFormat& container = *muxer.context().oformat;
  std::unique_ptr<SubtitleConverter> converter = SubtitleConverter::make(stream, traits_of(container).text);
  if (converter == nullptr) {
    return false;
  }
  const auto output = static_cast<int>(muxer.context().nb_streams);
  const AVStream& added = add_transcoded_stream(muxer.context(), stream, converter->encoder());
  report_loss(diagnostics, std::string(container.name) + " can't hold " + describe_stream(stream) +
                               ": it becomes " + avcodec_get_name(added.codecpar->codec_id));
  tracks_.emplace(stream.index, Track{output, nullptr, std::move(converter)});
  return true;
}

void Tracks::write(const Packet& packet, Muxer& muxer) {
  const auto found = tracks_.find(packet.stream());
  if (found == tracks_.end()) {
    return;
  }
  const Track& track = found->second;
  if (track.audio != nullptr) {
    track.audio->send(packet.get());
    write_transcoded(track, muxer);
    return;
  }
  PacketHandle written;
  if (track.subtitles != nullptr) {
    written = track.subtitles->convert(packet.get(), packet.time_base(), url_);
  } else {
    written = make_packet();
    check(av_packet_ref(written.get(), &packet.get()), url_, "can't keep a packet");
  }
  if (written != nullptr) {
    muxer.write(std::move(written), packet.time_base(), track.output);
  }
}

void Tracks::flush(Muxer& muxer) {
  for (const auto& [stream, track] : tracks_) {
    if (track.audio != nullptr) {
      track.audio->flush();
      write_transcoded(track, muxer);
    }
  }
}

void Tracks::write_transcoded(const Track& track, Muxer& muxer) {
  while (PacketHandle packet = track.audio->receive()) {
    muxer.write(std::move(packet), track.audio->encoder().time_base, track.output);
  }
}

std::int64_t Tracks::damaged_packets() const {
  std::int64_t count = 0;
  for (const auto& [stream, track] : tracks_) {
    count += track.audio == nullptr ? 0 : track.audio->damaged_packets();
  }
  return count;
}

namespace {

struct Subtitle : NotCopyable {
  ~Subtitle() { avsubtitle_free(&event); }

  AVSubtitle event{};
};

CodecHandle open_decoder(const AVStream& stream) {
  const AVCodec* const codec = avcodec_find_decoder(stream.codecpar->codec_id);
  CodecHandle decoder(codec == nullptr ? nullptr : avcodec_alloc_context3(codec));
  if (decoder == nullptr || avcodec_parameters_to_context(decoder.get(), stream.codecpar) < 0) {
    return nullptr;
  }
  decoder->pkt_timebase = stream.time_base;
  return avcodec_open2(decoder.get(), codec, nullptr) < 0 ? nullptr : std::move(decoder);
}

CodecHandle open_encoder(AVCodecID target, const AVCodecContext& decoder) {
  const AVCodec* const codec = avcodec_find_encoder(target);
  CodecHandle encoder(codec == nullptr ? nullptr : avcodec_alloc_context3(codec));
  if (encoder == nullptr || decoder.subtitle_header == nullptr) {
    return nullptr;
  }
  // The styles, as ASS, the common format of libav's text decoders and encoders.
  const auto size = static_cast<std::size_t>(decoder.subtitle_header_size);
  encoder->subtitle_header = static_cast<std::uint8_t*>(av_mallocz(size + 1));
  if (encoder->subtitle_header == nullptr) {
    throw Error("out of memory");
  }
  std::copy_n(decoder.subtitle_header, size, encoder->subtitle_header);
  encoder->subtitle_header_size = decoder.subtitle_header_size;
  encoder->time_base = {1, 1000};
  return avcodec_open2(encoder.get(), codec, nullptr) < 0 ? nullptr : std::move(encoder);
}

}  // namespace

std::unique_ptr<SubtitleConverter> SubtitleConverter::make(const AVStream& stream, AVCodecID target) {
  const AVCodecDescriptor* const descriptor = avcodec_descriptor_get(stream.codecpar->codec_id);
  if (target == AV_CODEC_ID_NONE || stream.codecpar->codec_type != AVMEDIA_TYPE_SUBTITLE ||
      descriptor == nullptr || (descriptor->props & AV_CODEC_PROP_TEXT_SUB) == 0) {
    return nullptr;
  }
  CodecHandle decoder = open_decoder(stream);
  CodecHandle encoder = decoder == nullptr ? nullptr : open_encoder(target, *decoder);
  return encoder == nullptr ? nullptr
                            : std::unique_ptr<SubtitleConverter>(
                                  new SubtitleConverter(std::move(decoder), std::move(encoder)));
}

PacketHandle SubtitleConverter::convert(const AVPacket& packet, AVRational time_base,
                                        const std::string& subject) {
  const PacketHandle input = make_packet();
  check(av_packet_ref(input.get(), &packet), subject, "can't keep a packet");
  Subtitle subtitle;
  int found = 0;
  // A damaged event is left out, like a damaged frame.
  if (avcodec_decode_subtitle2(decoder_.get(), &subtitle.event, &found, input.get()) < 0 || found == 0 ||
      subtitle.event.num_rects == 0) {
    return nullptr;
  }
  constexpr int kLongest = 1 << 16;
  PacketHandle result = make_packet();
  check(av_new_packet(result.get(), kLongest), subject, "can't convert a subtitle");
  const std::int64_t begin = subtitle.event.start_display_time;
  const std::int64_t shown = std::max<std::int64_t>(av_rescale_q(packet.duration, time_base, {1, 1000}), 0);
  // libavcodec's greatest time represents an unknown one.
  subtitle.event.end_display_time =
      shown < UINT32_MAX - begin ? static_cast<std::uint32_t>(begin + shown) : UINT32_MAX - 1;
  const int size = check(avcodec_encode_subtitle(encoder_.get(), result->data, kLongest, &subtitle.event),
                         subject, "can't convert a subtitle");
  av_shrink_packet(result.get(), size);
  result->pts = packet.pts;
  result->dts = packet.dts;
  result->duration = packet.duration;
  result->flags = AV_PKT_FLAG_KEY;
  return result;
}

}  // namespace limpid::io
