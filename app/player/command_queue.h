// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace limpid::app {

/// Commands to a thread, which runs them in order. Thread-safe.
class CommandQueue {
 public:
  using Command = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;

  void post(Command command) {
    const std::scoped_lock lock(mutex_);
    commands_.push_back(std::move(command));
    changed_.notify_one();
  }
  /// Ends a wait(), because another queue of the thread has changed.
  void wake() {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
    changed_.notify_one();
  }
  /// No further command is run.
  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_one();
  }

  /// Runs all commands. Returns false once the queue is closed.
  bool run() {
    for (;;) {
      Command command;
      {
        const std::scoped_lock lock(mutex_);
        if (is_closed_ || commands_.empty()) {
          return !is_closed_;
        }
        command = std::move(commands_.front());
        commands_.pop_front();
      }
      command();
    }
  }
  /// Waits for a command, wake() or close(), but not longer than until `end`.
  void wait(std::optional<Time> end = {}) {
    std::unique_lock lock(mutex_);
    const auto has_changed = [this] { return is_closed_ || is_woken_ || !commands_.empty(); };
    if (end) {
      changed_.wait_until(lock, *end, has_changed);
    } else {
      changed_.wait(lock, has_changed);
    }
    is_woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  bool is_woken_ = false;
  bool is_closed_ = false;
};

}  // namespace limpid::app
