// SPDX-License-Identifier: MIT
#pragma once

// A source without a file, for tests of a Writer's parts.

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/mem.h>
}

#include <algorithm>
#include <cstdint>
#include <string>

#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

/// Its stream #0 is a video of 64x48 at 25 frames per second; others can be added. All are copied.
class MadeSource {
 public:
  MadeSource() {
    AVStream& video = add(AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_FFV1);
    video.codecpar->width = first->width = 64;
    video.codecpar->height = first->height = 48;
    video.time_base = {1, 25};
    first->pts = 0;
  }

  AVStream& add(AVMediaType type, AVCodecID codec) {
    AVStream& stream = *avformat_new_stream(input.get(), nullptr);
    stream.codecpar->codec_type = type;
    stream.codecpar->codec_id = codec;
    stream.time_base = {1, 1000};
    return stream;
  }
  /// PCM by default, two channels of 48 kHz.
  AVStream& add_sound(AVCodecID codec = AV_CODEC_ID_PCM_S16LE) {
    AVStream& stream = add(AVMEDIA_TYPE_AUDIO, codec);
    stream.codecpar->format = AV_SAMPLE_FMT_S16;
    stream.codecpar->sample_rate = 48000;
    stream.codecpar->block_align = 4;
    stream.codecpar->bits_per_coded_sample = 16;
    av_channel_layout_default(&stream.codecpar->ch_layout, 2);
    stream.time_base = {1, 48000};
    return stream;
  }
  /// From and to in milliseconds.
  void add_chapter(std::int64_t from, std::int64_t to, const std::string& title) {
    const unsigned count = input->nb_chapters++;
    input->chapters =
        static_cast<AVChapter**>(av_realloc_array(input->chapters, count + 1, sizeof(AVChapter*)));
    auto* const chapter = static_cast<AVChapter*>(av_mallocz(sizeof(AVChapter)));
    *chapter = {.id = count, .time_base = {1, 1000}, .start = from, .end = to, .metadata = nullptr};
    av_dict_set(&chapter->metadata, "title", title.c_str(), 0);
    input->chapters[count] = chapter;
  }

  Source get() const {
    Source source{.url = "made", .input = *input, .video = *input->streams[0], .first = *first};
    source.format = {
        .width = 64, .height = 48, .color_model = ColorModel::kYuv, .chroma_shift_x = 1, .chroma_shift_y = 1};
    source.copied.assign(input->nb_streams, true);
    source.time_base = source.video.time_base;
    source.average_rate = source.base_rate = {25, 1};
    return source;
  }

  MuxerHandle input{avformat_alloc_context()};  // whose deleter does not close a file
  FrameHandle first = make_frame();
};

/// A codec context of video, without an encoder.
inline CodecHandle make_video_context(AVCodecID codec = AV_CODEC_ID_MPEG4) {
  CodecHandle context(avcodec_alloc_context3(nullptr));
  context->codec_type = AVMEDIA_TYPE_VIDEO;
  context->codec_id = codec;
  context->width = 64;
  context->height = 48;
  context->pix_fmt = AV_PIX_FMT_YUV420P;
  context->time_base = {1, 25};
  return context;
}

inline const AVOutputFormat& container_named(const std::string& name) {
  return *av_guess_format(name.c_str(), nullptr, nullptr);
}

/// A packet of a few bytes, in stream #0.
inline PacketHandle make_test_packet(std::int64_t pts, std::int64_t dts, bool key = true) {
  PacketHandle packet = make_packet();
  av_new_packet(packet.get(), 8);
  std::fill_n(packet->data, packet->size, std::uint8_t{0});
  packet->pts = pts;
  packet->dts = dts;
  packet->duration = 1;
  packet->flags = key ? AV_PKT_FLAG_KEY : 0;
  return packet;
}

}  // namespace limpid::io
