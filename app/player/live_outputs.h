// SPDX-License-Identifier: MIT
#pragma once

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/console/console.h"
#include "app/console/text.h"
#include "app/pipeline/pipeline.h"
#include "app/player/measurements.h"
#include "app/player/osd.h"
#include "core/base/error.h"
#include "core/base/not_copyable.h"
#include "core/base/thread.h"
#include "core/engine/denoiser.h"
#include "core/frame/frame.h"
#include "core/stream/bounded_queue.h"
#include "core/stream/noise_control.h"
#include "io/media/camera.h"
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
  LiveSource(Options options, Engine& engine)
      : options_(std::move(options)),
        reader_(open_first()),
        // Cameras and screens deliver frames when it is time for them; libavfilter's sources do not wait.
        needs_pace_(options_.reader.input_format == "lavfi"),
        // Any filter may be chosen while it plays.
        fields_(options_.fields, {.before = 1, .after = 1}, engine) {}

  const io::Reader& reader() const { return *reader_; }

  /// The next item, when it is time for it. Calls `while_gone` regularly while the camera is gone. Throws
  /// Error if there is no window and the camera is back with other pictures.
  io::Reader::Item read(const std::function<void()>& while_gone) {
    io::Reader::Item item = reader_->read();
    while (std::holds_alternative<io::Reader::End>(item) && !needs_pace_ && reopen(while_gone)) {
      item = reader_->read();
    }
    if (Frame* const frame = std::get_if<Frame>(&item)) {
      if (needs_pace_) {
        wait_for(*frame);
      }
      fields_.decide(*frame);
    }
    return item;
  }
  /// Says that the camera is gone, for the window; empty otherwise. On any thread.
  std::string trouble() const {
    const std::scoped_lock lock(mutex_);
    return trouble_;
  }

 private:
  static constexpr std::chrono::milliseconds kBetweenAttempts{200};

  using Clock = std::chrono::steady_clock;

  std::unique_ptr<io::Reader> open_first() const {
    const auto is_absent = [this] {
      return !options_.has_window && options_.reader.input_format == "v4l2" &&
             !io::is_video_device_present(options_.name);
    };
    if (is_absent()) {
      spdlog::warn(
          fmt::format("{}: there is no such camera yet; waiting until it is plugged in", options_.name));
    }
    while (is_absent()) {
      if (options_.reader.interrupted()) {
        throw Error(options_.name + ": interrupted while waiting for the camera");
      }
      std::this_thread::sleep_for(kBetweenAttempts);
    }
    return std::make_unique<io::Reader>(options_.name, options_.reader);
  }
  void wait_for(const Frame& frame) {
    const std::chrono::duration<double> time(io::presentation_time(frame).value_or(0));
    const auto in_clock = std::chrono::duration_cast<Clock::duration>(time);
    zero_ = zero_.value_or(Clock::now() - in_clock);
    std::this_thread::sleep_until(*zero_ + in_clock);
  }
  /// Waits until the camera is back. False at an interrupt.
  bool reopen(const std::function<void()>& while_gone) {
    if (options_.reader.interrupted()) {
      return false;
    }
    spdlog::warn(fmt::format("{}: the source is gone: {}; waiting until it is back", options_.name,
                             text_of(reader_->diagnostics(), io::Diagnostic::Kind::kFailure)));
    set_trouble(options_.name + " is gone: waiting for it");
    reader_->end_sound();  // for the next reader
    while (!options_.reader.interrupted()) {
      std::this_thread::sleep_for(kBetweenAttempts);
      while_gone();
      std::unique_ptr<io::Reader> next;
      try {
        io::ReaderOptions again = options_.reader;
        again.first_time =
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - opened_at_).count();
        next = std::make_unique<io::Reader>(options_.name, again);
      } catch (const Error& error) {
        spdlog::debug(fmt::format("{}: not back yet: {}", options_.name, error.what()));
        continue;
      }
      if (next->video().format != reader_->video().format) {
        const std::string text =
            fmt::format("{}: is back with {} instead of {}; start again", options_.name,
                        limpid::to_string(next->video().format), limpid::to_string(reader_->video().format));
        if (!options_.has_window) {
          throw Error(text);
        }
        set_trouble(text);
        continue;
      }
      reader_ = std::move(next);
      fields_.reset();
      set_trouble("");
      spdlog::info(fmt::format("{}: the source is back", options_.name));
      return true;
    }
    return false;
  }
  void set_trouble(std::string text) {
    const std::scoped_lock lock(mutex_);
    trouble_ = std::move(text);
  }

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
  FrameSink(std::string name, io::Writer writer)
      : name_(std::move(name)),
        encoder_(writer.codec_with_preset()),
        writer_(std::move(writer)),
        queue_(kQueuedFrames),
        thread_(start_thread([this] { run(); })) {}
  /// Without close() or finish() nothing is left of what was written.
  ~FrameSink() {
    if (!closed_) {
      queue_.cancel();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  /// `filter`: a name for the filter of the frame, which frames_text() counts.
  void offer(const Frame& frame, const std::string& filter = "") {
    ++offered_;
    if (!queue_.try_push(frame)) {
      ++dropped_;
    } else if (!filter.empty()) {
      const std::scoped_lock lock(counting_);
      ++filters_[filter];
    }
  }
  /// A packet of another stream of the source. Packets are small, so none is dropped while frames are taken.
  void offer(std::shared_ptr<io::Packet> packet) {
    constexpr std::size_t kNoCost = 0;  // packets are small
    queue_.try_push(std::move(packet), kNoCost);
  }
  /// Takes no more frames: what has been offered is written and the file completed.
  void close() {
    closed_ = true;
    queue_.close();
  }
  /// Closes the sink and waits until the file is complete. Several threads may call it. Warns of properties
  /// of later frames that the file cannot store. Throws the error of writing, with the name of the partial
  /// output.
  void finish() {
    close();
    const std::scoped_lock lock(finishing_);
    if (thread_.joinable()) {
      thread_.join();
      for (const io::Diagnostic& diagnostic : writer_.diagnostics()) {
        if (diagnostic.kind == io::Diagnostic::Kind::kLateLoss) {
          spdlog::warn(diagnostic.text);
        }
      }
    }
    if (failed_) {
      std::rethrow_exception(error_);
    }
  }
  /// True if finish() does not wait: the file is complete, or writing has failed.
  bool has_ended() const { return ended_; }
  bool has_failed() const { return failed_; }

  const std::string& name() const { return name_; }
  /// The encoder and its preset, such as "libx264, preset veryfast".
  const std::string& encoder() const { return encoder_; }
  std::int64_t offered() const { return offered_; }
  std::int64_t written() const { return written_; }
  std::int64_t dropped() const { return dropped_; }
  /// Duration of the written video.
  double seconds() const { return seconds_; }
  /// Numbers of frames written and dropped, and of frames by filter if there were several.
  std::string frames_text() const {
    std::string text = fmt::format("{} frames to {}", written_.load(), name_);
    if (dropped_ > 0) {
      text += fmt::format(", {} dropped as it was too slow", dropped_.load());
    }
    const std::scoped_lock lock(counting_);
    if (filters_.size() > 1) {
      text += fmt::format(" ({})", to_text(filters_));
    }
    return text;
  }
  /// For the display over the picture: "REC 0:12 3.4 MB", or that it has failed.
  std::string sign() const {
    return failed_ ? "RECORDING FAILED"
                   : fmt::format("REC {} {:.1f} MB", time_text(seconds_, false),
                                 static_cast<double>(writer_.bytes_written()) / 1e6);
  }

 private:
  // A second's hiccup of the encoder or the disk is bridged at most rates.
  static constexpr std::size_t kQueuedFrames = 30;

  void run() {
    try {
      write_all();
    } catch (const Error& error) {
      fail(written_ > 0 ? keep_the_beginning(error) : std::current_exception());
    } catch (...) {
      fail(std::current_exception());
    }
    if (closed_ && !failed_ && written_ > 0) {
      try {
        finish_in_time();
      } catch (const io::DiskFull& error) {
        fail(keep_the_beginning(error));
      } catch (...) {
        fail(std::current_exception());
      }
    }
    ended_ = true;
  }
  void write_all() {
    double begin = 0;
    while (const auto item = queue_.pop()) {
      const Frame* const frame = std::get_if<Frame>(&*item);
      if (frame == nullptr) {
        writer_.write(*std::get<std::shared_ptr<io::Packet>>(*item));
        continue;
      }
      writer_.write(*frame);
      const double time = io::presentation_time(*frame).value_or(0);
      begin = written_ == 0 ? time : begin;
      seconds_ = time - begin;
      ++written_;
    }
  }
  /// After an interrupt, what is encoded in time is kept.
  void finish_in_time() {
    if (writer_.drain()) {
      return writer_.finish();
    }
    const std::int64_t left = written_ - writer_.frames_written();
    throw Error(fmt::format("interrupted: {} lacks {} frames that the encoder had not finished in time",
                            writer_.finish_partial(), left));
  }
  void fail(std::exception_ptr error) {
    queue_.cancel();
    error_ = std::move(error);
    failed_ = true;
  }
  /// Returns the error to report.
  std::exception_ptr keep_the_beginning(const Error& failure) {
    try {
      return std::make_exception_ptr(broken_off(writer_, failure.what()));
    } catch (const Error&) {
      return std::make_exception_ptr(failure);
    } catch (...) {  // out of memory: nothing may leave the thread
      return std::current_exception();
    }
  }

  const std::string name_;
  const std::string encoder_;
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
  void begin() {
    if (options_.begins) {
      const io::Overwrite overwrite = options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever;
      take(std::make_shared<FrameSink>(options_.name, options_.open(options_.name, overwrite)));
    }
  }
  /// Requests that the output begins, or ends it. Returns a short message for the user.
  std::string toggle() {
    const std::scoped_lock lock(mutex_);
    const std::string output = options_.is_camera ? "loopback" : "recording";
    if (current_ != nullptr || asked_) {
      asked_ = false;
      end_current();
      return output + " ends";
    }
    if (finished_) {
      return "";
    }
    if (!options_.is_camera && io::is_written_straight(options_.name)) {
      return options_.name + ": takes one recording only";
    }
    asked_ = true;
    return output + " begins";
  }
  /// Opens the output that has been asked for, if any.
  void serve() {
    std::string name;
    Sinks before;
    {
      const std::scoped_lock lock(mutex_);
      if (!asked_) {
        return;
      }
      name = next_name();
      before = options_.is_camera ? ending_ : Sinks();
    }
    wait_for(before);  // a device accepts one program
    if (name.empty()) {
      name = io::default_virtual_camera();
    }
    std::shared_ptr<FrameSink> opened;
    std::exception_ptr failure;
    try {
      opened = std::make_shared<FrameSink>(name, options_.open(name, io::Overwrite::kNever));
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(asked_, false)) {
      return;  // no longer requested: nothing remains of it
    }
    if (failure != nullptr) {
      return report_failure("cannot begin", failure, true);
    }
    has_failed_ = false;
    take(std::move(opened));
  }
  /// Offers a frame in host memory, as FrameSink::offer() does.
  void offer(const Frame& frame, const std::string& filter = "") {
    const std::scoped_lock lock(mutex_);
    if (current_ != nullptr && (options_.frames == 0 || current_->offered() < options_.frames)) {
      current_->offer(frame, filter);
    }
    collect(true);
  }
  /// Audio of the source.
  void offer(std::shared_ptr<io::Packet> packet) {
    const std::scoped_lock lock(mutex_);
    if (current_ != nullptr) {
      current_->offer(std::move(packet));
    }
  }
  /// Reports outputs that have ended.
  void report_ended() {
    const std::scoped_lock lock(mutex_);
    collect(true);
  }

  bool is_on() const {
    const std::scoped_lock lock(mutex_);
    return current_ != nullptr;
  }
  /// True if the last output has failed.
  bool has_failed() const {
    const std::scoped_lock lock(mutex_);
    return has_failed_;
  }
  /// True if the output begins with the source.
  bool is_requested() const { return options_.begins; }
  /// The recordings that are complete.
  std::vector<Recording> recordings() const {
    const std::scoped_lock lock(mutex_);
    return recordings_;
  }
  /// Name of the output that finish() has ended; empty if there was none.
  std::string last_name() const {
    const std::scoped_lock lock(mutex_);
    return last_name_;
  }
  /// "REC 0:12 3.4 MB", the outcome of the last recording, or nothing.
  std::string status() const {
    const std::scoped_lock lock(mutex_);
    if (current_ != nullptr) {
      return current_->sign();
    }
    return has_failed_ ? "RECORDING FAILED" : ending_.empty() ? "" : "finishing the recording";
  }
  /// The next event since the last call; without text if there is none.
  News take_news() {
    const std::scoped_lock lock(mutex_);
    collect(true);
    News news;
    if (!news_.empty()) {
      news = std::move(news_.front());
      news_.pop_front();
    }
    return news;
  }
  /// Adds a warning to the log and to the events.
  void warn(const std::string& text) {
    spdlog::warn(text);
    const std::scoped_lock lock(mutex_);
    news_.push_back({text, true});
  }

  /// Ends the output and completes all files. A second caller waits until that is done. Throws the first
  /// failure of all outputs.
  void finish() {
    Sinks ending;
    {
      const std::scoped_lock lock(mutex_);
      finished_ = true;
      asked_ = false;
      last_name_ = current_ != nullptr ? current_->name() : last_name_;
      end_current();
      ending = ending_;
    }
    wait_for(ending);
    const std::scoped_lock lock(mutex_);
    collect(false);
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  static std::string name_by_time() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "webcam-%Y-%m-%d-%H%M%S.mkv", &local);
    return text.data();
  }
  /// Waits until all are complete. collect() reports their failures.
  static void wait_for(const std::vector<std::shared_ptr<FrameSink>>& sinks) {
    for (const std::shared_ptr<FrameSink>& sink : sinks) {
      try {
        sink->finish();
      } catch (...) {
        continue;
      }
    }
  }
  using Sinks = std::vector<std::shared_ptr<FrameSink>>;

  // All below with the mutex held.
  void take(std::shared_ptr<FrameSink> opened) {
    current_ = std::move(opened);
    const std::string& name = current_->name();
    news_.push_back({options_.is_camera
                         ? fmt::format("loopback to {}: select the camera \"{}\" in the meeting program",
                                       name, printable(io::virtual_camera_name(name)))
                         : fmt::format("recording to {}: {}", name, current_->encoder()),
                     false});
    spdlog::info(news_.back().text);
  }
  std::string next_name() const {
    if (options_.is_camera) {
      return options_.name;
    }
    const std::filesystem::path first = options_.name.empty() ? name_by_time() : options_.name;
    std::string name = first.string();
    for (int number = 2; is_taken(name); ++number) {
      name = (first.parent_path() /
              fmt::format("{}-{}{}", first.stem().string(), number, first.extension().string()))
                 .string();
    }
    return name;
  }
  bool is_taken(const std::string& name) const {
    std::error_code ignored;
    return std::filesystem::exists(name, ignored) ||
           std::any_of(ending_.begin(), ending_.end(),
                       [&](const auto& other) { return other->name() == name; });
  }
  void end_current() {
    if (current_ != nullptr) {
      current_->close();
      ending_.push_back(std::exchange(current_, nullptr));
    }
  }
  void collect(bool warns) {
    if (current_ != nullptr && current_->has_failed()) {
      end_current();
    }
    std::erase_if(ending_, [&](const auto& sink) {
      const bool has_ended = sink->has_ended();
      if (has_ended) {
        report_end(*sink, warns);
      }
      return has_ended;
    });
  }
  void report_end(FrameSink& sink, bool warns) {
    try {
      sink.finish();
      spdlog::info(sink.frames_text());
      recordings_.push_back({sink.name(), sink.encoder(), sink.written(), sink.dropped()});
      news_.push_back({options_.is_camera ? "loopback off"
                       : sink.written() > 0
                           ? fmt::format("recorded: {}, {}", sink.name(), time_text(sink.seconds()))
                           : "nothing has been recorded",
                       false});
    } catch (...) {
      report_failure("has ended", std::current_exception(), warns);
    }
  }
  void report_failure(const std::string& event, std::exception_ptr failure, bool warns) {
    has_failed_ = true;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      news_.push_back(
          {fmt::format("the {} {}: {}", options_.is_camera ? "loopback" : "recording", event, error.what()),
           true});
      if (warns || failure_ != nullptr) {
        spdlog::warn(news_.back().text);
      }
    }
    if (failure_ == nullptr) {
      failure_ = std::move(failure);
    }
  }

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
  std::vector<Recording> recordings_;
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
  void begin() {
    recorder_.begin();
    loopback_.begin();
  }
  /// Opens and closes outputs at the user's request. On the thread that reads the source.
  void serve() {
    recorder_.serve();
    loopback_.serve();
  }
  /// For a frame in the memory of the host or of the engine. On one thread.
  void offer(const Frame& frame, const std::string& filter) {
    // An output that is opened meanwhile begins with the next frame.
    if (!recorder_.is_on() && !loopback_.is_on()) {
      recorder_.report_ended();
      loopback_.report_ended();
      return;
    }
    const Frame on_host = engine_->in_host_memory(frame);
    recorder_.offer(on_host, filter);
    loopback_.offer(on_host);
  }

  /// True if an output of the command line accepts frames, or the command line has no output. On any thread.
  bool work() const {
    const std::array<const LiveOutput*, 2> outputs{&recorder_, &loopback_};
    const auto is_requested = [](const LiveOutput* output) { return output->is_requested(); };
    return std::ranges::none_of(outputs, is_requested) ||
           std::ranges::any_of(outputs, [](const LiveOutput* output) {
             return output->is_requested() && !output->has_failed();
           });
  }
  /// The text for the window. On any thread.
  News take_news() {
    News news = loopback_.take_news();
    return news.text.empty() ? recorder_.take_news() : news;
  }

  /// Completes all files, even after failures, because the camera cannot deliver their frames again. Then
  /// throws `failure` or, without one, the first failure of an output. On any thread.
  void finish(std::exception_ptr failure) {
    for (LiveOutput* const output : {&recorder_, &loopback_}) {
      try {
        output->finish();
      } catch (...) {
        failure = failure == nullptr ? std::current_exception() : failure;
      }
    }
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }

 private:
  LiveOutput recorder_;
  LiveOutput loopback_;
  const std::shared_ptr<Engine> engine_;
};

}  // namespace limpid::app
