// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace limpid::app {

/// Exit codes of the program; documented in --help.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

/// The text with control characters replaced by escapes such as "\\x1b". Names of files and cameras may
/// contain them, and a terminal would execute them.
std::string printable(std::string_view text);

/// Standard error, shared by log lines and the progress line, which do not overwrite each other. Thread-safe.
class Console {
 public:
  Console();

  /// True if standard error is a terminal.
  bool is_terminal() const { return terminal_; }

  /// Prints a line. A visible status line moves below it.
  void print_line(std::string_view line);

  /// Shows a line that is rewritten in place, cut to the width of the terminal. An empty text removes it.
  /// Only for terminals.
  void set_status(std::string_view line);

  /// Turns the status line into an ordinary line.
  void keep_status();

 private:
  const bool terminal_;
  std::mutex mutex_;
  std::string status_;
};

}  // namespace limpid::app
