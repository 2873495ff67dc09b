// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/console/logging.h"
#include "app/options/command_line.h"

namespace limpid::app {

/// Adds --log-level and --log-file under the heading `group`. `command` keeps a reference to `options`.
void add_logging_options(CommandLine& command, LoggingOptions& options, const std::string& group);

}  // namespace limpid::app
