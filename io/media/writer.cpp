#include "io/media/writer.h"

extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/timecode.h>
}

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "io/media/audio_transcoder.h"
#include "io/media/container.h"
#include "io/media/encoder.h"
#include "io/media/memory_file.h"
#include "io/media/orientation.h"
#include "io/media/output_file.h"
#include "io/media/packet.h"
#include "io/media/packet_file.h"
#include "io/media/picture_metadata.h"
#include "io/media/reader_state.h"
#include "io/media/references.h"
#include "io/media/subtitle_converter.h"

namespace limpid::io {
namespace {

/// The container's own name of what it holds, if it has one that can be read.
std::string tag_of(const AVStream& stream) {
  std::string tag;
  for (std::uint32_t left = stream.codecpar->codec_tag; left != 0; left >>= 8) {
    const char letter = static_cast<char>(left & 0xFF);
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) {
      return "";
    }
    tag += letter;
  }
  return tag;
}

std::string describe_stream(const AVStream& stream) {
  const char* const type =
      is_cover_art(stream) ? "cover" : av_get_media_type_string(stream.codecpar->codec_type);
  std::string codec = avcodec_get_name(stream.codecpar->codec_id);
  if (const std::string tag = tag_of(stream); stream.codecpar->codec_id == AV_CODEC_ID_NONE && !tag.empty()) {
    codec = tag;
  }
  return std::string("the ") + (type == nullptr ? "unknown" : type) + " stream #" +
         std::to_string(stream.index) + " (" + codec + ")";
}

/// Tags that describe the source's container or its encoded video, not its content.
bool is_stale(std::string_view key) {
  constexpr std::array<std::string_view, 8> kNames{"major_brand", "minor_version", "compatible_brands",
                                                   "encoder",     "rotate",        "DURATION",
                                                   "BPS",         "_STATISTICS"};
  return key.starts_with("NUMBER_OF_") || key.starts_with("DURATION-") || key.starts_with("BPS-") ||
         key.starts_with("_STATISTICS_") || std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

void copy_metadata(AVDictionary** to, const AVDictionary* from, bool drop_stale) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!drop_stale || !is_stale(entry->key)) {
      check(av_dict_set(to, entry->key, entry->value, 0), entry->key, "can't copy the tag");
    }
  }
}

/// A timecode is that of the first frame: it moves on with a range that begins later.
void advance_timecode(AVDictionary** tags, const Reader::State& source) {
  const AVDictionaryEntry* const entry = av_dict_get(*tags, "timecode", nullptr, 0);
  AVTimecode timecode{};
  if (entry == nullptr || source.skipped_frames() == 0 ||
      av_timecode_init_from_string(&timecode, source.average_rate(), entry->value, nullptr) < 0) {
    return;
  }
  std::array<char, AV_TIMECODE_STR_SIZE> text{};
  av_timecode_make_string(&timecode, text.data(), source.skipped_frames());
  check(av_dict_set(tags, entry->key, text.data(), 0), "timecode", "can't set the tag");
}

bool has_display_matrix(const AVStream& stream, const AVFrame& first) {
  return find_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX) != nullptr ||
         av_frame_get_side_data(&first, AV_FRAME_DATA_DISPLAYMATRIX) != nullptr;
}

MuxerHandle make_muxer(const AVOutputFormat& container, const std::string& url) {
  AVFormatContext* context = nullptr;
  check(avformat_alloc_output_context2(&context, &container, nullptr, url.c_str()), url,
        "can't set up the container");
  MuxerHandle muxer(context);
  // y4m of more than 8 bits, FLAC in mp4 and the like, which newer versions of libav take without a word.
  muxer->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  return muxer;
}

/// Parameters for a stream that is copied: the tag that names the codec is the container's own matter.
void copy_parameters(AVStream& to, const AVStream& from, const AVOutputFormat& container) {
  check(avcodec_parameters_copy(to.codecpar, from.codecpar), "stream", "can't copy its parameters");
  const AVCodecID codec = from.codecpar->codec_id;
  unsigned ignored = 0;
  const bool keep_tag = container.codec_tag == nullptr ||
                        av_codec_get_id(container.codec_tag, from.codecpar->codec_tag) == codec ||
                        av_codec_get_tag2(container.codec_tag, codec, &ignored) == 0;
  if (!keep_tag) {
    to.codecpar->codec_tag = 0;
  }
  to.time_base = from.time_base;
  to.avg_frame_rate = from.avg_frame_rate;
  to.r_frame_rate = from.r_frame_rate;
  to.sample_aspect_ratio = from.sample_aspect_ratio;
  to.duration = from.duration;
  to.disposition = from.disposition;
  copy_metadata(&to.metadata, from.metadata, false);
  for (const AVPacketSideData& data : side_data_of(from)) {
    add_side_data(to, data.type, data.data, data.size);
  }
}

/// libav's table of QuickTime's languages has most by the codes that Matroska uses ("ger"), but French by its
/// other one.
void use_quicktime_language(AVStream& stream) {
  const AVDictionaryEntry* const language = av_dict_get(stream.metadata, "language", nullptr, 0);
  if (language != nullptr && std::string_view(language->value) == "fre") {
    check(av_dict_set(&stream.metadata, "language", "fra", 0), "language", "can't set the tag");
  }
}

AVStream& add_stream(AVFormatContext& muxer) {
  AVStream* const stream = avformat_new_stream(&muxer, nullptr);
  if (stream == nullptr) {
    throw Error("out of memory");
  }
  return *stream;
}

/// Asks the muxer itself, by writing a header with the video and this one stream to memory.
bool takes_stream(const AVOutputFormat& container, const AVCodecContext& encoder, const AVStream& stream) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& video = add_stream(*muxer);
  check(avcodec_parameters_from_context(video.codecpar, &encoder), "stream", "can't copy its parameters");
  video.time_base = encoder.time_base;
  copy_parameters(add_stream(*muxer), stream, container);
  MemoryOutput memory(*muxer);
  return avformat_write_header(muxer.get(), nullptr) >= 0;
}

