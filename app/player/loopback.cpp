// SPDX-License-Identifier: MIT
#include "app/player/loopback.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

#include "app/console/console.h"
#include "io/media/virtual_camera.h"

namespace limpid::app {

void Loopback::begin() {
  if (device_.empty()) {
    device_ = io::default_virtual_camera();
  }
  auto opened = std::make_shared<FrameSink>(open_(device_));
  const std::scoped_lock lock(mutex_);
  sink_ = std::move(opened);
  failed_ = false;
  failure_ = nullptr;
  news_ = {fmt::format("loopback to {}: select the camera \"{}\" in the meeting program", device_,
                       printable(io::virtual_camera_name(device_))),
           false};
  spdlog::info(news_.text);
}

std::string Loopback::toggle() {
  const std::scoped_lock lock(mutex_);
  asked_ = !asked_;
  return (sink_ == nullptr) == asked_ ? "loopback begins" : "loopback ends";
}

void Loopback::serve() {
  std::shared_ptr<FrameSink> ended;
  {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(asked_, false)) {
      return;
    }
    ended = std::exchange(sink_, nullptr);
  }
  try {
    if (ended != nullptr) {
      end(ended, device_);
      tell("loopback off", false);
    } else {
      begin();
    }
  } catch (const std::exception& error) {
    tell(error.what(), true);
  }
}

void Loopback::tell(const std::string& text, bool is_failure) {
  spdlog::log(is_failure ? spdlog::level::warn : spdlog::level::info, text);
  const std::scoped_lock lock(mutex_);
  news_ = {text, is_failure};
}

void Loopback::end(const std::shared_ptr<FrameSink>& sink, const std::string& device) {
  sink->finish();
  sink->log_frames(device);
}

void Loopback::offer(const Frame& frame) {
  std::shared_ptr<FrameSink> failed;
  {
    const std::scoped_lock lock(mutex_);
    if (sink_ == nullptr) {
      return;
    }
    sink_->offer(frame);
    failed = sink_->has_failed() ? std::exchange(sink_, nullptr) : nullptr;
  }
  if (failed == nullptr) {
    return;
  }
  failed_ = true;
  try {
    failed->finish();
  } catch (const std::exception& error) {
    spdlog::warn(fmt::format("{} gets no more frames: {}", device_, error.what()));
    const std::scoped_lock lock(mutex_);
    news_ = {error.what(), true};
    failure_ = std::current_exception();
  }
}

bool Loopback::is_on() const {
  const std::scoped_lock lock(mutex_);
  return sink_ != nullptr;
}

News Loopback::take_news() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(news_, {});
}

void Loopback::finish() {
  std::shared_ptr<FrameSink> ended;
  {
    const std::scoped_lock lock(mutex_);
    ended = std::exchange(sink_, nullptr);
    was_on_ = ended != nullptr;
  }
  if (ended != nullptr) {
    end(ended, device_);
  }
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
}

}  // namespace limpid::app
