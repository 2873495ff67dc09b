// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/console/console.h"
#include "core/base/not_copyable.h"

namespace limpid::app {

struct LoggingOptions {
  std::string level = "info";  ///< trace, debug, info, warning, error or off
  std::string file;            ///< file for log messages with times; empty: none
};

/// Makes spdlog's default logger write to `console`, errors as "limpid: ...", warnings as "limpid: warning:
/// ...". Routes FFmpeg's messages into it: errors and warnings at level debug, as an Error reports the
/// relevant ones to the user, others at level trace. The log file contains debug messages even if the console
/// does not. Throws UsageError for an unknown level and Error if the file cannot be written.
///
/// Messages must be passed to spdlog as complete strings (fmt::format()): formatting in spdlog adds four
/// seconds to the compile time of each file.
void set_up_logging(Console& console, const LoggingOptions& options);

/// Records the warnings that any thread logs during its lifetime, whether or not the console shows them.
/// Requires set_up_logging(). Other threads may log during construction and destruction.
class WarningRecorder : NotCopyable {
 public:
  WarningRecorder();
  ~WarningRecorder();

  std::vector<std::string> warnings() const;

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
};

/// Logs each text as a warning.
void log_warnings(const std::vector<std::string>& warnings);

}  // namespace limpid::app