/// Asks the demuxer what it makes of a file with one short packet of the stream. True also if the muxer looks
/// into packets, and so finds that this isn't one.
bool is_read_again(const AVOutputFormat& container, const AVStream& stream) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& written = add_stream(*muxer);
  copy_parameters(written, stream, container);
  MemoryOutput memory(*muxer);
  const PacketHandle packet = make_packet();
  constexpr int kShort = 8;
  constexpr int kLong = 1 << 16;
  const int size = std::clamp(written.codecpar->block_align, kShort, kLong);
  check(av_new_packet(packet.get(), size), "memory", "can't make a packet");
  std::fill_n(packet->data, size, std::uint8_t{0});
  packet->pts = packet->dts = 0;
  packet->duration = 1;
  packet->flags = AV_PKT_FLAG_KEY;
  int code = avformat_write_header(muxer.get(), nullptr);
  code = code < 0 ? code : av_write_frame(muxer.get(), packet.get());
  code = code < 0 ? code : av_write_trailer(muxer.get());
  if (code < 0) {
    return code != AVERROR_PATCHWELCOME;
  }
  const MemoryInput input(memory.bytes(), container.name);
  if (input.get() == nullptr || input.get()->nb_streams == 0) {
    return true;
  }
  const AVCodecParameters& before = *written.codecpar;
  const AVCodecParameters& after = *input.get()->streams[0]->codecpar;
  const auto is_mpeg = [](AVCodecID codec) {  // whose layers demuxers don't tell apart
    return codec == AV_CODEC_ID_MP1 || codec == AV_CODEC_ID_MP2 || codec == AV_CODEC_ID_MP3;
  };
  if (is_mpeg(before.codec_id)) {
    return is_mpeg(after.codec_id);
  }
  return after.codec_id == before.codec_id &&
         (after.codec_id != AV_CODEC_ID_NONE || after.codec_tag == stream.codecpar->codec_tag);
}

