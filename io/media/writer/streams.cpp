// SPDX-License-Identifier: MIT
#include "io/media/writer/streams.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <optional>
#include <string_view>

extern "C" {
#include <libavutil/mem.h>
}
extern "C" {
#include <libavutil/avstring.h>
#include <libavutil/opt.h>
#include <libavutil/timecode.h>
}

#include "core/base/error.h"
#include "io/media/traits.h"

namespace limpid::io {
namespace {

constexpr int kBufferSize = 1 << 14;

}  // namespace

MemoryOutput::MemoryOutput(AVFormatContext& muxer) : muxer_(muxer) {
  check(avio_open_dyn_buf(&muxer_.pb), "memory", "can't write to it");
}

MemoryOutput::~MemoryOutput() {
  close();
  av_free(bytes_);
}

void MemoryOutput::close() {
  if (muxer_.pb != nullptr) {
    size_ = avio_close_dyn_buf(muxer_.pb, &bytes_);
    muxer_.pb = nullptr;
  }
}

std::span<const std::uint8_t> MemoryOutput::bytes() {
  close();
  return {bytes_, static_cast<std::size_t>(std::max(size_, 0))};
}

void MemoryInput::ReaderDeleter::operator()(AVIOContext* context) const {
  av_freep(&context->buffer);
  avio_context_free(&context);
}

MemoryInput::MemoryInput(std::span<const std::uint8_t> bytes, const char* muxer)
    : bytes_(bytes),
      reader_(avio_alloc_context(
          make_io_buffer(kBufferSize), kBufferSize, 0, this,
          [](void* self, std::uint8_t* buffer, int size) {
            return static_cast<MemoryInput*>(self)->read(buffer, size);
          },
          nullptr,
          [](void* self, std::int64_t offset, int whence) {
            return static_cast<MemoryInput*>(self)->seek(offset, whence);
          })) {
  AVFormatContext* context = avformat_alloc_context();
  if (reader_ == nullptr || context == nullptr) {
    avformat_free_context(context);
    throw Error("out of memory");
  }
  context->pb = reader_.get();
  // On failure libav frees the context.
  if (avformat_open_input(&context, "memory", av_find_input_format(muxer), nullptr) >= 0) {
    input_.reset(context);
  }
}

int MemoryInput::read(std::uint8_t* buffer, int size) {
  const std::size_t count = std::min(static_cast<std::size_t>(size), bytes_.size() - position_);
  if (count == 0) {
    return AVERROR_EOF;
  }
  std::copy_n(bytes_.data() + position_, count, buffer);
  position_ += count;
  return static_cast<int>(count);
}

std::int64_t MemoryInput::seek(std::int64_t offset, int whence) {
  const auto size = static_cast<std::int64_t>(bytes_.size());
  if ((whence & AVSEEK_SIZE) != 0) {
    return size;
  }
  const std::int64_t base = whence == SEEK_CUR   ? static_cast<std::int64_t>(position_)
                            : whence == SEEK_END ? size
                                                 : 0;
  if (offset < -base || offset > size - base) {
    return AVERROR(EINVAL);
  }
  position_ = static_cast<std::size_t>(base + offset);
  return base + offset;
}

namespace {

/// The container's own name of the codec, if it has a printable one.
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
  copy_tags(&to.metadata, from.metadata);
  for (const AVPacketSideData& data : side_data_of(from)) {
    add_side_data(to, data.type, data.data, data.size);
  }
}

/// In libav's table, QuickTime's languages have the codes that Matroska uses ("ger"), except French.
void use_quicktime_language(AVStream& stream) {
  const AVDictionaryEntry* const language = av_dict_get(stream.metadata, "language", nullptr, 0);
  if (language != nullptr && std::string_view(language->value) == "fre") {
    set_tag(&stream.metadata, "language", "fra");
  }
}

/// Tests the muxer by writing a header with the video and this one stream to memory.
bool takes_stream(const AVOutputFormat& container, const AVCodecContext& encoder, const AVStream& stream) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& video = add_stream(*muxer);
  check(avcodec_parameters_from_context(video.codecpar, &encoder), "stream", "can't copy its parameters");
  video.time_base = encoder.time_base;
  copy_parameters(add_stream(*muxer), stream, container);
  MemoryOutput memory(*muxer);
  return avformat_write_header(muxer.get(), nullptr) >= 0;
}

/// Tests what the demuxer reads from a file with one short packet of the stream. Also true if the muxer
/// parses packets and rejects this one.
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
  const auto is_mpeg = [](AVCodecID codec) {  // demuxers do not distinguish its layers
    return codec == AV_CODEC_ID_MP1 || codec == AV_CODEC_ID_MP2 || codec == AV_CODEC_ID_MP3;
  };
  if (is_mpeg(before.codec_id)) {
    return is_mpeg(after.codec_id);
  }
  return after.codec_id == before.codec_id &&
         (after.codec_id != AV_CODEC_ID_NONE || after.codec_tag == stream.codecpar->codec_tag);
}

}  // namespace

