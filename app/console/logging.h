// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/console/console.h"
#include "core/base/not_copyable.h"
#include "io/media/diagnostic.h"

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

/// A source that has been read, for messages.
struct ReadSource {
  std::string name;
  std::int64_t frames = 0;    ///< that were read
  std::int64_t expected = 0;  ///< 0 if not known
};

/// The message for the user about a diagnostic.
std::string sentence(const io::Diagnostic& diagnostic, const ReadSource& source);

/// Logs the diagnostics of a source and its output, after the source has been read: faults as warnings.
void warn_of_the_whole(const io::Diagnostics& diagnostics, const ReadSource& source);

/// Warns that memory ran out when `output` was complete under its name, so that only its report is missing.
void warn_of_missing_report(const std::string& output);

/// A predicate for the first diagnostic that --strict treats as an error, such as "has damaged frames"; empty
/// if there is none.
std::string strict_objection(const io::Diagnostics& diagnostics);

}  // namespace limpid::app