bool can_hold_stream(const AVOutputFormat& container, const std::string& url, const AVCodecContext& encoder,
                     const AVStream& stream) {
  if (container.audio_codec == AV_CODEC_ID_NONE) {
    return false;  // made for video alone
  }
  if (!is_known(container, url, stream)) {
    return false;
  }
  if ((container.flags & AVFMT_NOFILE) != 0) {
    return avformat_query_codec(&container, stream.codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 0;
  }
  // QuickTime's muxer writes what has no name there under one that nobody knows.
  return takes_stream(container, encoder, stream) &&
         (!holds_display_matrix(container) || is_cover_art(stream) || is_read_again(container, stream));
}

/// Those that don't come back from a file in memory with pictures that nobody will see.
std::vector<std::string> lost_tags(const AVOutputFormat& container, const AVDictionary* tags) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& stream = add_stream(*muxer);
  stream.time_base = {1, 25};
  AVCodecParameters& pictures = *stream.codecpar;
  pictures.codec_type = AVMEDIA_TYPE_VIDEO;
  pictures.codec_id = AV_CODEC_ID_MPEG4;
  pictures.width = pictures.height = 16;
  copy_metadata(&muxer->metadata, tags, false);
  MemoryOutput memory(*muxer);
  const PacketHandle packet = make_packet();
  constexpr int kSize = 8;
  check(av_new_packet(packet.get(), kSize), "memory", "can't make a packet");
  std::fill_n(packet->data, kSize, std::uint8_t{0});
  packet->pts = packet->dts = 0;
  packet->flags = AV_PKT_FLAG_KEY;
  if (avformat_write_header(muxer.get(), nullptr) < 0 || av_write_frame(muxer.get(), packet.get()) < 0 ||
      av_write_trailer(muxer.get()) < 0) {
    return {};
  }
  const MemoryInput input(memory.bytes(), container.name);
  std::vector<std::string> lost;
  const AVDictionaryEntry* tag = nullptr;
  while (input.get() != nullptr && (tag = av_dict_get(tags, "", tag, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (av_dict_get(input.get()->metadata, tag->key, nullptr, 0) == nullptr) {
      lost.emplace_back(tag->key);
    }
  }
  return lost;
}

/// Matroska has cover art as an attachment.
void attach_cover(AVFormatContext& muxer, const AVStream& cover) {
  const AVPacket& picture = cover.attached_pic;
  const bool png = cover.codecpar->codec_id == AV_CODEC_ID_PNG;
  AVStream& stream = add_stream(muxer);
  stream.codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT;
  stream.codecpar->codec_id = cover.codecpar->codec_id;
  stream.codecpar->extradata = static_cast<std::uint8_t*>(
      av_mallocz(static_cast<std::size_t>(picture.size) + AV_INPUT_BUFFER_PADDING_SIZE));
  if (stream.codecpar->extradata == nullptr) {
    throw Error("out of memory");
  }
  stream.codecpar->extradata_size = picture.size;
  std::copy_n(picture.data, picture.size, stream.codecpar->extradata);
  copy_metadata(&stream.metadata, cover.metadata, false);
  for (const auto& [key, value] : {std::pair{"filename", png ? "cover.png" : "cover.jpg"},
                                   std::pair{"mimetype", png ? "image/png" : "image/jpeg"}}) {
    check(av_dict_set(&stream.metadata, key, value, AV_DICT_DONT_OVERWRITE), key, "can't set the tag");
  }
}

/// An encoder's option by which what it does depends on all of the frames before, or on another pass.
bool looks_back(const std::pair<std::string, std::string>& option) {
  constexpr std::array<std::string_view, 9> kKeys{
      "b", "maxrate", "minrate", "bufsize", "pass", "nal-hrd", "stats", "rc_init_occupancy", "passlogfile"};
  constexpr std::array<std::string_view, 7> kWords{"pass", "bitrate", "vbv", "hrd", "stats", "abr", "cbr"};
  const std::string& key = option.first;
  const std::string& value = option.second;
  const bool is_list = key.ends_with("-params") || key.ends_with("opts") || key == "flags";
  return std::ranges::find(kKeys, key) != kKeys.end() ||
         (is_list && std::ranges::any_of(kWords, [&](std::string_view word) {
            return value.find(word) != std::string::npos;
          }));
}

}  // namespace

struct Writer::State {
  State(std::string target, const Reader::State& source, const WriterOptions& options);

  void choose_orientation(const Reader::State& source);
  void add_video_stream(const Reader::State& source);
  void add_copied_streams(const Reader::State& source);
  bool add_converted_subtitles(const AVStream& stream);
  void choose_sound(const WriterOptions& options);
  bool add_encoded_sound(const AVStream& stream);
  std::unique_ptr<AudioTranscoder> make_transcoder(const AVStream& stream, const AVCodec& codec) const;
  void copy_chapters(const Reader::State& source);
  void warn_of_losses(const Reader::State& source);
  void add_loss(std::string text) {
    diagnostics.push_back({.kind = Diagnostic::Kind::kLoss, .text = std::move(text)});
  }
  void leave_out(unsigned stream, std::string text) {
    diagnostics.push_back({.kind = Diagnostic::Kind::kLeftOut, .text = std::move(text), .stream = stream});
  }
  void open(const Reader::State& source);
  void keep_tags();
  void set_muxer_option(const std::string& key, const std::string& value);

  PictureMetadata metadata_of(const Frame& frame) const;
  void write(const Frame& frame);
  void write(const Packet& packet);
  void drain_encoder();
  void finish_encoding();
  void finish_sound();
  void write_encoded(PacketHandle packet);
  void write_sound(AudioTranscoder& transcoder, int index);
  void write_beside_video(PacketHandle packet, AVRational time_base, int index);
  void write_picture(const AVPacket& packet);
  void mux(PacketHandle packet);
  void begin_segment(const std::string& path, int most_reordered);
  bool join_frame();
  std::int64_t decoding_time(std::size_t frame) const;
  void end_file();
  void finish();
  std::string finish_partial();
  void embed_metadata();
  bool is_webp() const { return std::string_view(container->name) == "webp"; }
  bool is_full() const { return file != nullptr && file->is_full(); }

  std::string url;
  std::string source_url;
  const AVOutputFormat* container;
  Overwrite overwrite;
  std::string temporary_mark;
  std::function<void(const std::string&)> when_whole;
  std::int64_t frame_limit;  ///< 0: all of the source
  Diagnostics diagnostics;   ///< but for those that the encoder and the transcoders have
  std::string pixel_format_name;
  std::string codec_name;
  std::string container_name;

  Orientation orientation;      ///< to give to the frames; upright if they are stored as they came
  bool keeps_rotation = false;  ///< the pixels are to be shown otherwise than they are stored
  FramePool turned_frames;
  std::int64_t turns = 0;
  std::unique_ptr<Encoder> encoder;
  std::unique_ptr<OutputFile> file;  ///< the next one, of a sequence; none for muxers that open their own
  MuxerHandle muxer;                 ///< none for pictures
  AVStream* video = nullptr;
  std::map<std::size_t, std::unique_ptr<SubtitleConverter>> subtitle_converters;  ///< by the source's index
  std::map<std::size_t, std::unique_ptr<AudioTranscoder>> audio_transcoders;      ///< likewise
  const AVCodec* audio_codec = nullptr;  ///< of all sound, if one is asked for
  bool encodes_sound = true;             ///< that the container can't hold
  std::string audio_bitrate;
  std::string audio_refusal;           ///< why sound could not be encoded
  std::vector<int> output_index;       ///< by the source's stream index; -1 for streams that aren't copied
  std::vector<std::int64_t> last_dts;  ///< by the output's stream index
  std::int64_t damaged_packets = 0;
  std::deque<PictureMetadata> pictures_metadata;  ///< of pictures that are with the encoder
  std::int64_t pictures = 0;
  std::int64_t frames = 0;
  std::int64_t finished_bytes = 0;  ///< of the pictures before this one

  bool counts_source_time = false;  ///< the encoder does
  bool has_rate_control = false;
  std::optional<PacketFileWriter> stretch;     ///< what is written in place of a file
  std::vector<std::int64_t> stretch_times;     ///< its frames', in decoding order
  std::vector<std::int64_t> stretch_decoding;  ///< when they are decoded
  std::optional<PacketFileReader> joined;      ///< the stretch under way
  std::deque<std::int64_t> joined_times;       ///< of the frames from `first_joined` on, in order
  std::size_t first_joined = 0;
  std::size_t joined_frames = 0;              ///< that have been written
  std::size_t reordered = 0;                  ///< frames that decoding is ahead
  std::int64_t last_joined = AV_NOPTS_VALUE;  ///< when the last frame of the stretches so far is shown
  std::int64_t decoding_ahead = 0;            ///< of the first frame, in the encoder's time base
  std::atomic<std::int64_t> bytes = 0;
};

Writer::State::State(std::string target, const Reader::State& source, const WriterOptions& options)
    : url(std::move(target)),
      source_url(source.url),
      container(&choose_container(url, options.container)),
      overwrite(options.overwrite),
      temporary_mark(options.temporary_mark),
      when_whole(options.when_whole),
      frame_limit(options.frames),
      container_name(container->name) {
  if (options.local_only) {
    require_local_target(url, *container);
  }
  choose_sound(options);
  choose_orientation(source);
  EncoderSource description;
  description.format = turned(source.video.format, orientation).value();
  description.chroma_location = turned(source.first_properties->chroma_location, orientation);
  description.properties = source.first_properties.get();
  description.time_base = source.video_stream->time_base;
  if (source.average_rate().num > 0) {
    description.frame_rate = source.average_rate();
    description.base_rate = source.base_rate().num > 0 ? source.base_rate() : source.average_rate();
  }
  description.sample_aspect_ratio =
      av_guess_sample_aspect_ratio(source.input.get(), source.video_stream, source.first_properties.get());
  if (orientation.transposed) {
    std::swap(description.sample_aspect_ratio.num, description.sample_aspect_ratio.den);
  }
  WriterOptions encoder_options = options;
  if (!orientation.is_upright()) {
    encoder_options.memory = kHostMemory;  // pictures are turned in the host's memory
  }
  std::vector<std::string> losses;
  encoder = std::make_unique<Encoder>(url, *container, description, encoder_options, losses);
  std::ranges::for_each(losses, [this](std::string& loss) { add_loss(std::move(loss)); });
  codec_name = encoder->context().codec->name;
  pixel_format_name = name_of(encoder->target_format());
  counts_source_time = av_cmp_q(encoder->context().time_base, source.video_stream->time_base) == 0;
  has_rate_control = !options.bitrate.empty() || std::ranges::any_of(options.encoder_options, looks_back);
  if (options.segment_file.empty()) {
    open(source);
  } else {
    stretch.emplace(options.segment_file, options.segment_temporary, encoder->context());
  }
}

void Writer::State::choose_sound(const WriterOptions& options) {
  encodes_sound = options.audio_codec != "copy" && container->audio_codec != AV_CODEC_ID_NONE;
  if (!options.audio_codec.empty() && options.audio_codec != "copy") {
    audio_codec = &find_audio_encoder(options.audio_codec, *container, url);
  }
  if (!options.audio_bitrate.empty()) {
    check_audio_bitrate(options.audio_bitrate);
    audio_bitrate = options.audio_bitrate;
  }
}

/// A rotation that the container can't hold is given to the picture itself.
void Writer::State::choose_orientation(const Reader::State& source) {
  const AVFrame& first = *source.first_properties;
  const std::optional<Orientation> wanted = orientation_of(*source.video_stream, first);
  const bool is_kept = has_display_matrix(*source.video_stream, first) && holds_display_matrix(*container);
  if (is_kept || (wanted && wanted->is_upright())) {
    return;
  }
  const std::string lost = container_name + " can't hold the source's rotation: ";
  const bool breaks_fields = is_interlaced(first) && wanted && (wanted->transposed || wanted->mirrored_y);
  if (!wanted || breaks_fields || !turned(source.video.format, *wanted)) {
    add_loss(lost + "players will show the picture as it is stored");
    keeps_rotation = true;
    return;
  }
  add_loss(lost + "the picture itself is turned");
  orientation = *wanted;
}

void Writer::State::open(const Reader::State& source) {
  const bool pictures_only = holds_pictures(*container);
  const std::string first = is_sequence(url) && pictures_only ? picture_name(url, 1) : url;
  if (pictures_only || (container->flags & AVFMT_NOFILE) == 0) {
    file = std::make_unique<OutputFile>(first, source_url, overwrite, temporary_mark);
  }
  if (!pictures_only) {
    const std::string temporary = file == nullptr ? "" : file->temporary();
    muxer = make_muxer(*container, temporary.empty() ? url : "file:" + temporary);
    muxer->pb = file == nullptr ? nullptr : file->bytes();
    copy_metadata(&muxer->metadata, source.input->metadata, true);
    advance_timecode(&muxer->metadata, source);
    keep_tags();
  }
  if (muxer != nullptr && file != nullptr) {
    const std::int64_t reserve = file->reserve_space();
    if (is_matroska(*container)) {
      // A cluster is written when it is whole. Small ones lose less to a crash, and the last one is to fit
      // what is kept free for the end.
      constexpr std::int64_t kMost = 1 << 20;
      constexpr std::int64_t kLeast = 1 << 14;
      const std::int64_t size = reserve == 0 ? kMost : std::clamp(reserve / 4, kLeast, kMost);
      set_muxer_option("cluster_size_limit", std::to_string(size));
      set_muxer_option("cluster_time_limit", "1000");
    }
  }
  for (const auto& [key, value] : encoder->muxer_options()) {
    set_muxer_option(key, value);
  }
  output_index.assign(source.copied.size(), -1);
  if (muxer == nullptr) {
    add_copied_streams(source);  // only to say that they are left out
    warn_of_losses(source);
    return;
  }
  add_copied_streams(source);
  copy_chapters(source);
  warn_of_losses(source);
  last_dts.assign(muxer->nb_streams, AV_NOPTS_VALUE);
  forget_logged_messages();
  if (const int code = avformat_write_header(muxer.get(), nullptr); code < 0) {
    throw Error(url + ": can't begin the file as " + container_name + ": " + error_text(code) +
                logged_reason());
  }
}

/// QuickTime's files have a fixed list of tags, in the form that all players read, or any tags in another
/// form. That is taken for what phones write: place, device, time with its zone.
void Writer::State::keep_tags() {
  const bool is_asked_for = std::ranges::any_of(encoder->muxer_options(), [](const auto& option) {
    return option.first == "movflags" && option.second.find("use_metadata_tags") != std::string::npos;
  });
  if (!holds_display_matrix(*container) || muxer->metadata == nullptr || is_asked_for) {
    return;
  }
  std::vector<std::string> lost = lost_tags(*container, muxer->metadata);
  if (std::ranges::any_of(lost, [](const std::string& tag) { return tag.starts_with("com."); })) {
    av_opt_set(muxer.get(), "movflags", "+use_metadata_tags", AV_OPT_SEARCH_CHILDREN);
    return;
  }
  // What libav tells of its muxers is no loss, and a timecode gets a track of its own.
  std::erase_if(lost, [](const std::string& tag) {
    return av_strcasecmp(tag.c_str(), "encoder") == 0 || av_strcasecmp(tag.c_str(), "timecode") == 0;
  });
  if (!lost.empty()) {
    std::string names;
    for (const std::string& tag : lost) {
      names += (names.empty() ? "" : ", ") + tag;
    }
    add_loss(container_name + " can't hold the source's tags " + names +
             " beside those that all players read (-e movflags=use_metadata_tags keeps all)");
  }
}

/// For options that the encoder doesn't know.
void Writer::State::set_muxer_option(const std::string& key, const std::string& value) {
  const int code = muxer == nullptr
                       ? AVERROR_OPTION_NOT_FOUND
                       : av_opt_set(muxer.get(), key.c_str(), value.c_str(), AV_OPT_SEARCH_CHILDREN);
  if (code == AVERROR_OPTION_NOT_FOUND) {
    throw UsageError("the encoder " + codec_name + " has no option '" + key + "'");
  }
  if (code < 0) {
    throw UsageError("the container " + container_name + " doesn't take '" + value + "' for its option '" +
                     key + "'");
  }
}

void Writer::State::add_video_stream(const Reader::State& source) {
  const AVCodecContext& context = encoder->context();
  const AVStream& original = *source.video_stream;
  video = &add_stream(*muxer);
  check(avcodec_parameters_from_context(video->codecpar, &context), url, "can't set up the video stream");
  if (context.codec_id == AV_CODEC_ID_HEVC && holds_display_matrix(*container)) {
    video->codecpar->codec_tag = MKTAG('h', 'v', 'c', '1');  // the only one that Apple's players know
  }
  video->time_base = context.time_base;
  if (source.average_rate().num > 0) {
    video->avg_frame_rate = context.framerate;
    video->r_frame_rate = context.framerate;
  }
  video->sample_aspect_ratio = context.sample_aspect_ratio;
  video->disposition = original.disposition;
  copy_metadata(&video->metadata, original.metadata, true);
  advance_timecode(&video->metadata, source);
  av_dict_set(&video->metadata, "encoder", (std::string(LIBAVCODEC_IDENT " ") + codec_name).c_str(), 0);

  for (int i = 0; i < context.nb_coded_side_data; ++i) {
    const AVPacketSideData& data = context.coded_side_data[i];
    add_side_data(*video, data.type, data.data, data.size);
  }
  for (const AVPacketSideDataType type :
       {AV_PKT_DATA_DISPLAYMATRIX, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_CONTENT_LIGHT_LEVEL,
        AV_PKT_DATA_SPHERICAL, AV_PKT_DATA_STEREO3D}) {
    const bool applied = type == AV_PKT_DATA_DISPLAYMATRIX && !orientation.is_upright();
    const AVPacketSideData* const data = find_side_data(original, type);
    if (data != nullptr && !applied) {
      add_side_data(*video, type, data->data, data->size);
    }
  }
  constexpr std::array<std::pair<AVFrameSideDataType, AVPacketSideDataType>, 4> kFromFrames{
      {{AV_FRAME_DATA_DISPLAYMATRIX, AV_PKT_DATA_DISPLAYMATRIX},
       {AV_FRAME_DATA_STEREO3D, AV_PKT_DATA_STEREO3D},
       {AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_PKT_DATA_MASTERING_DISPLAY_METADATA},
       {AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_CONTENT_LIGHT_LEVEL}}};
  for (const auto& [from, to] : kFromFrames) {
    const bool applied = to == AV_PKT_DATA_DISPLAYMATRIX && !orientation.is_upright();
    const AVFrameSideData* const data = av_frame_get_side_data(source.first_properties.get(), from);
    const bool is_held = from != AV_FRAME_DATA_STEREO3D || holds_stereo(*container);
    if (data != nullptr && !applied && is_held) {
      add_side_data(*video, to, data->data, data->size);
    }
  }
}

void Writer::State::add_copied_streams(const Reader::State& source) {
  for (unsigned i = 0; i < source.copied.size(); ++i) {
    const AVStream& stream = *source.input->streams[i];
    if (&stream == source.video_stream) {
      if (muxer != nullptr) {
        output_index[i] = static_cast<int>(muxer->nb_streams);
        add_video_stream(source);
      }
    } else if (!source.copied[i]) {
      if (stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_cover_art(stream)) {
        leave_out(i, "only one video stream is filtered: " + describe_stream(stream) + " is left out");
      }
    } else if (muxer != nullptr && attaches_cover(*container, stream)) {
      attach_cover(*muxer, stream);
    } else if (stream.codecpar->codec_type == AVMEDIA_TYPE_UNKNOWN) {
      leave_out(i,
                "what is in the stream #" + std::to_string(stream.index) + " is not known: it is left out");
    } else if (muxer != nullptr && stream.codecpar->codec_type == AVMEDIA_TYPE_AUDIO &&
               (stream.codecpar->sample_rate <= 0 || stream.codecpar->ch_layout.nb_channels <= 0)) {
      leave_out(i, "no sound is found in " + describe_stream(stream) + ": it is left out");
    } else if (add_encoded_sound(stream)) {
      continue;
    } else if (muxer == nullptr || !can_hold_stream(*container, url, encoder->context(), stream)) {
      if (muxer != nullptr && add_converted_subtitles(stream)) {
        continue;
      }
      leave_out(i, container_name + " can't hold " + describe_stream(stream) + ": it is left out" +
                       std::exchange(audio_refusal, ""));
    } else {
      output_index[i] = static_cast<int>(muxer->nb_streams);
      AVStream& copy = add_stream(*muxer);
      copy_parameters(copy, stream, *container);
      if (std::string_view(container->name) == "mov") {
        use_quicktime_language(copy);
      }
    }
  }
}

std::unique_ptr<AudioTranscoder> Writer::State::make_transcoder(const AVStream& stream,
                                                                const AVCodec& codec) const {
  AudioEncoding encoding;
  encoding.bitrate = audio_bitrate;
  encoding.global_header = (container->flags & AVFMT_GLOBALHEADER) != 0;
  encoding.counts_samples = counts_samples(*container);
  if (std::string_view(container->name).starts_with("mxf")) {
    encoding.sample_rate = 48000;
  }
  auto transcoder =
      std::make_unique<AudioTranscoder>(stream, codec, encoding, url + ": " + describe_stream(stream));
  // A stream as it would be, to ask the container.
  const MuxerHandle scratch = make_muxer(*container, "memory");
  AVStream& encoded = add_stream(*scratch);
  check(avcodec_parameters_from_context(encoded.codecpar, &transcoder->encoder()), url,
        "can't set up the sound");
  encoded.time_base = transcoder->encoder().time_base;
  return can_hold_stream(*container, url, encoder->context(), encoded) ? std::move(transcoder) : nullptr;
}

/// False for what isn't sound, and sound that is copied or can't be encoded.
bool Writer::State::add_encoded_sound(const AVStream& stream) {
  const AVCodecParameters& parameters = *stream.codecpar;
  if (muxer == nullptr || !encodes_sound || parameters.codec_type != AVMEDIA_TYPE_AUDIO) {
    return false;
  }
  std::unique_ptr<AudioTranscoder> transcoder;
  if (audio_codec != nullptr) {
    transcoder = make_transcoder(stream, *audio_codec);
    if (transcoder == nullptr) {
      throw UsageError(url + ": the container " + container_name + " can't hold what the audio encoder " +
                       audio_codec->name + " makes");
    }
  } else if (!can_hold_stream(*container, url, encoder->context(), stream)) {
    for (const AVCodec* const codec : suitable_audio_encoders(*container, parameters.ch_layout.nb_channels)) {
      try {
        transcoder = make_transcoder(stream, *codec);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        audio_refusal = std::string(" (") + error.what() + ")";
      }
      if (transcoder != nullptr) {
        break;
      }
    }
  }
  if (transcoder == nullptr) {
    return false;
  }
  audio_refusal.clear();
  const auto index = static_cast<std::size_t>(stream.index);
  output_index[index] = static_cast<int>(muxer->nb_streams);
  AVStream& encoded = add_stream(*muxer);
  copy_parameters(encoded, stream, *container);
  const AVCodecContext& context = transcoder->encoder();
  check(avcodec_parameters_from_context(encoded.codecpar, &context), url, "can't set up the sound");
  encoded.time_base = context.time_base;
  av_dict_set(&encoded.metadata, "encoder", (std::string(LIBAVCODEC_IDENT " ") + context.codec->name).c_str(),
              0);
  if (std::string_view(container->name) == "mov") {
    use_quicktime_language(encoded);
  }
  const std::string becomes = avcodec_get_name(context.codec_id) + transcoder->changes();
  if (audio_codec == nullptr) {
    add_loss(container_name + " can't hold " + describe_stream(stream) + ": it becomes " + becomes);
  } else if (!transcoder->changes().empty()) {
    add_loss(describe_stream(stream) + " becomes " + becomes);
  }
  audio_transcoders[index] = std::move(transcoder);
  return true;
}

bool Writer::State::add_converted_subtitles(const AVStream& stream) {
  std::unique_ptr<SubtitleConverter> converter =
      SubtitleConverter::make(stream, text_subtitle_codec(*container));
  if (converter == nullptr) {
    return false;
  }
  const auto index = static_cast<std::size_t>(stream.index);
  output_index[index] = static_cast<int>(muxer->nb_streams);
  AVStream& converted = add_stream(*muxer);
  copy_parameters(converted, stream, *container);
  check(avcodec_parameters_from_context(converted.codecpar, &converter->encoder()), url,
        "can't set up the subtitles");
  if (std::string_view(container->name) == "mov") {
    use_quicktime_language(converted);
  }
  add_loss(container_name + " can't hold " + describe_stream(stream) + ": it becomes " +
           avcodec_get_name(converted.codecpar->codec_id));
  subtitle_converters[index] = std::move(converter);
  return true;
}

void Writer::State::copy_chapters(const Reader::State& source) {
  const AVFormatContext& input = *source.input;
  if (input.nb_chapters == 0) {
    return;
  }
  // Freed by libav together with the muxer, hence its own allocator.
  muxer->chapters = static_cast<AVChapter**>(av_calloc(input.nb_chapters, sizeof(AVChapter*)));
  if (muxer->chapters == nullptr) {
    throw Error("out of memory");
  }
  const AVRational rate = source.average_rate();
  const std::int64_t begin =
      source.range.has_begin() || source.first_properties->pts == AV_NOPTS_VALUE
          ? 0
          : av_rescale_q(source.first_properties->pts, source.video_stream->time_base, {1, AV_TIME_BASE});
  for (unsigned i = 0; i < input.nb_chapters; ++i) {
    const AVChapter& from = *input.chapters[i];
    const std::int64_t offset = av_rescale_q(source.time_offset, {1, AV_TIME_BASE}, from.time_base);
    std::int64_t start = from.start + offset;
    std::int64_t end = from.end + offset;
    if (!source.range.clip(start, end, from.time_base) &&
        (source.range.has_begin() || source.range.has_end())) {
      continue;
    }
    if (frame_limit > 0 && rate.num > 0) {
      end = std::min(end, av_rescale_q(begin, {1, AV_TIME_BASE}, from.time_base) +
                              av_rescale_q(frame_limit, av_inv_q(rate), from.time_base));
      if (start >= end) {
        continue;
      }
    }
    auto* const to = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    if (to == nullptr) {
      throw Error("out of memory");
    }
    muxer->chapters[muxer->nb_chapters++] = to;
    to->id = from.id;
    to->time_base = from.time_base;
    to->start = std::max<std::int64_t>(start, 0);
    to->end = std::max(end, to->start);
    copy_metadata(&to->metadata, from.metadata, false);
  }
}

void Writer::State::warn_of_losses(const Reader::State& source) {
  const AVFrame& first = *source.first_properties;
  if (source.input->nb_chapters > 0 && !holds_chapters(*container)) {
    add_loss(container_name + " can't hold the source's chapters");
  }
  const AVDictionaryEntry* timecode = av_dict_get(source.video_stream->metadata, "timecode", nullptr, 0);
  if (timecode == nullptr) {
    timecode = av_dict_get(source.input->metadata, "timecode", nullptr, 0);
  }
  if (timecode != nullptr && !holds_timecode(*container)) {
    add_loss(container_name + " can't hold the source's timecode (" + timecode->value + ")");
  }
  const auto has = [&](AVFrameSideDataType type) { return av_frame_get_side_data(&first, type) != nullptr; };
  if (has_dynamic_hdr(first) || find_side_data(*source.video_stream, AV_PKT_DATA_DOVI_CONF) != nullptr) {
    add_loss("the source's dynamic HDR metadata (HDR10+ or Dolby Vision) is not kept");
  }
  const AVCodecID codec = encoder->context().codec_id;
  // These write what each frame tells; what the container alone tells, they don't see.
  const bool encodes_stereo =
      has(AV_FRAME_DATA_STEREO3D) && (codec_name == "libx264" || codec_name == "mpeg2video");
  const bool told_by_container = find_side_data(*source.video_stream, AV_PKT_DATA_STEREO3D) != nullptr;
  const bool is_stereo_kept =
      encodes_stereo || holds_stereo(*container) || (told_by_container && is_matroska(*container));
  if ((has(AV_FRAME_DATA_STEREO3D) || told_by_container) && !is_stereo_kept) {
    add_loss("how the source's pictures for two eyes are packed (3D) is not kept: " + container_name +
             " with " + codec_name + " can't tell it");
  }
  const bool holds_profile = holds_metadata(codec) || codec == AV_CODEC_ID_JPEGXL;
  const bool is_file =
      holds_pictures(*container) || (is_webp() && file != nullptr && !file->temporary().empty());
  const std::string of = is_file ? codec_name : container_name;
  const PictureMetadata& metadata = kept_metadata(first);
  if (!metadata.exif.empty() && !(is_file && holds_exif(codec, metadata.exif))) {
    add_loss("the source's EXIF data (camera, time, place, rights) is not kept: " + of + " can't hold it");
  } else if (codec == AV_CODEC_ID_TIFF && has_maker_note(metadata.exif)) {
    add_loss("the source's maker's note (in EXIF) is not kept: " + of + " can't hold it");
  }
  if (!metadata.xmp.empty() && !(is_file && holds_xmp(codec, metadata.xmp))) {
    add_loss("the source's XMP data (rights, rating, keywords) is not kept: " + of + " can't hold it");
  }
  for (const std::string& other : metadata.others) {
    add_loss("the source's " + other + " is not kept");
  }
  if (has(AV_FRAME_DATA_ICC_PROFILE) && !(is_file && holds_profile)) {
    add_loss("the source's color profile (ICC) is not kept: " + of + " can't hold it");
  } else if (has(AV_FRAME_DATA_ICC_PROFILE) && !encoder->keeps_profile()) {
    add_loss("the source's color profile (ICC) is not kept: it isn't for " + pixel_format_name);
  }
}

/// What is written beside the pixels of a frame whose picture is a file of its own.
PictureMetadata Writer::State::metadata_of(const Frame& frame) const {
  const auto* const properties = static_cast<const AVFrame*>(frame.attachment.get());
  PictureMetadata metadata;
  if (properties == nullptr || !holds_metadata(encoder->context().codec_id)) {
    return metadata;
  }
  const PictureMetadata& source = kept_metadata(*properties);
  metadata.exif =
      updated_exif(source.exif, encoder->context().width, encoder->context().height, !keeps_rotation);
  metadata.xmp = updated_xmp(source.xmp, !keeps_rotation);
  const AVFrameSideData* const profile = av_frame_get_side_data(properties, AV_FRAME_DATA_ICC_PROFILE);
  if (profile != nullptr && encoder->keeps_profile()) {
    metadata.profile.assign(profile->data, profile->data + profile->size);
  }
  return metadata;
}

void Writer::State::write(const Frame& frame) {
  if (holds_pictures(*container) || (is_webp() && pictures_metadata.empty())) {
    pictures_metadata.push_back(metadata_of(frame));
  }
  if (orientation.is_upright()) {
    encoder->send(frame);
  } else {
    encoder->send(turned(frame, orientation, turned_frames));
    ++turns;
  }
  drain_encoder();
}

void Writer::State::write(const Packet& packet) {
  const int index = output_index.at(static_cast<std::size_t>(packet.stream()));
  if (index < 0) {
    return;
  }
  const auto source = static_cast<std::size_t>(packet.stream());
  if (const auto found = audio_transcoders.find(source); found != audio_transcoders.end()) {
    found->second->send(packet.get());
    write_sound(*found->second, index);
    return;
  }
  PacketHandle copy;
  if (const auto found = subtitle_converters.find(source); found != subtitle_converters.end()) {
    copy = found->second->convert(packet.get(), packet.time_base(), url);
    if (copy == nullptr) {
      return;
    }
  } else {
    copy = make_packet();
    check(av_packet_ref(copy.get(), &packet.get()), url, "can't keep a packet");
  }
  write_beside_video(std::move(copy), packet.time_base(), index);
}

void Writer::State::write_sound(AudioTranscoder& transcoder, int index) {
  while (PacketHandle packet = transcoder.receive()) {
    write_beside_video(std::move(packet), transcoder.encoder().time_base, index);
  }
}

void Writer::State::write_beside_video(PacketHandle packet, AVRational time_base, int index) {
  const AVStream& stream = *muxer->streams[index];
  av_packet_rescale_ts(packet.get(), time_base, stream.time_base);
  const AVCodecParameters& parameters = *stream.codecpar;
  if (!kMatroskaAddsDelay && parameters.codec_id == AV_CODEC_ID_OPUS && is_matroska(*container)) {
    const std::int64_t delay =
        av_rescale_q(parameters.initial_padding, {1, parameters.sample_rate}, stream.time_base);
    packet->pts += packet->pts == AV_NOPTS_VALUE ? 0 : delay;
    packet->dts += packet->dts == AV_NOPTS_VALUE ? 0 : delay;
  }
  packet->stream_index = index;
  packet->pos = -1;
  mux(std::move(packet));
}

void Writer::State::drain_encoder() {
  while (PacketHandle packet = encoder->receive()) {
    write_encoded(std::move(packet));
  }
}

/// Joined segments come from other encoders: this one has got no frame.
void Writer::State::finish_encoding() {
  if (last_joined == AV_NOPTS_VALUE) {
    encoder->flush();
    drain_encoder();
  }
}

void Writer::State::finish_sound() {
  for (const auto& [stream, transcoder] : audio_transcoders) {
    transcoder->flush();
    write_sound(*transcoder, output_index[stream]);
  }
}

void Writer::State::write_encoded(PacketHandle packet) {
  ++frames;
  if (stretch) {
    stretch_times.push_back(packet->pts);
    stretch_decoding.push_back(packet->dts);
    stretch->write(*packet);
    bytes = stretch->bytes();
    return;
  }
  if (muxer == nullptr) {
    write_picture(*packet);
    return;
  }
  av_packet_rescale_ts(packet.get(), encoder->context().time_base, video->time_base);
  packet->stream_index = video->index;
  mux(std::move(packet));
}

void Writer::State::write_picture(const AVPacket& packet) {
  ++pictures;
  if (!is_sequence(url)) {
    if (pictures > 1) {
      throw Error(url + ": holds one picture only; name a sequence such as picture_%04d.png");
    }
  } else if (file == nullptr) {
    file = std::make_unique<OutputFile>(picture_name(url, pictures), source_url, overwrite);
  }
  const Bytes encoded =
      with_metadata(encoder->context().codec_id, {packet.data, static_cast<std::size_t>(packet.size)},
                    pictures_metadata.front());
  pictures_metadata.pop_front();
  write_bytes(*file->bytes(), encoded);
  bytes += std::ssize(encoded);
  if (is_sequence(url)) {
    std::exchange(file, nullptr)->commit(false);  // all are synchronised in the end
  }
}

/// Takes the place of the source's irregular times by what muxers insist on: each stream's decoding times
/// known and increasing.
void Writer::State::mux(PacketHandle packet) {
  std::int64_t& last = last_dts[packet->stream_index];
  if (packet->dts == AV_NOPTS_VALUE) {
    packet->dts = packet->pts != AV_NOPTS_VALUE ? packet->pts : last == AV_NOPTS_VALUE ? 0 : last + 1;
  }
  const bool may_repeat = (container->flags & AVFMT_TS_NONSTRICT) != 0;
  if (last != AV_NOPTS_VALUE && packet->dts < last + (may_repeat ? 0 : 1)) {
    packet->dts = last + (may_repeat ? 0 : 1);
  }
  if (packet->pts == AV_NOPTS_VALUE || packet->pts < packet->dts) {
    packet->pts = packet->dts;
  }
  last = packet->dts;
  const bool is_copied = packet->stream_index != video->index;
  const int code = av_interleaved_write_frame(muxer.get(), packet.get());
  if (code == AVERROR_INVALIDDATA && is_copied) {
    ++damaged_packets;  // a filter between the containers' forms of the codec has found it so
  } else {
    check(code, url, "can't write" + logged_reason());
  }
  if (muxer->pb != nullptr) {
    bytes = std::max<std::int64_t>(bytes, avio_tell(muxer->pb));
  }
  if (is_full()) {
    throw DiskFull(url + ": can't write: " + error_text(AVERROR(file->full_because())));
  }
}

void Writer::State::begin_segment(const std::string& path, int most_reordered) {
  joined.emplace(path);
  if (joined->parameters() != parameters_text(encoder->context()) ||
      joined->extradata() != extradata_of(encoder->context())) {
    throw Error(url + ": can't take " + path + ", which was encoded with other parameters");
  }
  const std::vector<PacketFileReader::Entry> entries = joined->entries();
  std::vector<std::int64_t> times;
  std::ranges::transform(entries, std::back_inserter(times), &PacketFileReader::Entry::pts);
  std::ranges::sort(times);
  const bool is_closed = !entries.empty() && entries.front().key && entries.front().pts == times.front() &&
                         (last_joined == AV_NOPTS_VALUE || times.front() > last_joined);
  if (!is_closed) {
    throw Error(url + ": can't take " + path + ", which doesn't begin with a frame that stands for itself");
  }
  last_joined = times.back();
  reordered = static_cast<std::size_t>(most_reordered);
  if (joined_frames == 0) {
    const AVCodecContext& context = encoder->context();
    const std::int64_t frame = std::max<std::int64_t>(
        1, context.framerate.num > 0 ? av_rescale_q(1, av_inv_q(context.framerate), context.time_base) : 1);
    decoding_ahead = reordered < times.size() ? times[reordered] - times.front()
                                              : static_cast<std::int64_t>(reordered) * frame;
  }
  joined_times.insert(joined_times.end(), times.begin(), times.end());
}

/// As encoders do: frames are decoded in the rhythm in which they are shown, the first ones a little earlier.
std::int64_t Writer::State::decoding_time(std::size_t frame) const {
  return frame < reordered ? joined_times.at(frame - first_joined) - decoding_ahead
                           : joined_times.at(frame - reordered - first_joined);
}

bool Writer::State::join_frame() {
  PacketHandle packet = joined->read();
  if (packet == nullptr) {
    joined.reset();
    return false;
  }
  if (joined_frames - first_joined >= joined_times.size()) {
    throw Error(url + ": a segment's file has changed while it was read");
  }
  packet->dts = decoding_time(joined_frames++);
  if (joined_frames > reordered) {
    joined_times.pop_front();
    ++first_joined;
  }
  write_encoded(std::move(packet));
  return true;
}

/// libav's muxer of WebP writes one picture or an animation, whose file is read again for that.
void Writer::State::embed_metadata() {
  if (!is_webp() || pictures_metadata.empty() || file == nullptr || file->temporary().empty()) {
    return;
  }
  avio_flush(muxer->pb);
  std::ifstream stream(file->temporary(), std::ios::binary);
  const Bytes written((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const Bytes whole = with_metadata(AV_CODEC_ID_WEBP, written, pictures_metadata.front());
  avio_seek(muxer->pb, 0, SEEK_SET);
  write_bytes(*muxer->pb, whole);
}

/// Leaves a file that only lacks its name.
void Writer::State::end_file() {
  check(av_write_trailer(muxer.get()), url, "can't finish the file");
  embed_metadata();
  if (muxer->pb != nullptr) {
    avio_flush(muxer->pb);
    bytes = std::max<std::int64_t>(bytes, avio_tell(muxer->pb));
  }
  muxer->pb = nullptr;
}

void Writer::State::finish() {
  finish_encoding();
  if (stretch) {
    stretch->finish();
    bytes = stretch->bytes();
    return;
  }
  finish_sound();
  if (muxer != nullptr) {
    end_file();
  } else if (is_sequence(url) && pictures > 0) {
    sync_file_system(std::filesystem::path(picture_name(url, 1)).parent_path());
  }
  if (file != nullptr && (muxer != nullptr || pictures > 0)) {
    file->commit(true, when_whole);
  }
  file.reset();
}

std::string Writer::State::finish_partial() {
  if (muxer == nullptr) {
    finish();
    return url;
  }
  if (!is_full()) {
    try {
      finish_encoding();
      finish_sound();
    } catch (const DiskFull&) {
      // What has been written until now is worth having.
    }
  }
  end_file();
  const std::unique_ptr<OutputFile> ended = std::move(file);
  return ended == nullptr ? url : ended->commit_partial();
}

Writer::Writer(const std::string& url, const Reader& source, const WriterOptions& options)
    : state_(std::make_unique<State>(local_name(url), *source.state_, options)) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Diagnostics Writer::diagnostics() const {
  Diagnostics all = state_->diagnostics;
  for (const std::string& loss : state_->encoder->late_warnings()) {
    all.push_back({.kind = Diagnostic::Kind::kLateLoss, .text = loss});
  }
  std::int64_t damaged_packets = state_->damaged_packets;
  for (const auto& [stream, transcoder] : state_->audio_transcoders) {
    damaged_packets += transcoder->damaged_packets();
  }
  if (damaged_packets > 0) {
    all.push_back({.kind = Diagnostic::Kind::kDamagedPackets, .text = {}, .count = damaged_packets});
  }
  return all;
}

std::function<Frame()> Writer::cuda_frames() const {
  const std::shared_ptr<const CudaFramePool> frames = state_->encoder->cuda_frames();
  return frames == nullptr ? std::function<Frame()>() : [frames] { return frames->take(); };
}

void Writer::write(const Frame& frame) { state_->write(frame); }

void Writer::write(const Packet& packet) { state_->write(packet); }
void Writer::finish() { state_->finish(); }
std::string Writer::finish_partial() { return state_->finish_partial(); }

bool Writer::joins_segments() const {
  const AVCodecContext& context = state_->encoder->context();
  const AVCodecDescriptor* const codec = avcodec_descriptor_get(context.codec_id);
  const bool is_known = state_->codec_name == "libx264" || state_->codec_name == "libx265" ||
                        state_->codec_name == "ffv1" ||
                        (codec != nullptr && (codec->props & AV_CODEC_PROP_INTRA_ONLY) != 0);
  return is_known && state_->counts_source_time && !state_->has_rate_control &&
         !holds_pictures(*state_->container) && !state_->is_webp();
}

/// The first frame is decoded so many frames before it is shown; of short stretches, at least as many as the
/// order needs.
int Writer::reordering() const {
  const std::vector<std::int64_t>& shown = state_->stretch_times;
  std::vector<std::int64_t> times = shown;
  std::ranges::sort(times);
  std::ptrdiff_t most = 0;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto rank = std::ranges::lower_bound(times, shown[i]) - times.begin();
    most = std::max(most, static_cast<std::ptrdiff_t>(i) - rank);
    const bool is_begin = state_->stretch_decoding[i] == times.front();
    most = is_begin ? std::max(most, static_cast<std::ptrdiff_t>(i)) : most;
  }
  return static_cast<int>(most);
}

void Writer::begin_segment(const std::string& file, int reordering) {
  state_->begin_segment(file, reordering);
}
bool Writer::join_frame() { return state_->join_frame(); }

std::int64_t Writer::frames_written() const { return state_->frames; }
std::int64_t Writer::bytes_written() const { return state_->bytes; }
std::int64_t Writer::copies() const { return state_->turns + state_->encoder->copies(); }
const std::string& Writer::codec() const { return state_->codec_name; }
const std::string& Writer::pixel_format() const { return state_->pixel_format_name; }
const std::string& Writer::container() const { return state_->container_name; }

}  // namespace limpid::io
