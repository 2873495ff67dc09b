// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/pipeline/bounded_queue.h"
#include "app/player/measurements.h"
#include "app/player/osd.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/engine/denoiser.h"
#include "core/engine/field_control.h"
#include "core/frame/frame.h"
#include "io/media/reader.h"
#include "io/media/writer.h"

namespace limpid::app {

/// A camera, or another source of live frames. Waits for a camera that was unplugged, and opens it again. All
/// functions but trouble() belong to the thread that reads, once it runs.
class LiveSource {
 public:
  struct Options {
    std::string name;          ///< of the device, or a filter graph
    io::ReaderOptions reader;  ///< with `interrupted`
    FieldChoice fields = FieldChoice::kAuto;
    /// The window lets the user choose another camera. Without one, a camera may be absent at the start.
    bool has_window = true;
  };

  /// Throws Error if the source cannot be opened, or if an interrupt ends the wait for it.
  LiveSource(Options options, Engine& engine);

  const io::Reader& reader() const { return *reader_; }

  /// The next item, when it is time for it. Calls `while_gone` regularly while the camera is gone. Throws
  /// Error if there is no window and the camera is back with other pictures.
  io::Reader::Item read(const std::function<void()>& while_gone);
  /// Says that the camera is gone, for the window; empty otherwise. On any thread.
  std::string trouble() const;

 private:
  using Clock = std::chrono::steady_clock;

  std::unique_ptr<io::Reader> open_first() const;
  void wait_for(const Frame& frame);
  bool reopen(const std::function<void()>& while_gone);
  void set_trouble(std::string text);

  const Options options_;
  std::unique_ptr<io::Reader> reader_;
  const Clock::time_point opened_at_ = Clock::now();
  const bool needs_pace_;
  std::optional<Clock::time_point> zero_;  ///< when the time of frames was 0, of a source that needs pace
  FieldControl fields_;
  mutable std::mutex mutex_;
  std::string trouble_;
};

/// The level of a microphone: the greatest sample of late, 0 to 1. Thread-safe for one writer.
class SoundLevel {
 public:
  /// The greatest sample of the next packet.
  void add(float peak) { level_ = std::max(peak, level_ * kFall); }
  float get() const { return level_; }

 private:
  static constexpr float kFall = 0.8F;
  std::atomic<float> level_ = 0;
};

/// Writes frames on a thread of its own and completes the file there. Callers never wait: frames that the
/// writer is too slow for are dropped and counted, and so are frames that are not encoded some seconds after
/// an interrupt. If writing fails, as on a full disk, the output so far is
/// completed at once by Writer::finish_partial(). Thread-safe.
class FrameSink : NotCopyable {
 public:
  FrameSink(std::string name, io::Writer writer);
  /// Without close() or finish() nothing is left of what was written.
  ~FrameSink();

  /// `filter`: a name for the filter of the frame, which frames_text() counts.
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
  bool has_failed() const { return failed_; }

  const std::string& name() const { return name_; }
  std::int64_t offered() const { return offered_; }
  std::int64_t written() const { return written_; }
  std::int64_t dropped() const { return dropped_; }
  /// Duration of the written video.
  double seconds() const { return seconds_; }
  /// Numbers of frames written and dropped, and of frames by filter if there were several.
  std::string frames_text() const;
  /// For the display over the picture: "REC 0:12 3.4 MB", or that it has failed.
  std::string sign() const;

 private:
  void run();
  void write_all();
  void finish_in_time();
  void fail(std::exception_ptr error);
  /// Returns the error to report.
  std::exception_ptr keep_the_beginning(const Error& failure);

