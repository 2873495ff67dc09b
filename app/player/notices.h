// SPDX-License-Identifier: MIT
#pragma once

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "app/player/osd.h"

namespace limpid::app {

/// The short text over the picture that answers the user or reports news.
class Notices {
 public:
  using Time = std::chrono::steady_clock::time_point;

  const std::string& text() const { return text_; }
  /// Number of texts that have been shown.
  std::int64_t count() const { return count_; }

  void show(const std::string& text, Time now, bool long_enough_to_read = false) {
    ++count_;
    text_ = text;
    until_ = now + (long_enough_to_read ? kNewsTime : kNoticeTime);
  }
  /// A failure stays until dismiss(), and is not replaced by other news.
  void report(const News& news, Time now) {
    spdlog::debug(fmt::format("news: {}", news.text));
    if (news.is_failure || until_ != Time::max()) {
      text_ = news.text;
      until_ = news.is_failure ? Time::max() : now + kNewsTime;
    }
  }
  /// Removes a text whose time has passed. Returns true if it did.
  bool expire(Time now) {
    const bool expires = !text_.empty() && now >= until_;
    if (expires) {
      text_.clear();
      until_ = {};
    }
    return expires;
  }
  /// Removes a failure. Returns true if there was one.
  bool dismiss() { return until_ == Time::max() && expire(until_); }

 private:
  static constexpr std::chrono::milliseconds kNoticeTime{1500};
  static constexpr std::chrono::milliseconds kNewsTime{4000};  // with the name of a file

  std::string text_;
  std::int64_t count_ = 0;
  Time until_;
};

}  // namespace limpid::app
