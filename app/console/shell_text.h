// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace limpid::app {

/// The text in single quotes for a POSIX shell, which reads it back unchanged.
std::string shell_quoted(const std::string& text);

/// Words as one line for a POSIX shell, which reads them back unchanged. Plain words have no quotes.
/// Control characters are escaped, so that a terminal shows them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace limpid::app
