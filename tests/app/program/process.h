// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace limpid::test {

/// A file descriptor that is closed with its owner.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }
  int get() const { return descriptor_; }
  void close();

 private:
  int descriptor_ = -1;
};

struct ProcessOptions {
  std::filesystem::path input;  ///< what standard input reads; empty: /dev/null
  bool input_pipe = false;      ///< standard input is a pipe that write_input() writes to
  bool terminal = false;        ///< standard input and error are a terminal, to which write_input() types
};

struct Outcome {
  int exit_code = -1;  ///< 128 + the signal's number for a process ended by a signal
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// The reason why no terminal is available for ProcessOptions::terminal; empty if one is.
std::string problem_with_terminals();

/// A running program; killed by the destructor if it is still running.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  Process(Process&&) = delete;
  Process& operator=(Process&&) = delete;
  ~Process();

  void send_signal(int signal) const;
  void write_input(std::string_view text);
  void close_input();
  /// True if it has ended by itself; wait() returns the outcome.
  bool has_ended() const;
  /// Standard error so far.
  std::string err_so_far();
  /// Waits until standard error contains `text`; false after the timeout.
  bool wait_for_err(std::string_view text, std::chrono::seconds timeout = std::chrono::seconds(60));
  /// Waits until the JSON progress of the file `input`, or of any file if that is empty, reports at least
  /// `frames` frames. False after the timeout.
  bool wait_for_frames(std::string_view input = "", int frames = 1,
                       std::chrono::seconds timeout = std::chrono::seconds(60));
  /// Waits for the end; kills the process after the timeout.
  Outcome wait(std::chrono::seconds timeout = std::chrono::seconds(120));

 private:
  bool wait_until(const std::function<bool(const std::string& err)>& condition, std::chrono::seconds timeout);

  pid_t id_ = -1;
  FileDescriptor input_;
  FileDescriptor out_;
  FileDescriptor err_;
  FileDescriptor terminal_;
  std::mutex terminal_mutex_;
  std::string terminal_text_;
  std::jthread terminal_reader_;
};

/// Runs a program to its end.
Outcome run(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

/// True if the program exists and ends with exit code 0.
bool can_run(const std::vector<std::string>& command);

/// A command line with more arguments.
std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second);

}  // namespace limpid::test
