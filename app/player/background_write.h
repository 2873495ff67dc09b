// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"

namespace limpid::app {

/// A run of `limpid denoise` in a process of its own. Belongs to one thread.
class BackgroundWrite : NotCopyable {
 public:
  /// Starts `command`, whose first word is the path of the program. Throws Error.
  explicit BackgroundWrite(std::vector<std::string> command);
  /// Cancels the process unless it has ended or is left alone, and waits a second for its end.
  ~BackgroundWrite();

  /// Ends the process as Ctrl-C does; its output so far is kept as `limpid denoise` does.
  void cancel();
  /// The process continues after this object.
  void leave_alone() { left_alone_ = true; }
  /// Reads the progress. The exit code, once the process has ended.
  std::optional<int> poll();
  /// 0 to 1.
  double progress() const { return progress_; }
  /// The last line that the process has logged.
  const std::string& message() const { return message_; }

 private:
  void read();
  void take_line(const std::string& line);

  struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }  // NOLINT(cppcoreguidelines-owning-memory)
  };

  pid_t process_ = 0;
  std::unique_ptr<std::FILE, FileCloser> log_;  ///< not a pipe, which the process must not outlive
  off_t read_ = 0;                              ///< bytes of it
  bool left_alone_ = false;
  std::string unread_;
  std::string message_;
  double progress_ = 0;
  std::optional<int> exit_code_;
};

/// STEM + EXTENSION, or STEM-2 + EXTENSION and so on: the first path that no file has yet.
std::string free_path(const std::string& stem, const std::string& extension);

/// A path for the result of `input` beside it, "clip-denoised.mkv", that no file has yet.
std::string free_output(const std::string& input);

}  // namespace limpid::app
