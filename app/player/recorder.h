// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "app/player/frame_sink.h"
#include "app/player/osd.h"
#include "core/base/not_copyable.h"
#include "core/frame/frame.h"
#include "io/media/writer.h"

namespace limpid::app {

struct RecorderOptions {
  /// Name of the first recording; further ones are NAME-2.EXT and so on. Empty: all are named
  /// webcam-DATE-TIME.mkv, in the current directory.
  std::string file;
  bool overwrite = false;   ///< `file`; nothing else is ever overwritten
  std::int64_t frames = 0;  ///< maximum number of frames of a recording; 0: no limit
  /// Opens a file of that name for the source's frames. Throws Error.
  std::function<io::Writer(const std::string& name, io::Overwrite overwrite)> open;
};

/// Records frames into successive files at the user's request. Each is completed on a thread of its own.
/// Events are logged, and reported by take_news(). Thread-safe except for begin() and serve(), which belong
/// to the thread that reads the source, because io::Writer takes the properties of the source from the
/// reader.
class Recorder : NotCopyable {
 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  /// Removes an unfinished recording.
  ~Recorder() = default;

  /// Opens the first recording. Throws Error.
  void begin();
  /// Requests a recording, or ends the current one. Returns a short message for the user.
  std::string toggle();
  /// Opens the recording that has been asked for, if any.
  void serve();
  bool is_recording() const;
  /// Offers a frame in host memory to the recording, as FrameSink::offer() does. Reports recordings that have
  /// ended.
  void offer(const Frame& frame, const std::string& filter = "");
  /// Reports recordings that have ended.
  void report_ended();
  /// Sound of the source.
  void offer(std::shared_ptr<io::Packet> packet);

  /// "REC 0:12 3.4 MB", the outcome of the last recording, or nothing.
  std::string status() const;
  /// The next event since the last call; without text if there is none.
  News take_news();
  /// True if the last recording has failed.
  bool has_failed() const;

  /// Ends recording and completes all files. A second caller waits until that is done. Throws the first
  /// failure of all recordings.
  void finish();

 private:
  struct Recording {
    Recording(std::string file, io::Writer writer) : name(std::move(file)), sink(std::move(writer)) {}
    const std::string name;
    FrameSink sink;
    std::int64_t frames = 0;  ///< offered so far
  };
  using Recordings = std::vector<std::shared_ptr<Recording>>;

  // All below with the mutex held.
  std::string next_name() const;
  bool is_taken(const std::string& name) const;
  void collect(bool warns);
  void tell_end(Recording& recording, bool warns);
  void tell_failure(const std::string& text, std::exception_ptr failure, bool warns);

  const RecorderOptions options_;
  mutable std::mutex mutex_;
  bool asked_ = false;  ///< for a recording that isn't open yet
  bool finished_ = false;
  std::shared_ptr<Recording> current_;
  Recordings ending_;  ///< closed or failed, and not reported yet
  bool has_failed_ = false;
  std::exception_ptr failure_;  ///< the first of all
  std::deque<News> news_;
};

}  // namespace limpid::app
