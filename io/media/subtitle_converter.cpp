// SPDX-License-Identifier: MIT
#include "io/media/subtitle_converter.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/not_copyable.h"

namespace limpid::io {
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
