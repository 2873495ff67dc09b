// SPDX-License-Identifier: MIT
#include "app/player/recorder.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>

#include "app/console/quantity_text.h"
#include "core/base/error.h"

namespace limpid::app {
namespace {

std::string name_by_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "webcam-%Y-%m-%d-%H%M%S.mkv", &local);
  return text.data();
}

}  // namespace

bool Recorder::is_taken(const std::string& name) const {
  std::error_code ignored;
  return std::filesystem::exists(name, ignored) ||
         std::any_of(ending_.begin(), ending_.end(), [&](const auto& other) { return other->name == name; });
}

std::string Recorder::next_name() const {
  const std::filesystem::path first = options_.file.empty() ? name_by_time() : options_.file;
  std::string name = first.string();
  for (int number = 2; is_taken(name); ++number) {
    name = (first.parent_path() /
            fmt::format("{}-{}{}", first.stem().string(), number, first.extension().string()))
               .string();
  }
  return name;
}

void Recorder::begin() {
  const io::Overwrite overwrite = options_.overwrite ? io::Overwrite::kAlways : io::Overwrite::kNever;
  current_ = std::make_shared<Recording>(options_.file, options_.open(options_.file, overwrite));
}

std::string Recorder::toggle() {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr) {
    current_->sink.close();
    ending_.push_back(std::exchange(current_, nullptr));
    return "recording ends";
  }
  if (asked_) {
    asked_ = false;
    return "not recording";
  }
  if (finished_) {
    return "";
  }
  if (io::is_written_straight(options_.file)) {
    return options_.file + ": takes one recording only";
  }
  asked_ = true;
  return "recording begins";
}

void Recorder::serve() {
  std::string name;
  {
    const std::scoped_lock lock(mutex_);
    if (!asked_) {
      return;
    }
    name = next_name();
  }
  std::shared_ptr<Recording> opened;
  std::exception_ptr failure;
  try {
    opened = std::make_shared<Recording>(name, options_.open(name, io::Overwrite::kNever));
  } catch (...) {
    failure = std::current_exception();
  }
  const std::scoped_lock lock(mutex_);
  if (!std::exchange(asked_, false)) {
    return;  // no longer requested: nothing remains of it
  }
  if (failure != nullptr) {
    return tell_failure("can't record", failure, true);
  }
  current_ = std::move(opened);
  has_failed_ = false;
  spdlog::info(fmt::format("recording to {}", name));
  news_.push_back({"recording to " + name, false});
}

void Recorder::offer(const Frame& frame, const std::string& filter) {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr && (options_.frames == 0 || current_->frames < options_.frames)) {
    ++current_->frames;
    current_->sink.offer(frame, filter);
  }
  collect(true);
}

bool Recorder::is_recording() const {
  const std::scoped_lock lock(mutex_);
  return current_ != nullptr;
}

void Recorder::report_ended() {
  const std::scoped_lock lock(mutex_);
  collect(true);
}

void Recorder::offer(std::shared_ptr<io::Packet> packet) {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr) {
    current_->sink.offer(std::move(packet));
  }
}

void Recorder::collect(bool warns) {
  if (current_ != nullptr && current_->sink.has_failed()) {
    ending_.push_back(std::exchange(current_, nullptr));
  }
  std::erase_if(ending_, [&](const auto& recording) {
    const bool has_ended = recording->sink.has_ended();
    if (has_ended) {
      tell_end(*recording, warns);
    }
    return has_ended;
  });
}

void Recorder::tell_end(Recording& recording, bool warns) {
  FrameSink& sink = recording.sink;
  const std::string& name = recording.name;
  try {
    sink.finish();
    sink.log_frames(name);
    news_.push_back({sink.written() > 0 ? fmt::format("recorded: {}, {}", name, time_text(sink.seconds()))
                                        : "nothing has been recorded",
                     false});
  } catch (...) {
    tell_failure("the recording has ended", std::current_exception(), warns);
  }
}

void Recorder::tell_failure(const std::string& text, std::exception_ptr failure, bool warns) {
  has_failed_ = true;
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    news_.push_back({fmt::format("{}: {}", text, error.what()), true});
    if (warns || failure_ != nullptr) {
      spdlog::warn(news_.back().text);
    }
  }
  if (failure_ == nullptr) {
    failure_ = std::move(failure);
  }
}

std::string Recorder::status() const {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr) {
    return recording_sign(current_->sink);
  }
  return has_failed_ ? "RECORDING FAILED" : ending_.empty() ? "" : "finishing the recording";
}

News Recorder::take_news() {
  const std::scoped_lock lock(mutex_);
  collect(true);
  News news;
  if (!news_.empty()) {
    news = std::move(news_.front());
    news_.pop_front();
  }
  return news;
}

bool Recorder::has_failed() const {
  const std::scoped_lock lock(mutex_);
  return has_failed_;
}

void Recorder::finish() {
  Recordings ending;
  {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    asked_ = false;
    if (current_ != nullptr) {
      current_->sink.close();
      ending_.push_back(std::exchange(current_, nullptr));
    }
    ending = ending_;
  }
  for (const std::shared_ptr<Recording>& recording : ending) {
    try {
      recording->sink.finish();
    } catch (...) {
      // collect() reports it.
    }
  }
  const std::scoped_lock lock(mutex_);
  collect(false);
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
}

}  // namespace limpid::app
