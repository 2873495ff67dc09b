// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "app/options/command_line.h"

namespace limpid::app {

/// Width of help in columns.
inline constexpr std::size_t kHelpWidth = 100;

/// The help of `command`, with advanced options if `all`. `program`: the name of the program that has this
/// command; empty if `command` is the program.
std::string help_text(const CommandText& command, const std::string& program, bool all);

/// "limpid denoise [OPTION]... INPUT...".
std::string usage_line(const CommandText& command, const std::string& program);

/// `text` in lines of kHelpWidth columns. The first line starts in column `first`, the others in column
/// `indent`.
std::string wrapped(const std::string& text, std::size_t first, std::size_t indent);

}  // namespace limpid::app