MuxerHandle make_muxer(const AVOutputFormat& container, const std::string& url) {
  AVFormatContext* context = nullptr;
  check(avformat_alloc_output_context2(&context, &container, nullptr, url.c_str()), url,
        "can't set up the container");
  MuxerHandle muxer(context);
  // Allows y4m of more than 8 bits, FLAC in mp4 and others, which newer versions of libav always accept.
  muxer->strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  return muxer;
}

AVStream& add_stream(AVFormatContext& muxer) {
  AVStream* const stream = avformat_new_stream(&muxer, nullptr);
  if (stream == nullptr) {
    throw Error("out of memory");
  }
  return *stream;
}

AVStream& add_copied_stream(AVFormatContext& muxer, const AVStream& from) {
  AVStream& stream = add_stream(muxer);
  copy_parameters(stream, from, *muxer.oformat);
  if (traits_of(*muxer.oformat).quicktime_languages) {
    use_quicktime_language(stream);
  }
  return stream;
}

AVStream& add_transcoded_stream(AVFormatContext& muxer, const AVStream& from, const AVCodecContext& encoder) {
  AVStream& stream = add_copied_stream(muxer, from);
  drop_statistics(&stream.metadata);
  check(avcodec_parameters_from_context(stream.codecpar, &encoder), "stream", "can't copy its parameters");
  return stream;
}

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
  copy_tags(&stream.metadata, cover.metadata);
  for (const auto& [key, value] : {std::pair{"filename", png ? "cover.png" : "cover.jpg"},
                                   std::pair{"mimetype", png ? "image/png" : "image/jpeg"}}) {
    set_tag(&stream.metadata, key, value, AV_DICT_DONT_OVERWRITE);
  }
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

bool can_hold_stream(const FileKind& file, const AVStream& stream) {
  const AVOutputFormat& container = file.container;
  if (container.audio_codec == AV_CODEC_ID_NONE) {
    return false;  // for video only
  }
  if (!is_known(container, file.url, stream)) {
    return false;
  }
  if ((container.flags & AVFMT_NOFILE) != 0) {
    return avformat_query_codec(&container, stream.codecpar->codec_id, FF_COMPLIANCE_NORMAL) != 0;
  }
  // QuickTime's muxer writes codecs without a name there under a name that no software reads.
  return takes_stream(container, file.video, stream) &&
         (!traits_of(container).display_matrix || is_cover_art(stream) || is_read_again(container, stream));
}

bool can_hold_stream(const FileKind& file, const AVCodecContext& encoder) {
  const MuxerHandle scratch = make_muxer(file.container, "memory");
  AVStream& encoded = add_stream(*scratch);
  check(avcodec_parameters_from_context(encoded.codecpar, &encoder), file.url, "can't copy its parameters");
  encoded.time_base = encoder.time_base;
  return can_hold_stream(file, encoded);
}

namespace {

/// Tags that mkvmerge and libav write about a stream's packets, some with a language suffix ("BPS-eng").
bool is_statistic(std::string_view key) {
  constexpr std::array<std::string_view, 4> kPrefixes{"NUMBER_OF_", "DURATION-", "BPS-", "_STATISTICS_"};
  return key == "DURATION" || key == "BPS" ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return key.starts_with(prefix); });
}

/// Tags that describe the source's container or its encoded video, not its content.
bool is_stale(std::string_view key) {
  constexpr std::array<std::string_view, 7> kNames{
      "major_brand", "minor_version", "compatible_brands", "encoder", "rotate", "alpha_mode", "ALPHA_MODE"};
  return is_statistic(key) || std::ranges::find(kNames, key) != kNames.end();
}

/// Tags that are lost in a file in memory.
std::vector<std::string> lost_tags(const AVOutputFormat& container, const AVDictionary* tags) {
  const MuxerHandle muxer = make_muxer(container, "memory");
  AVStream& stream = add_stream(*muxer);
  stream.time_base = {1, 25};
  AVCodecParameters& pictures = *stream.codecpar;
  pictures.codec_type = AVMEDIA_TYPE_VIDEO;
  pictures.codec_id = AV_CODEC_ID_MPEG4;
  pictures.width = pictures.height = 16;
  copy_tags(&muxer->metadata, tags);
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

/// For memory from libav's own allocator, which libav frees together with the muxer.
template <typename T>
T* required(void* memory) {
  if (memory == nullptr) {
    throw Error("out of memory");
  }
  return static_cast<T*>(memory);
}

struct Span {
  std::int64_t start;
  std::int64_t end;
};

/// The chapter's position in the file, in its own time base; nothing if it is not in the file.
std::optional<Span> written_part(const AVChapter& chapter, const Source& source, std::int64_t frame_limit) {
  const std::int64_t offset = av_rescale_q(source.time_offset, kMicrosecond, chapter.time_base);
  std::int64_t start = chapter.start + offset;
  std::int64_t end = chapter.end + offset;
  if (!source.range.clip(start, end, chapter.time_base) &&
      (source.range.has_begin() || source.range.has_end())) {
    return std::nullopt;
  }
  if (frame_limit > 0 && source.average_rate.num > 0) {
    const std::int64_t begin = source.range.has_begin() || source.first.pts == AV_NOPTS_VALUE
                                   ? 0
                                   : av_rescale_q(source.first.pts, source.time_base, kMicrosecond);
    end = std::min(end, av_rescale_q(begin, kMicrosecond, chapter.time_base) +
                            av_rescale_q(frame_limit, av_inv_q(source.average_rate), chapter.time_base));
    if (start >= end) {
      return std::nullopt;
    }
  }
  start = std::max<std::int64_t>(start, 0);
  return Span{start, std::max(end, start)};
}

}  // namespace

