#include "app/options/logging_options.h"

namespace limpid::app {

void add_logging_options(CommandLine& command, LoggingOptions& options, const std::string& group) {
  command.add_option("--log-level", options.level, "trace, debug, info, warning, error or off [info]")
      ->type_name("LEVEL")
      ->group(group);
  command.add_option("--log-file", options.file, "Log to this file too, with times and debug messages")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace limpid::app
