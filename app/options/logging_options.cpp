// SPDX-License-Identifier: MIT
#include "app/options/logging_options.h"

namespace limpid::app {

void add_logging_options(CommandLine& command, LoggingOptions& options, const std::string& group) {
  command
      .add_option("--log-level", options.level,
                  "Least severe messages to print: trace, debug, info, warning, error or off [info]")
      ->advanced()
      ->type_name("LEVEL")
      ->one_of({"trace", "debug", "info", "warning", "error", "off"})
      ->group(group);
  command.add_option("--log-file", options.file, "Write a log with times and debug messages to FILE")
      ->advanced()
      ->type_name("FILE")
      ->file()
      ->group(group);
}

}  // namespace limpid::app