void set_tag(AVDictionary** tags, const std::string& key, const std::string& value, int flags) {
  check(av_dict_set(tags, key.c_str(), value.c_str(), flags), key, "can't set the tag");
}

void copy_tags(AVDictionary** to, const AVDictionary* from) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    set_tag(to, entry->key, entry->value);
  }
}

void copy_lasting_tags(AVDictionary** to, const AVDictionary* from) {
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(from, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (!is_stale(entry->key)) {
      set_tag(to, entry->key, entry->value);
    }
  }
}

void drop_statistics(AVDictionary** tags) {
  std::vector<std::string> keys;
  const AVDictionaryEntry* entry = nullptr;
  while ((entry = av_dict_get(*tags, "", entry, AV_DICT_IGNORE_SUFFIX)) != nullptr) {
    if (is_statistic(entry->key)) {
      keys.emplace_back(entry->key);
    }
  }
  for (const std::string& key : keys) {
    check(av_dict_set(tags, key.c_str(), nullptr, 0), key, "can't remove the tag");
  }
}

void advance_timecode(AVDictionary** tags, const Source& source) {
  const AVDictionaryEntry* const entry = av_dict_get(*tags, "timecode", nullptr, 0);
  AVTimecode timecode{};
  if (entry == nullptr || source.skipped_frames == 0 ||
      av_timecode_init_from_string(&timecode, source.average_rate, entry->value, nullptr) < 0) {
    return;
  }
  std::array<char, AV_TIMECODE_STR_SIZE> text{};
  av_timecode_make_string(&timecode, text.data(), source.skipped_frames);
  set_tag(tags, entry->key, text.data());
}

std::string keep_tags(AVFormatContext& muxer,
                      const std::vector<std::pair<std::string, std::string>>& options) {
  const AVOutputFormat& container = *muxer.oformat;
  const bool is_asked_for = std::ranges::any_of(options, [](const auto& option) {
    return option.first == "movflags" && option.second.find("use_metadata_tags") != std::string::npos;
  });
  if (!traits_of(container).display_matrix || muxer.metadata == nullptr || is_asked_for) {
    return "";
  }
  std::vector<std::string> lost = lost_tags(container, muxer.metadata);
  if (std::ranges::any_of(lost, [](const std::string& tag) { return tag.starts_with("com."); })) {
    av_opt_set(&muxer, "movflags", "+use_metadata_tags", AV_OPT_SEARCH_CHILDREN);
    return "";
  }
  // Notes about the source's file are not losses: libav's about its muxer, and those of MXF. A timecode has
  // its own track.
  constexpr const char* kNotes =
      "encoder,timecode,operational_pattern_ul,uid,generation_uid,company_name,product_name,product_uid,"
      "product_version,product_version_num,application_platform,toolkit_version_num,modification_date,"
      "material_package_umid,material_package_name";
  std::erase_if(lost, [](const std::string& tag) { return av_match_name(tag.c_str(), kNotes) != 0; });
  std::string names;
  for (const std::string& tag : lost) {
    names += (names.empty() ? "" : ", ") + tag;
  }
  return names.empty() ? ""
                       : std::string(container.name) + " can't hold the source's tags: " + names +
                             "; -e movflags=use_metadata_tags keeps all tags, but fewer players read them";
}

void copy_chapters(AVFormatContext& muxer, const Source& source, std::int64_t frame_limit) {
  const AVFormatContext& input = source.input;
  if (input.nb_chapters == 0) {
    return;
  }
  muxer.chapters = required<AVChapter*>(av_calloc(input.nb_chapters, sizeof(AVChapter*)));
  for (unsigned i = 0; i < input.nb_chapters; ++i) {
    const AVChapter& from = *input.chapters[i];
    const std::optional<Span> part = written_part(from, source, frame_limit);
    if (!part) {
      continue;
    }
    AVChapter& to = *required<AVChapter>(av_mallocz(sizeof(AVChapter)));
    muxer.chapters[muxer.nb_chapters++] = &to;
    to.id = from.id;
    to.time_base = from.time_base;
    to.start = part->start;
    to.end = part->end;
    copy_tags(&to.metadata, from.metadata);
  }
}

}  // namespace limpid::io
