// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

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
  std::stop_source stop_;
  std::stop_source abandon_;
  std::jthread thread_;
};

/// The private resident memory of this process and its open descriptors, from /proc.
std::int64_t resident_bytes();
std::int64_t open_files();
/// True if other programs use so much of the processors that this one is slower.
bool are_processors_shared();
/// Memory that programs could have without swapping, from /proc; 0 if unknown.
std::int64_t available_memory();

/// Prepares the standard streams: UTF-8 and bytes as they are (Windows; elsewhere nothing is to be done).
void set_up_console();
/// The words of the command line in UTF-8, the program first.
std::vector<std::string> words_of_command(int argc, char** argv);
/// The folder of the user for what programs keep between runs, or can make again; empty if it is not known.
std::string state_folder();
std::string cache_folder();
/// Columns of the terminal that shows standard error; 80 if it is none.
std::size_t terminal_width();

/// Another program that runs beside this one and may continue after it. Its standard error goes to a
/// temporary file, not to a pipe, which it must not outlive.
class ChildProcess : NotCopyable {
 public:
  /// Starts `command`, whose first word is the path of the program. Throws Error.
  explicit ChildProcess(std::vector<std::string> command);
  ~ChildProcess();

  /// Interrupts the process as Ctrl-C does.
  void interrupt() const;
  /// The exit code, once the process has ended.
  std::optional<int> poll();
  /// Descriptor of the file that has the process's standard error.
  int log() const;

 private:
  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }  // NOLINT(cppcoreguidelines-owning-memory)
  };

  std::intptr_t process_ = 0;  ///< number or handle
  std::unique_ptr<std::FILE, FileCloser> log_;
  std::optional<int> exit_code_;
};

}  // namespace limpid::app
