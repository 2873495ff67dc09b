// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace limpid::app {

/// A name for this process that no other process on any machine has. Used in names of files.
const std::string& process_name();

/// Writes the whole text to a file. Returns false and sets errno on failure.
bool write_all(int descriptor, std::string_view text);

/// Writes or replaces a file atomically: after a power cut and for other processes, it has either its old or
/// its new content. Throws Error.
void write_durably(const std::string& path, const std::string& text);

/// STEM + EXTENSION, or STEM-2 + EXTENSION and so on: the first path that no file has yet.
std::string free_path(const std::string& stem, const std::string& extension);

}  // namespace limpid::app
