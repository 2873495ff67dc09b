// SPDX-License-Identifier: MIT
#pragma once

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
#include "core/frame/frame.h"
#include "io/media/writer.h"

namespace limpid::app {

struct RecorderOptions {
  /// Of the first recording; the further ones are called NAME-2.EXT and so on. Empty: all are called
  /// webcam-DATE-TIME.mkv, in the current directory.
  std::string file;
  bool overwrite = false;  ///< `file`; nothing else is ever overwritten
  /// Opens a file of that name for the source's frames. Throws Error.
  std::function<io::Writer(const std::string& name, io::Overwrite overwrite)> open;
};

/// Records frames into one file after the other, as the user asks. Each is completed on a thread of its own.
/// What happens is logged, and told by take_news(). Thread-safe, but for begin() and serve(), which belong to
/// the thread that reads the source: io::Writer takes what it has to know of it from the reader.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;
  /// Without finish() nothing is left of what is being recorded.
  ~Recorder() = default;

  /// Opens the first recording. Throws Error.
  void begin();
  /// Asks for a recording, or ends the one that has been asked for. Returns a few words on that.
  std::string toggle();
  /// Opens the recording that has been asked for, if any.
  void serve();
  /// As FrameSink::offer().
  void offer(const Frame& frame, const std::string& filter = "");

  /// "REC 0:12 3.4 MB", what has become of the last recording, or nothing.
  std::string status() const;
  /// What has happened since, one at a time; no text if nothing has.
  News take_news();
  /// Whether the last recording has failed.
  bool has_failed() const;

  /// Ends for good and completes all files; who calls it meanwhile waits until that is done. Throws the first
  /// failure of all recordings.
  void finish();

 private:
  struct Recording {
    Recording(std::string file, io::Writer writer) : name(std::move(file)), sink(std::move(writer)) {}
    const std::string name;
    FrameSink sink;
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
  Recordings ending_;  ///< closed or failed, and not told yet
  bool has_failed_ = false;
  std::exception_ptr failure_;  ///< the first of all
  std::deque<News> news_;
};

}  // namespace limpid::app
