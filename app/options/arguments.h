// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options/command_line.h"

namespace limpid::app {

/// An option of other programs, such as ffmpeg and HandBrake, and what replaces it here.
struct ForeignOption {
  std::string_view names;   ///< without dashes, separated by spaces
  std::string_view own;     ///< option of Limpid, perhaps with its value; empty: none
  std::string_view advice;  ///< sentence for commands without the option `own`
};

/// Null for other names. `name`: without dashes.
const ForeignOption* find_foreign_option(std::string_view name);

/// Assigns `arguments`, which follow the name of `command`, to its options. Throws UsageError for an unknown
/// option, for long names with one dash, for values that are missing or attached to a short name, and for a
/// second -o; the message names the option to use. Warns of each other option that is repeated without need.
/// `program` is "limpid", or empty for a command of its own.
GivenArguments read_arguments(const std::vector<std::string>& arguments, const CommandText& command,
                              const std::string& program);

}  // namespace limpid::app
