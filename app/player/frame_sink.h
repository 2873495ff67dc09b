// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>

#include "app/pipeline/bounded_queue.h"
#include "app/player/filter_counts.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/writer.h"

namespace limpid::app {

/// Writes frames on a thread of its own and completes the file there. Callers never wait: frames that the
/// writer is too slow for are dropped and counted, and so are frames that are not encoded some seconds after
/// an interrupt. If writing fails, as on a full disk, the output so far is
/// completed at once by Writer::finish_partial(). Thread-safe.
class FrameSink : NotCopyable {
 public:
  explicit FrameSink(io::Writer writer);
  /// Without close() or finish() nothing is left of what was written.
  ~FrameSink();

  /// `filter`: a name for the filter of the frame, which log_frames() counts.
  void offer(const Frame& frame, const std::string& filter = "");
  /// A packet of another stream of the source. Packets are small, so none is dropped while frames are taken.
  void offer(std::shared_ptr<io::Packet> packet);
  /// Takes no more frames: what has been offered is written and the file completed.
  void close();
  /// Closes the sink and waits until the file is complete. Several threads may call it. Warns of properties
  /// of later frames that the file cannot store. Throws the error of writing, with the name of the partial
  /// output.
  void finish();
  /// True if finish() does not wait: the file is complete, or writing has failed.
  bool has_ended() const { return ended_; }

  std::int64_t written() const { return written_; }
  std::int64_t dropped() const { return dropped_; }
  /// Numbers of frames written to the file `name` and dropped, and of frames by filter if there were several.
  std::string frames_text(const std::string& name) const;
  /// Logs this text.
  void log_frames(const std::string& name) const;
  /// Duration of the written video.
  double seconds() const { return seconds_; }
  std::int64_t bytes() const { return writer_.bytes_written(); }
  bool has_failed() const { return failed_; }

 private:
  void run();
  void write_all();
  void finish_in_time();
  void fail(std::exception_ptr error);
  /// Returns the error to report.
  std::exception_ptr keep_the_beginning(const Error& failure);

  io::Writer writer_;
  BoundedQueue<std::variant<Frame, std::shared_ptr<io::Packet>>> queue_;
  std::atomic<std::int64_t> written_ = 0;
  std::atomic<std::int64_t> dropped_ = 0;
  std::atomic<double> seconds_ = 0;
  std::atomic<bool> closed_ = false;  ///< before queue_ is
  std::atomic<bool> failed_ = false;
  std::atomic<bool> ended_ = false;
  std::exception_ptr error_;  ///< set before failed_
  std::mutex finishing_;
  mutable std::mutex counting_;
  FilterCounts filters_;  ///< of the frames taken
  std::jthread thread_;
};

/// For the display over the picture: "REC 0:12 3.4 MB", or that it has failed.
std::string recording_sign(const FrameSink& sink);

}  // namespace limpid::app
