// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <stop_token>
#include <thread>

#include "core/base/not_copyable.h"

namespace limpid::app {

enum class Interrupts : std::uint8_t {
  kFinish,  ///< the first signal requests a stop
  kEnd,     ///< the first signal ends the process, as for commands whose results come at their end
};

/// Waits for SIGINT, SIGTERM and SIGHUP on its own thread, except for those that the process ignores, as
/// under nohup. The first signal requests a stop, and three seconds later that unfinished work is abandoned;
/// the second removes temporary files and ends the process at once with exit code 130, as the first does with
/// Interrupts::kEnd. Must be constructed before any other thread starts, because threads inherit the blocked
/// signals. Also ignores SIGXFSZ and, except with kEnd, SIGPIPE, so that an exceeded file size limit or a
/// closed pipe is an error of the write.
class InterruptWatch : NotCopyable {
 public:
  explicit InterruptWatch(Interrupts interrupts = Interrupts::kFinish);
  ~InterruptWatch();

  std::stop_token stop() const { return stop_.get_token(); }
  /// Requested when the work in progress at the stop has taken too long and must be dropped.
  std::stop_token abandon() const { return abandon_.get_token(); }
  bool interrupted() const { return stop_.stop_requested(); }
  /// The exit code of a process that the signal has ended: 130, 143 or 129.
  int exit_code() const { return kSignalExit + signal_; }

 private:
  void run(const std::stop_token& end);

  static constexpr int kSignalExit = 128;

  const Interrupts interrupts_;
  std::atomic<int> signal_ = SIGINT;  ///< the first one
  sigset_t signals_;                  ///< those that are not ignored
  std::stop_source stop_;
  std::stop_source abandon_;
  std::jthread thread_;
};

/// The private resident memory of this process and its open descriptors, from /proc.
std::int64_t resident_bytes();
std::int64_t open_files();
/// Memory that programs could have without swapping, from /proc; 0 if unknown.
std::int64_t available_memory();

}  // namespace limpid::app
