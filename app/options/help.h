#pragma once

#include <string>

#include "app/options/command_line.h"

namespace limpid::app {

/// Width of help in columns.
inline constexpr std::size_t kHelpWidth = 100;

/// The help of `command`, with its advanced options if `all`. `program`: the name of its program; empty for
/// the program itself.
std::string help_text(const CommandText& command, const std::string& program, bool all);

/// `text` in lines of kHelpWidth columns. The first line starts at column `first`, the others at `indent`.
std::string wrapped(const std::string& text, std::size_t first, std::size_t indent);

}  // namespace limpid::app
