#pragma once

// What has another name in each version of libav, from FFmpeg 5.1 on. Private to io; libav.h includes it.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/frame.h>
}

#include <cstddef>
#include <cstdint>
#include <span>

namespace limpid::io {

#ifdef AV_PROFILE_H264_HIGH  // FFmpeg 6.1
inline constexpr int kH264High = AV_PROFILE_H264_HIGH;
inline constexpr int kH264Flags = AV_PROFILE_H264_CONSTRAINED | AV_PROFILE_H264_INTRA;
#else
inline constexpr int kH264High = FF_PROFILE_H264_HIGH;
inline constexpr int kH264Flags = FF_PROFILE_H264_CONSTRAINED | FF_PROFILE_H264_INTRA;
#endif

/// Whether the muxer of Matroska adds a codec's delay, which readers take off, to the times that it is given.
/// Older ones only note it.
inline constexpr bool kMatroskaAddsDelay = LIBAVFORMAT_VERSION_MAJOR >= 60;  // FFmpeg 6.0

/// In units of the frame's time base; 0 if unknown.
std::int64_t duration_of(const AVFrame& frame);
void set_duration(AVFrame& frame, std::int64_t duration);

bool is_interlaced(const AVFrame& frame);
bool is_top_field_first(const AVFrame& frame);
/// Takes back that the source's frame was a key frame.
void clear_key_frame(AVFrame& frame);

/// How many frames an encoder was given or a decoder has delivered.
std::int64_t frame_count(const AVCodecContext& context);

/// Lets a decoder call get_buffer2 on each of its threads, as it always does from FFmpeg 6.0 on.
void allow_callbacks_from_threads(AVCodecContext& decoder);

/// What is known of a whole stream beside its parameters; it belongs to the stream.
std::span<const AVPacketSideData> side_data_of(const AVStream& stream);
/// nullptr if the stream has none of this type.
const AVPacketSideData* find_side_data(const AVStream& stream, AVPacketSideDataType type);
/// Adds a copy, unless the stream has some of this type. Throws Error if memory does not suffice.
void add_side_data(AVStream& stream, AVPacketSideDataType type, const std::uint8_t* data, std::size_t size);

/// What an encoder takes; empty, at nullptr, if it does not say. Lists of rates end at 0/0, one behind the
/// span.
std::span<const AVPixelFormat> pixel_formats_of(const AVCodec& codec);
std::span<const AVRational> frame_rates_of(const AVCodec& codec);
std::span<const AVSampleFormat> sample_formats_of(const AVCodec& codec);
std::span<const int> sample_rates_of(const AVCodec& codec);
std::span<const AVChannelLayout> channel_layouts_of(const AVCodec& codec);

}  // namespace limpid::io
