// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "app/options/command_line.h"

namespace limpid::app {

/// Assigns `arguments`, which follow the name of `command`, to its options. Throws UsageError for an unknown
/// option, for long names with one dash, for values that are missing or attached to a short name, and for a
/// second -o; the message names the option to use. Warns of each other option that is repeated without need.
/// `program` is "limpid", or empty for a command of its own.
GivenArguments read_arguments(const std::vector<std::string>& arguments, const CommandText& command,
                              const std::string& program);

/// A sentence for a word of other programs that no option or command here replaces; empty for other words.
std::string foreign_advice(const std::string& word);

}  // namespace limpid::app
