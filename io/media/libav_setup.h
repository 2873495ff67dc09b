// SPDX-License-Identifier: MIT
// Errors that decoders log without returning a code or marking a frame. Private to io.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Collects the errors that a video decoder logs, on any of its threads.
///
/// An error belongs to the packet that its thread decodes: AVCodecContext::opaque, which libavcodec copies to
/// the thread with each packet, identifies it. Errors about references that a stream lacks because it was cut
/// out of a longer one are not counted.
///
/// HEVC may have an MD5 of each picture, and FFV1 has a CRC of each slice. libavcodec compares them but only
/// logs differences. Errors of checksums belong to the frame whose buffer its thread allocated last.
class DecoderErrors : NotCopyable {
 public:
  DecoderErrors();
  ~DecoderErrors() = default;

  /// Connects this object to a decoder that is not open yet. This object must outlive the decoder.
  /// `checksums`: compare checksums in the stream, if it has any.
  void watch(AVCodecContext& decoder, bool checksums);
  /// Declares that `packet` is sent next. Its errors are ignored unless it `counts`.
  void begin(AVCodecContext& decoder, const AVPacket& packet, bool counts);
  /// Returns true, once per frame, if the frame does not match its checksum.
  bool take_wrong_checksum(const AVFrame& frame);
  /// Declares that the next packet does not continue the previous one.
  void forget_position();

  struct Summary {
    std::int64_t packets = 0;  ///< number of packets with errors
    std::string first;         ///< the first error
  };
  /// Errors up to a packet that the decoder has certainly finished, so that the result does not depend on the
  /// timing of its threads. `is_complete`: the decoder has ended.
  Summary summary(const AVCodecContext& decoder, bool is_complete);

  /// Processes an error that libav has logged for `object`, of any class.
  static void on_logged_error(void* object, const std::string& line);

 private:
  /// A packet in the decoder.
  struct Sent {
    DecoderErrors* errors = nullptr;
    std::int64_t index = 0;
    bool counts = false;
    bool may_lack_references = false;
  };
  static int get_buffer(AVCodecContext* decoder, AVFrame* frame, int flags);
  void note_wrong_checksum(const AVCodecContext& decoder);
  void note(const Sent& packet, const std::string& line);

  /// Contexts of threads refer to the last packet that each of them has decoded. There are fewer threads.
  static constexpr std::size_t kMostSent = 256;

  std::mutex mutex_;
  std::array<Sent, kMostSent> sent_;
  std::int64_t packets_ = 0;
  std::int64_t key_frames_ = 0;  ///< number of key frames since the last seek
  std::int64_t key_time_ = AV_NOPTS_VALUE;
  std::map<std::int64_t, std::string> pending_;  ///< first errors of packets, by the packets' index
  Summary summary_;
  std::map<const AVCodecContext*, const void*> current_;  ///< by the context of a thread: the buffer of its
                                                          ///< frame
  std::set<const void*> wrong_;
};

enum class LogSeverity : std::uint8_t {
  kPanic,  ///< libav calls abort() next because an internal condition is violated, as after a failed
           ///< allocation
  kError,
  kWarning,
  kInfo,
  kDebug
};

/// Receives one line of libav's messages, without line break, preceded by the name of the codec or format:
/// "[h264] error while decoding MB 3 4". Called on any thread, possibly on several at once.
using LogSink = std::function<void(LogSeverity severity, const std::string& line)>;

/// Redirects libav's messages from standard error to this module, and prevents SVT-AV1 from printing there.
/// Both are process-wide: to be called at the start of a program, while it has one thread. Without this call,
/// errors lack libav's reasons, invalid entries of lists such as x264-params are not errors, and Readers do
/// not detect damage that libav only logs.
void take_over_logs();

/// Sends the messages to `sink`; an empty one (the initial state) drops them.
void set_log_sink(LogSink sink);

/// Limits the threads that libav's decoders and encoders start by default to `processors`. libav itself
/// counts the processors of the affinity mask, without the quotas of control groups. Process-wide.
void limit_libav_threads(int processors);

/// The version of the FFmpeg libraries in use, which may differ from the version of the build: "5.1.9
/// (libavformat 59.27.100, libavcodec 59.37.100, libavutil 57.28.100)".
std::string ffmpeg_version();

}  // namespace limpid::io
