// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace limpid::app {

/// "1 frame", "70 frames".
std::string frames_text(std::int64_t count);

/// "830 bytes", "48.2 KB", "1.3 MB" or "12.0 GB", of 1000 units each.
std::string size_text(std::int64_t bytes);

/// Frames per second in two digits or more: "0.047", "5.3", "29.9", "250".
std::string rate_text(double fps);

/// A duration in words, rounded: "50 s", "15 min" or "2 h 10 min".
std::string duration_text(double seconds);

/// "1:02.345" or "1:01:02.345"; without the fraction, which is truncated, "1:02". Negative times count as
/// zero.
std::string time_text(double seconds, bool fraction = true);

/// The text in single quotes for a POSIX shell, which reads it back unchanged.
std::string shell_quoted(const std::string& text);

/// Words as one line for a POSIX shell, which reads them back unchanged. Plain words have no quotes.
/// Control characters are escaped, so that a terminal shows them.
std::string shell_line(const std::vector<std::string>& words);

/// The program's alone.
std::string version();

/// The version of the program, its build options and the machine's features, in a few lines.
std::string version_text();

}  // namespace limpid::app