  const std::string name_;
  io::Writer writer_;
  BoundedQueue<std::variant<Frame, std::shared_ptr<io::Packet>>> queue_;
  std::atomic<std::int64_t> offered_ = 0;
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

struct LiveOutputOptions {
  /// Name of the first recording; further ones are NAME-2.EXT and so on. Empty: all are named
  /// webcam-DATE-TIME.mkv, in the current directory. Of a virtual camera: its device; empty: the default one.
  std::string name;
  bool begins = false;      ///< with the source
  bool is_camera = false;   ///< a virtual camera instead of recordings
  bool overwrite = false;   ///< the first recording; nothing else is ever overwritten
  std::int64_t frames = 0;  ///< maximum number of frames of a recording; 0: no limit
  /// Opens an output of that name for the source's frames. Throws Error.
  std::function<io::Writer(const std::string& name, io::Overwrite overwrite)> open;
};

/// An output of a live source that the user switches on and off: recordings, each in a file of its own, or
/// the camera for other programs. Each recording is completed on a thread of its own. Events are logged, and
/// reported by take_news(). Thread-safe except for begin() and serve(), which belong to the thread that reads
/// the source, because io::Writer takes the properties of the source from the reader.
class LiveOutput : NotCopyable {
 public:
  explicit LiveOutput(LiveOutputOptions options) : options_(std::move(options)) {}
  /// Removes an unfinished recording.
  ~LiveOutput() = default;

  /// Opens the output if it begins with the source. Throws Error.
  void begin();
  /// Requests that the output begins, or ends it. Returns a short message for the user.
  std::string toggle();
  /// Opens the output that has been asked for, if any.
  void serve();
  /// Offers a frame in host memory, as FrameSink::offer() does.
  void offer(const Frame& frame, const std::string& filter = "");
  /// Audio of the source.
  void offer(std::shared_ptr<io::Packet> packet);
  /// Reports outputs that have ended.
  void report_ended();

  bool is_on() const;
  /// True if the last output has failed.
  bool has_failed() const;
  /// True if the output begins with the source.
  bool is_requested() const { return options_.begins; }
  /// Name of the output that finish() has ended; empty if there was none.
  std::string last_name() const;
  /// "REC 0:12 3.4 MB", the outcome of the last recording, or nothing.
  std::string status() const;
  /// The next event since the last call; without text if there is none.
  News take_news();
  /// Adds a warning to the log and to the events.
  void warn(const std::string& text);

  /// Ends the output and completes all files. A second caller waits until that is done. Throws the first
  /// failure of all outputs.
  void finish();

 private:
  using Sinks = std::vector<std::shared_ptr<FrameSink>>;

  // All below with the mutex held.
  void take(std::shared_ptr<FrameSink> opened);
  std::string next_name() const;
  bool is_taken(const std::string& name) const;
  void end_current();
  void collect(bool warns);
  void report_end(FrameSink& sink, bool warns);
  void report_failure(const std::string& event, std::exception_ptr failure, bool warns);

  const LiveOutputOptions options_;
  mutable std::mutex mutex_;
  bool asked_ = false;  ///< for an output that isn't open yet
  bool finished_ = false;
  std::string last_name_;
  std::shared_ptr<FrameSink> current_;
  Sinks ending_;  ///< closed or failed, and not reported yet
  bool has_failed_ = false;
  std::exception_ptr failure_;  ///< the first of all
  std::deque<News> news_;
};

/// The recordings and the virtual camera of a live source. If one fails, the other one and the window
/// continue.
class LiveOutputs {
 public:
  /// `engine`: of the frames.
  LiveOutputs(LiveOutputOptions recordings, LiveOutputOptions camera, std::shared_ptr<Engine> engine)
      : recorder_(std::move(recordings)), loopback_(std::move(camera)), engine_(std::move(engine)) {}

  LiveOutput& recorder() { return recorder_; }
  LiveOutput& loopback() { return loopback_; }

  /// Opens the outputs of the command line. Throws Error.
  void begin();
  /// Opens and closes outputs at the user's request. On the thread that reads the source.
  void serve();
  /// For a frame in the memory of the host or of the engine. On one thread.
  void offer(const Frame& frame, const std::string& filter);

  /// True if an output of the command line accepts frames, or the command line has no output. On any thread.
  bool work() const;
  /// The text for the window. On any thread.
  News take_news();

  /// Completes all files, even after failures, because the camera cannot deliver their frames again. Then
  /// throws `failure` or, without one, the first failure of an output. On any thread.
  void finish(std::exception_ptr failure);

 private:
  LiveOutput recorder_;
  LiveOutput loopback_;
  const std::shared_ptr<Engine> engine_;
};

}  // namespace limpid::app
