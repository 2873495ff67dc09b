// SPDX-License-Identifier: MIT
#include "io/media/libav_versions.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>

#include "core/base/error.h"

// Each new name is used from its first version on, since the older one is deprecated there and removed two
// major versions later.
#define LIMPID_DURATION (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100))           // FFmpeg 6.0
#define LIMPID_FRAME_NUM (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 2, 100))          // FFmpeg 6.0
#define LIMPID_FRAME_FLAGS (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 7, 100))         // FFmpeg 6.1
#define LIMPID_CODED_SIDE_DATA (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 101))   // FFmpeg 6.1
#define LIMPID_SUPPORTED_CONFIG (LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100))  // FFmpeg 7.1

namespace limpid::io {
namespace {

#if LIMPID_SUPPORTED_CONFIG
template <typename Value>
std::span<const Value> supported(const AVCodec& codec, AVCodecConfig what) {
  const void* values = nullptr;
  int count = 0;
  if (avcodec_get_supported_config(nullptr, &codec, what, 0, &values, &count) < 0 || values == nullptr) {
    return {};
  }
  return {static_cast<const Value*>(values), static_cast<std::size_t>(count)};
}
#else
/// A list that ends where `is_end` returns true.
template <typename Value, typename IsEnd>
std::span<const Value> listed(const Value* values, IsEnd is_end) {
  std::size_t count = 0;
  while (values != nullptr && !is_end(values[count])) {
    ++count;
  }
  return {values, count};
}
#endif

}  // namespace

std::int64_t duration_of(const AVFrame& frame) {
#if LIMPID_DURATION
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}

void set_duration(AVFrame& frame, std::int64_t duration) {
#if LIMPID_DURATION
  frame.duration = duration;
#else
  frame.pkt_duration = duration;
#endif
}

bool is_interlaced(const AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  return (frame.flags & AV_FRAME_FLAG_INTERLACED) != 0;
#else
  return frame.interlaced_frame != 0;
#endif
}

bool is_top_field_first(const AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  return (frame.flags & AV_FRAME_FLAG_TOP_FIELD_FIRST) != 0;
#else
  return frame.top_field_first != 0;
#endif
}

void clear_key_frame(AVFrame& frame) {
#if LIMPID_FRAME_FLAGS
  frame.flags &= ~AV_FRAME_FLAG_KEY;
#else
  frame.key_frame = 0;
#endif
}

bool has_picture_tiles([[maybe_unused]] const AVFormatContext& input) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61  // FFmpeg 7.0
  for (unsigned i = 0; i < input.nb_stream_groups; ++i) {
    if (input.stream_groups[i]->type == AV_STREAM_GROUP_PARAMS_TILE_GRID &&
        input.stream_groups[i]->params.tile_grid->nb_tiles > 1) {
      return true;
    }
  }
#endif
  return false;
}

std::int64_t frame_count(const AVCodecContext& context) {
#if LIMPID_FRAME_NUM
  return context.frame_num;
#else
  return context.frame_number;
#endif
}

void allow_callbacks_from_threads([[maybe_unused]] AVCodecContext& decoder) {
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  decoder.thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

std::span<const AVPacketSideData> side_data_of(const AVStream& stream) {
#if LIMPID_CODED_SIDE_DATA
  return {stream.codecpar->coded_side_data, static_cast<std::size_t>(stream.codecpar->nb_coded_side_data)};
#else
  return {stream.side_data, static_cast<std::size_t>(stream.nb_side_data)};
#endif
}

const AVPacketSideData* find_side_data(const AVStream& stream, AVPacketSideDataType type) {
  const std::span<const AVPacketSideData> all = side_data_of(stream);
  const auto found = std::ranges::find(all, type, &AVPacketSideData::type);
  return found == all.end() ? nullptr : &*found;
}

void add_side_data(AVStream& stream, AVPacketSideDataType type, const std::uint8_t* data, std::size_t size) {
  if (find_side_data(stream, type) != nullptr) {
    return;
  }
  void* const copy = av_memdup(data, size);
  // The stream owns the copy from here on, unless this fails.
#if LIMPID_CODED_SIDE_DATA
  AVCodecParameters& parameters = *stream.codecpar;
  const bool added =
      copy != nullptr && av_packet_side_data_add(&parameters.coded_side_data, &parameters.nb_coded_side_data,
                                                 type, copy, size, 0) != nullptr;
#else
  const bool added =
      copy != nullptr && av_stream_add_side_data(&stream, type, static_cast<std::uint8_t*>(copy), size) >= 0;
#endif
  if (!added) {
    av_free(copy);
    throw Error("out of memory");
  }
}

std::span<const AVPixelFormat> pixel_formats_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVPixelFormat>(codec, AV_CODEC_CONFIG_PIX_FORMAT);
#else
  return listed(codec.pix_fmts, [](AVPixelFormat format) { return format == AV_PIX_FMT_NONE; });
#endif
}

std::span<const AVRational> frame_rates_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVRational>(codec, AV_CODEC_CONFIG_FRAME_RATE);
#else
  return listed(codec.supported_framerates, [](AVRational rate) { return rate.num == 0 && rate.den == 0; });
#endif
}

std::span<const AVSampleFormat> sample_formats_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVSampleFormat>(codec, AV_CODEC_CONFIG_SAMPLE_FORMAT);
#else
  return listed(codec.sample_fmts, [](AVSampleFormat format) { return format == AV_SAMPLE_FMT_NONE; });
#endif
}

std::span<const int> sample_rates_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<int>(codec, AV_CODEC_CONFIG_SAMPLE_RATE);
#else
  return listed(codec.supported_samplerates, [](int rate) { return rate == 0; });
#endif
}

std::span<const AVChannelLayout> channel_layouts_of(const AVCodec& codec) {
#if LIMPID_SUPPORTED_CONFIG
  return supported<AVChannelLayout>(codec, AV_CODEC_CONFIG_CHANNEL_LAYOUT);
#else
  return listed(codec.ch_layouts, [](const AVChannelLayout& layout) { return layout.nb_channels == 0; });
#endif
}

}  // namespace limpid::io
