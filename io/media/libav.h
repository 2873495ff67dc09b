#pragma once

// libav's handles with their deleters, and its errors as exceptions. Private to io.

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

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/media/libav_versions.h"

namespace limpid::io {

/// The unit of AV_TIME_BASE.
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

/// Frees a muxer, or a demuxer that isn't open; its AVIOContext belongs to somebody else.
struct MuxerDeleter {
  void operator()(AVFormatContext* context) const { avformat_free_context(context); }
};
using MuxerHandle = std::unique_ptr<AVFormatContext, MuxerDeleter>;
using UnopenedInputHandle = std::unique_ptr<AVFormatContext, MuxerDeleter>;

/// Throw Error if memory does not suffice.
FrameHandle make_frame();
PacketHandle make_packet();
/// For avio_alloc_context(), which takes a null buffer and later writes to it.
unsigned char* make_io_buffer(int size);

/// libav's text for an error code.
std::string error_text(int code);

/// The one check of libav's return codes: hands on `code` if it is no error, else throws Error "<subject>:
/// <what>: <libav's text>", such as "out.mkv: can't write: No space left on device".
int check(int code, std::string_view subject, std::string_view what);

/// avio_write() of any number of bytes.
void write_bytes(AVIOContext& target, std::span<const std::uint8_t> bytes);

/// What libav has logged as an error on this thread since forget_logged_messages(), its first line only;
/// empty if nothing. It says more than the error code when an encoder or muxer turns something down.
void forget_logged_messages();
std::string first_logged_error();

/// What libav has logged as warnings on this thread since forget_logged_messages(), its first lines only.
std::vector<std::string> first_logged_warnings();

/// What demuxers have logged as an error on this thread since the last call, its first line only; empty if
/// nothing.
std::string take_demuxer_error();

/// The last error that decoders have logged on any thread, theirs among them, since forget_decoder_error();
/// empty if there is none.
void forget_decoder_error();
std::string last_decoder_error();

/// " (<first_logged_error()>)", or nothing.
std::string logged_reason();

/// An AVDictionary.
class Dictionary {
 public:
  Dictionary() = default;
  explicit Dictionary(const std::vector<std::pair<std::string, std::string>>& entries);
  Dictionary(const Dictionary&) = delete;
  Dictionary& operator=(const Dictionary&) = delete;
  Dictionary(Dictionary&&) = delete;
  Dictionary& operator=(Dictionary&&) = delete;
  ~Dictionary() { av_dict_free(&entries_); }

  void set(const std::string& key, const std::string& value);
  /// For libav's functions, which take out what they know.
  AVDictionary** get() { return &entries_; }
  /// The key of some entry; empty if there is none.
  std::string any_key() const;

 private:
  AVDictionary* entries_ = nullptr;
};

/// libav's name for a pixel format; "none" for one it doesn't know.
std::string name_of(AVPixelFormat format);

/// True for what libav opens through a protocol of its own ("rtsp://...", "pipe:1") rather than as a file.
bool has_protocol(const std::string& url);

/// True for what captures: cameras, screens, and libavfilter's sources among them.
bool is_device(const AVInputFormat& format);
/// True for devices whose frames come when it is time for them, not when they are asked for.
bool is_live(const AVInputFormat& format);

/// True if `url` names numbered pictures, such as "img_%03d.png".
bool is_sequence(const std::string& url);

}  // namespace limpid::io
