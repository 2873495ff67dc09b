#pragma once

#include <string>

#include "app/options/command_line.h"
#include "io/media/reader.h"

namespace limpid::app {

/// Seconds from "83.5", "1:23.5" or "0:01:23.5"; minutes and seconds after a colon are below 60. Throws
/// UsageError that names the option.
double parse_time(const std::string& option, const std::string& text);

/// --start and --end.
struct TimeOptions {
  std::string start;
  std::string end;

  void add_to(CommandLine& command, const std::string& group);
  /// Throws UsageError.
  void apply_to(io::ReaderOptions& reader) const;
};

}  // namespace limpid::app
