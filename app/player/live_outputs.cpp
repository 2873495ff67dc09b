// SPDX-License-Identifier: MIT
#include "app/player/live_outputs.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace limpid::app {

LiveOutputs::LiveOutputs(RecorderOptions recordings, bool loops_back, std::string device,
                         std::function<io::Writer(const std::string& device)> open_loopback,
                         std::shared_ptr<Engine> engine)
    : records_(!recordings.file.empty()),
      loops_back_(loops_back),
      recorder_(std::move(recordings)),
      loopback_(std::move(device), std::move(open_loopback)),
      engine_(std::move(engine)) {}

void LiveOutputs::begin() {
  if (records_) {
    recorder_.begin();
  }
  if (loops_back_) {
    loopback_.begin();
  }
}

void LiveOutputs::serve() {
  recorder_.serve();
  loopback_.serve();
}

void LiveOutputs::offer(const Frame& frame, const std::string& filter) {
  // An output that is opened meanwhile begins with the next frame.
  if (!recorder_.is_recording() && !loopback_.is_on()) {
    recorder_.report_ended();
    return;
  }
  const Frame on_host = engine_->in_host_memory(frame);
  recorder_.offer(on_host, filter);
  loopback_.offer(on_host);
}

bool LiveOutputs::work() const {
  return (!records_ && !loops_back_) || (records_ && !recorder_.has_failed()) ||
         (loops_back_ && !loopback_.has_failed());
}

void LiveOutputs::warn(const std::string& text) {
  spdlog::warn(text);
  const std::scoped_lock lock(mutex_);
  news_ = {text, true};
}

News LiveOutputs::take_news() {
  {
    const std::scoped_lock lock(mutex_);
    if (!news_.text.empty()) {
      return std::exchange(news_, {});
    }
  }
  News news = loopback_.take_news();
  return news.text.empty() ? recorder_.take_news() : news;
}

void LiveOutputs::finish(std::exception_ptr failure) {
  const auto guarded = [&failure](const auto& finish_one) {
    try {
      finish_one();
    } catch (...) {
      failure = failure == nullptr ? std::current_exception() : failure;
    }
  };
  guarded([this] { recorder_.finish(); });
  guarded([this] { loopback_.finish(); });
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

}  // namespace limpid::app
