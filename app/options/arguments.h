// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/options/command_line.h"

// Checks that CLI11 does not make: it splits -noise into the flags of its letters, and takes the next option
// for a missing value.

namespace limpid::app {

/// Checks the options in `arguments`, which follow the name of `command`, against its options. Throws
/// UsageError for an unknown option, for long names with one dash, for values that are missing or attached to
/// a short name, and for a second -o; the message names the option to use. Returns a warning for each other
/// option that is repeated without need. `program` is "limpid", or empty for a command of its own.
std::vector<std::string> check_arguments(const std::vector<std::string>& arguments,
                                         const CommandText& command, const std::string& program);

}  // namespace limpid::app
