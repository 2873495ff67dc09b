// SPDX-License-Identifier: MIT
#pragma once

// Functions for names that differ between versions of libav, from FFmpeg 5.1 on. Private to io; libav.h
// includes it.

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

/// True if the Matroska muxer adds a codec's delay, which readers subtract, to the times that it receives.
/// Older versions only store it.
inline constexpr bool kMatroskaAddsDelay = LIBAVFORMAT_VERSION_MAJOR >= 60;  // FFmpeg 6.0

/// Both in units of the frame's time base; 0 if unknown.
std::int64_t duration_of(const AVFrame& frame);
void set_duration(AVFrame& frame, std::int64_t duration);

bool is_interlaced(const AVFrame& frame);
bool is_top_field_first(const AVFrame& frame);
/// Clears the mark that the source's frame was a key frame.
void clear_key_frame(AVFrame& frame);

/// True for a picture that is stored in tiles, each of which is a stream. Older versions do not read these.
bool has_picture_tiles(const AVFormatContext& input);

/// The number of frames sent to an encoder or received from a decoder.
std::int64_t frame_count(const AVCodecContext& context);

/// Allows a decoder to call get_buffer2 on each of its threads, as it always does from FFmpeg 6.0 on.
void allow_callbacks_from_threads(AVCodecContext& decoder);

/// Side data of a whole stream, in addition to its parameters; owned by the stream.
std::span<const AVPacketSideData> side_data_of(const AVStream& stream);
/// Null if the stream has none of this type.
const AVPacketSideData* find_side_data(const AVStream& stream, AVPacketSideDataType type);
/// Adds a copy of the data, unless the stream has data of this type. Throws Error if memory is insufficient.
void add_side_data(AVStream& stream, AVPacketSideDataType type, const std::uint8_t* data, std::size_t size);

/// Formats, rates etc. that an encoder supports; null and empty if it does not list them. Lists of rates are
/// followed by 0/0.
std::span<const AVPixelFormat> pixel_formats_of(const AVCodec& codec);
std::span<const AVRational> frame_rates_of(const AVCodec& codec);
std::span<const AVSampleFormat> sample_formats_of(const AVCodec& codec);
std::span<const int> sample_rates_of(const AVCodec& codec);
std::span<const AVChannelLayout> channel_layouts_of(const AVCodec& codec);

}  // namespace limpid::io
