// SPDX-License-Identifier: MIT
#include "app/player/live_source.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <thread>
#include <utility>
#include <variant>

#include "core/base/error.h"
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

}  // namespace limpid::app
