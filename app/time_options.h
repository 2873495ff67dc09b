#pragma once

#include <string>

#include "app/command_line.h"
#include "io/reader.h"

namespace limpid::app {

/// Seconds from "83.5", "1:23.5" or "0:01:23.5"; minutes and seconds after a colon are below 60. Throws
/// UsageError that names the option.
double parse_time(const std::string& option, const std::string& text);

/// "1:02.345" or "1:01:02.345"; without the fraction, which is cut off then, "1:02". Of a negative time that
/// of zero.
std::string time_text(double seconds, bool fraction = true);

/// --start and --end.
struct TimeOptions {
  std::string start;
  std::string end;

  void add_to(CommandLine& command, const std::string& group);
  /// Throws UsageError.
  void apply_to(io::ReaderOptions& reader) const;
};

}  // namespace limpid::app
