// SPDX-License-Identifier: MIT

#include "app/player/live_outputs.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "app/console/console.h"
#include "app/console/text.h"
#include "app/pipeline/pipeline.h"
#include "core/base/error.h"
#include "core/base/thread.h"
#include "io/media/camera.h"

namespace limpid::app {
namespace {

constexpr std::chrono::milliseconds kBetweenAttempts{200};

}  // namespace

LiveSource::LiveSource(Options options, Engine& engine)
    : options_(std::move(options)),
      reader_(open_first()),
      // Cameras and screens deliver frames when it is time for them; libavfilter's sources do not wait.
      needs_pace_(options_.reader.input_format == "lavfi"),
      // Any filter may be chosen while it plays.
      fields_(options_.fields, {.before = 1, .after = 1}, engine) {}

std::unique_ptr<io::Reader> LiveSource::open_first() const {
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

std::string LiveSource::trouble() const {
  const std::scoped_lock lock(mutex_);
  return trouble_;
}

void LiveSource::set_trouble(std::string text) {
  const std::scoped_lock lock(mutex_);
  trouble_ = std::move(text);
}

io::Reader::Item LiveSource::read(const std::function<void()>& while_gone) {
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

void LiveSource::wait_for(const Frame& frame) {
  const std::chrono::duration<double> time(io::presentation_time(frame).value_or(0));
  const auto in_clock = std::chrono::duration_cast<Clock::duration>(time);
  zero_ = zero_.value_or(Clock::now() - in_clock);
  std::this_thread::sleep_until(*zero_ + in_clock);
}

// Waits until the camera is back. False at an interrupt.
bool LiveSource::reopen(const std::function<void()>& while_gone) {
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

namespace {

// A second's hiccup of the encoder or the disk is bridged at most rates.
constexpr std::size_t kQueuedFrames = 30;

std::string name_by_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "webcam-%Y-%m-%d-%H%M%S.mkv", &local);
  return text.data();
}

/// Waits until all are complete. LiveOutput::collect() reports their failures.
void wait_for(const std::vector<std::shared_ptr<FrameSink>>& sinks) {
  for (const std::shared_ptr<FrameSink>& sink : sinks) {
    try {
      sink->finish();
    } catch (...) {
      continue;
    }
  }
}

}  // namespace

FrameSink::FrameSink(std::string name, io::Writer writer)
    : name_(std::move(name)),
      writer_(std::move(writer)),
      queue_(kQueuedFrames),
      thread_(start_thread([this] { run(); })) {}

FrameSink::~FrameSink() {
  if (!closed_) {
    queue_.cancel();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void FrameSink::run() {
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

void FrameSink::write_all() {
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
void FrameSink::finish_in_time() {
  if (writer_.drain()) {
    return writer_.finish();
  }
  const std::int64_t left = written_ - writer_.frames_written();
  throw Error(fmt::format("interrupted: {} lacks {} frames that the encoder had not finished in time",
                          writer_.finish_partial(), left));
}

void FrameSink::fail(std::exception_ptr error) {
  queue_.cancel();
  error_ = std::move(error);
  failed_ = true;
}

std::exception_ptr FrameSink::keep_the_beginning(const Error& failure) {
  try {
    return std::make_exception_ptr(broken_off(writer_, failure.what()));
  } catch (const Error&) {
    return std::make_exception_ptr(failure);
  } catch (...) {  // out of memory: nothing may leave the thread
    return std::current_exception();
  }
}

void FrameSink::offer(const Frame& frame, const std::string& filter) {
  ++offered_;
  if (!queue_.try_push(frame)) {
    ++dropped_;
  } else if (!filter.empty()) {
    const std::scoped_lock lock(counting_);
    ++filters_[filter];
  }
}

void FrameSink::offer(std::shared_ptr<io::Packet> packet) {
  constexpr std::size_t kNoCost = 0;  // packets are small
  queue_.try_push(std::move(packet), kNoCost);
}

void FrameSink::close() {
  closed_ = true;
  queue_.close();
}

void FrameSink::finish() {
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

std::string FrameSink::frames_text() const {
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

std::string FrameSink::sign() const {
  return failed_ ? "RECORDING FAILED"
                 : fmt::format("REC {} {:.1f} MB", time_text(seconds_, false),
                               static_cast<double>(writer_.bytes_written()) / 1e6);
}

bool LiveOutput::is_taken(const std::string& name) const {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored) ||
         std::any_of(ending_.begin(), ending_.end(),
                     [&](const auto& other) { return other->name() == name; });
}

std::string LiveOutput::next_name() const {
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

void LiveOutput::take(std::shared_ptr<FrameSink> opened) {
  current_ = std::move(opened);
  const std::string& name = current_->name();
  news_.push_back({options_.is_camera
                       ? fmt::format("loopback to {}: select the camera \"{}\" in the meeting program", name,
                                     printable(io::virtual_camera_name(name)))
                       : "recording to " + name,
                   false});
  spdlog::info(news_.back().text);
}

void LiveOutput::begin() {
  if (options_.begins) {
    const io::Overwrite overwrite = options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever;
    take(std::make_shared<FrameSink>(options_.name, options_.open(options_.name, overwrite)));
  }
}

std::string LiveOutput::toggle() {
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

void LiveOutput::serve() {
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

void LiveOutput::offer(const Frame& frame, const std::string& filter) {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr && (options_.frames == 0 || current_->offered() < options_.frames)) {
    current_->offer(frame, filter);
  }
  collect(true);
}

void LiveOutput::offer(std::shared_ptr<io::Packet> packet) {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr) {
    current_->offer(std::move(packet));
  }
}

void LiveOutput::report_ended() {
  const std::scoped_lock lock(mutex_);
  collect(true);
}

void LiveOutput::end_current() {
  if (current_ != nullptr) {
    current_->close();
    ending_.push_back(std::exchange(current_, nullptr));
  }
}

void LiveOutput::collect(bool warns) {
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

void LiveOutput::report_end(FrameSink& sink, bool warns) {
  try {
    sink.finish();
    spdlog::info(sink.frames_text());
    news_.push_back({options_.is_camera ? "loopback off"
                     : sink.written() > 0
                         ? fmt::format("recorded: {}, {}", sink.name(), time_text(sink.seconds()))
                         : "nothing has been recorded",
                     false});
  } catch (...) {
    report_failure("has ended", std::current_exception(), warns);
  }
}

void LiveOutput::report_failure(const std::string& event, std::exception_ptr failure, bool warns) {
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

bool LiveOutput::is_on() const {
  const std::scoped_lock lock(mutex_);
  return current_ != nullptr;
}

bool LiveOutput::has_failed() const {
  const std::scoped_lock lock(mutex_);
  return has_failed_;
}

std::string LiveOutput::last_name() const {
  const std::scoped_lock lock(mutex_);
  return last_name_;
}

std::string LiveOutput::status() const {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr) {
    return current_->sign();
  }
  return has_failed_ ? "RECORDING FAILED" : ending_.empty() ? "" : "finishing the recording";
}

News LiveOutput::take_news() {
  const std::scoped_lock lock(mutex_);
  collect(true);
  News news;
  if (!news_.empty()) {
    news = std::move(news_.front());
    news_.pop_front();
  }
  return news;
}

void LiveOutput::warn(const std::string& text) {
  spdlog::warn(text);
  const std::scoped_lock lock(mutex_);
  news_.push_back({text, true});
}

void LiveOutput::finish() {
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

void LiveOutputs::begin() {
  recorder_.begin();
  loopback_.begin();
}

void LiveOutputs::serve() {
  recorder_.serve();
  loopback_.serve();
}

void LiveOutputs::offer(const Frame& frame, const std::string& filter) {
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

bool LiveOutputs::work() const {
  const std::array<const LiveOutput*, 2> outputs{&recorder_, &loopback_};
  const auto is_requested = [](const LiveOutput* output) { return output->is_requested(); };
  return std::ranges::none_of(outputs, is_requested) ||
         std::ranges::any_of(outputs, [](const LiveOutput* output) {
           return output->is_requested() && !output->has_failed();
         });
}

News LiveOutputs::take_news() {
  News news = loopback_.take_news();
  return news.text.empty() ? recorder_.take_news() : news;
}

void LiveOutputs::finish(std::exception_ptr failure) {
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

}  // namespace limpid::app
