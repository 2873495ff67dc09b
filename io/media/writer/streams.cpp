// SPDX-License-Identifier: MIT
#include "io/media/writer/streams.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "io/media/container.h"
#include "io/media/memory_file.h"
#include "io/media/writer/tags.h"

namespace limpid::io {
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

}  // namespace limpid::io
