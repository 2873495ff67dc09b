// SPDX-License-Identifier: MIT
#pragma once

// libav's handles with their deleters, its errors as exceptions, and functions for names that differ between
// versions of libav, from FFmpeg 5.1 on. Private to io.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavdevice/avdevice.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/not_copyable.h"

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

/// True for PQ and HLG.
constexpr bool is_hdr(AVColorTransferCharacteristic transfer) {
  return transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67;
}

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

/// The time base of AV_TIME_BASE.
inline constexpr AVRational kMicrosecond{1, AV_TIME_BASE};

struct LibavDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(SwsContext* context) const { sws_freeContext(context); }
  void operator()(AVBufferRef* buffer) const { av_buffer_unref(&buffer); }
};

using FrameHandle = std::unique_ptr<AVFrame, LibavDeleter>;
using PacketHandle = std::unique_ptr<AVPacket, LibavDeleter>;
using CodecHandle = std::unique_ptr<AVCodecContext, LibavDeleter>;
using BufferHandle = std::unique_ptr<AVBufferRef, LibavDeleter>;
using ScalerHandle = std::unique_ptr<SwsContext, LibavDeleter>;

struct InputCloser {
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
};
using InputHandle = std::unique_ptr<AVFormatContext, InputCloser>;

/// Frees a muxer, or a demuxer that is not open; does not free its AVIOContext.
struct MuxerDeleter {
  void operator()(AVFormatContext* context) const { avformat_free_context(context); }
};
using MuxerHandle = std::unique_ptr<AVFormatContext, MuxerDeleter>;
using UnopenedInputHandle = std::unique_ptr<AVFormatContext, MuxerDeleter>;

/// Both throw Error if memory is insufficient.
FrameHandle make_frame();
PacketHandle make_packet();
/// Allocates a buffer for avio_alloc_context(), which accepts a null buffer and later writes to it.
unsigned char* make_io_buffer(int size);

/// libav's text for an error code.
std::string error_text(int code);

/// The common check of libav's return codes: returns `code` if it is not an error, otherwise throws the Error
/// "<subject>: <what>: <libav's text>", such as "out.mkv: can't write: No space left on device".
int check(int code, std::string_view subject, std::string_view what);

/// avio_write() of any number of bytes.
void write_bytes(AVIOContext& target, std::span<const std::uint8_t> bytes);

/// The first line that libav has logged as an error on this thread since forget_logged_messages(); empty if
/// there is none. It is more precise than the error code of an encoder or muxer.
void forget_logged_messages();
std::string first_logged_error();

/// The first lines that libav has logged as warnings on this thread since forget_logged_messages().
std::vector<std::string> first_logged_warnings();

/// The first line that demuxers have logged as an error on this thread since the last call; empty if there is
/// none.
std::string take_demuxer_error();

/// The streams, by index, of which demuxers have called a packet corrupt on this thread since the last call.
std::set<int> take_corrupt_streams();

/// The streams of transport streams, by PID, of which demuxers have missed packets on this thread since the
/// last call.
std::set<int> take_interrupted_pids();

/// The last error that decoders have logged on any thread, including their own, since forget_decoder_error();
/// empty if there is none.
void forget_decoder_error();
std::string last_decoder_error();

/// " (<first_logged_error()>)", or empty if there is none.
std::string logged_reason();

/// An AVDictionary.
class Dictionary : NotCopyable {
 public:
  Dictionary() = default;
  explicit Dictionary(const std::vector<std::pair<std::string, std::string>>& entries);
  ~Dictionary() { av_dict_free(&entries_); }

  void set(const std::string& key, const std::string& value);
  /// The dictionary for functions of libav, which remove the entries that they use.
  AVDictionary** get() { return &entries_; }
  /// The key of any entry; empty if there are no entries.
  std::string any_key() const;

 private:
  AVDictionary* entries_ = nullptr;
};

/// libav's name for a pixel format; "none" for unknown ones.
std::string name_of(AVPixelFormat format);

/// True for addresses that libav opens with a protocol ("rtsp://...", "pipe:1") rather than as a file.
bool has_protocol(const std::string& url);

/// True for capture devices: cameras, screens, and libavfilter's sources.
bool is_device(const AVInputFormat& format);
/// True for devices whose frames arrive in real time instead of on request.
bool is_live(const AVInputFormat& format);

/// The given pointer, or handle. Throws Error if it is null.
template <typename Pointer>
Pointer allocated(Pointer pointer) {
  if (pointer == nullptr) {
    throw Error("out of memory");
  }
  return pointer;
}

/// True if `url` names numbered pictures, such as "img_%03d.png".
bool is_sequence(const std::string& url);

}  // namespace limpid::io
