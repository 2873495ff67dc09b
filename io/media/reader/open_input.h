// SPDX-License-Identifier: MIT
// Opening a source, the microphone of a camera, or a pipe as an interruptible source. Private to io.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"
#include "io/media/reader.h"

namespace limpid::io {

/// Reads standard input or a named pipe for libav, whose own open() and read() would wait indefinitely for
/// the writing program. A wait ends, and reads as the end of the source, once `interrupted` returns true.
class PipeInput : NotCopyable {
 public:
  /// True for "-" and the names of pipes.
  static bool is_pipe(const std::string& url);

  /// `interrupted` may be empty. Throws Error if the pipe cannot be opened.
  PipeInput(const std::string& url, std::function<bool()> interrupted);
  ~PipeInput();

  AVIOContext* bytes() const { return bytes_; }

 private:
  int read(std::uint8_t* buffer, int size) const;

  std::function<bool()> interrupted_;
  int descriptor_;
  AVIOContext* bytes_;
};

/// The demuxer that ReaderOptions request; null if it is to be detected from the content. Throws Error or
/// UsageError if the options forbid it.
const AVInputFormat* requested_format(const std::string& url, const ReaderOptions& options);

/// Opens a source with the `requested` demuxer, unless that is null, and from `bytes` if the source is a pipe
/// (otherwise null). `pattern`: a name with wildcards for a sequence of pictures; empty for others. The
/// demuxer removes its options from `unused`. Throws an Error that names the source and the reason, NoVideo
/// if the source is not media, and UsageError for options.
InputHandle open_input(const std::string& url, const std::string& pattern, const ReaderOptions& options,
                       const AVInputFormat* requested, AVIOContext* bytes, const AVIOInterruptCB& interrupt,
                       Dictionary& unused);

/// An audio device of libavdevice, which is read on a thread of its own, because a device drops audio that
/// is not read in time. Packets have the times of the device.
class SoundDevice : NotCopyable {
 public:
  /// `interrupted` is called repeatedly during waits, on two threads. Throws Error if the device cannot be
  /// opened, and UsageError if libavdevice has no such format.
  SoundDevice(const std::string& url, const std::string& format, std::function<bool()> interrupted);
  ~SoundDevice();

  const AVStream& stream() const { return *stream_; }
  /// The next packet if there is one already; else null.
  PacketHandle take();
  /// The error that ended the sound; empty while it lasts.
  std::string failure() const;

 private:
  void read_all();
  void wait_for(const AVPacket& packet, std::unique_lock<std::mutex>& lock);
  bool is_interrupted() const { return stops_ || (interrupted_ && interrupted_()); }

  std::function<bool()> interrupted_;
  std::atomic<bool> stops_ = false;
  InputHandle input_;
  AVStream* stream_ = nullptr;
  bool needs_pace_;  ///< libavfilter's sources are as fast as they are asked
  std::optional<std::chrono::steady_clock::time_point> zero_;  ///< of the packets' times, with `needs_pace_`
  mutable std::mutex mutex_;
  std::condition_variable taken_;
  std::deque<PacketHandle> packets_;
  std::string failure_;
  std::jthread thread_;
};

}  // namespace limpid::io
