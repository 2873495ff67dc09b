#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/console/console.h"

namespace limpid::app {

struct LoggingOptions {
  std::string level = "info";  ///< trace, debug, info, warning, error or off
  std::string file;            ///< also log here, with times; empty: no file
};

/// Makes spdlog's default logger write to `console`, errors as "limpid: ...", warnings as "limpid: warning:
/// ...", and routes FFmpeg's messages into it: its errors and warnings at level debug, since what matters of
/// them reaches the user as the sentence of an Error, the rest at level trace. The log file holds debug
/// messages even if the console doesn't. Throws UsageError for an unknown level and Error if the file can't
/// be written.
///
/// Messages are given to spdlog as whole strings (fmt::format()): where it formats them itself, each file
/// takes four seconds longer to compile.
void set_up_logging(Console& console, const LoggingOptions& options);

/// Gathers the warnings that are logged, by whatever thread, while it lives, whether or not the console shows
/// them. set_up_logging() comes first. Other threads may log while it is made or destroyed.
class WarningRecorder {
 public:
  WarningRecorder();
  WarningRecorder(const WarningRecorder&) = delete;
  WarningRecorder& operator=(const WarningRecorder&) = delete;
  WarningRecorder(WarningRecorder&&) = delete;
  WarningRecorder& operator=(WarningRecorder&&) = delete;
  ~WarningRecorder();

  std::vector<std::string> warnings() const;

 private:
  class Sink;
  std::shared_ptr<Sink> sink_;
};

/// Logs each as a warning.
void log_warnings(const std::vector<std::string>& warnings);

}  // namespace limpid::app
