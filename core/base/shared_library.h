// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

// Shared libraries that are loaded at run time (Windows: DLLs).

namespace limpid {

/// The file that contains this code: the program or, in a host such as an interpreter, a shared library.
/// Empty if it is not known.
std::filesystem::path own_file();

/// Loads a shared library for the rest of the process, and returns its handle. Throws an Error that names the
/// file and the reason.
void* load_library(const std::filesystem::path& file);

/// The address of a function that a library exports, or null. `library`: a handle of the system.
void* find_function(void* library, const char* name);

/// The value of an environment variable in UTF-8, or an empty text. Linux: empty in programs with more
/// privileges than their caller (set-user-ID).
std::string trusted_variable(const char* name);

/// The character between the folders of an environment variable.
inline constexpr char kFolderSeparator = std::filesystem::path::preferred_separator == '/' ? ':' : ';';

}  // namespace limpid
