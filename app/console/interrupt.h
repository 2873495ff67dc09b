// SPDX-License-Identifier: MIT
#pragma once

#include <stop_token>
#include <thread>

namespace limpid::app {

/// Waits for SIGINT, SIGTERM and SIGHUP on its own thread. The first signal requests a stop; the second
/// removes temporary files and ends the process at once with exit code 130. Must be constructed before any
/// other thread starts, because threads inherit the blocked signals. Also ignores SIGPIPE and SIGXFSZ, so
/// that a closed pipe or an exceeded file size limit is an error of the write.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  InterruptWatch(InterruptWatch&&) = delete;
  InterruptWatch& operator=(InterruptWatch&&) = delete;
  ~InterruptWatch();

  std::stop_token stop() const { return stop_.get_token(); }
  bool interrupted() const { return stop_.stop_requested(); }

 private:
  void run(const std::stop_token& end);

  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace limpid::app
