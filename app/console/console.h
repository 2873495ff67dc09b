#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace limpid::app {

/// The text with its control characters, which the name of a file or a camera may have, as "\\x1b": a
/// terminal would obey them.
std::string printable(std::string_view text);

/// Standard error, shared by log lines and the progress line so that neither breaks the other. Thread-safe.
class Console {
 public:
  Console();

  /// True if standard error is a terminal.
  bool is_terminal() const { return terminal_; }

  /// Prints a line; a status line that is shown moves below it.
  void print_line(std::string_view line);

  /// Shows a line that is rewritten in place, cut to the width of the terminal; empty removes it. Only for
  /// terminals.
  void set_status(std::string_view line);

  /// Leaves the status line where it is as an ordinary line.
  void keep_status();

 private:
  const bool terminal_;
  std::mutex mutex_;
  std::string status_;
};

}  // namespace limpid::app
