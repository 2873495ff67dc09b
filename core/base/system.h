// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

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

/// Bytes of memory in this machine.
std::uint64_t physical_memory();

/// Bytes of memory that this process may use: physical_memory() or, on Linux, the lower limit of a control
/// group such as a container's.
std::uint64_t usable_memory();

/// The number of processors that this process may use, at least 1: those of its affinity mask, on Linux
/// limited by cgroup_processors().
int processors();

/// The name of the first processor's model, or "CPU" if the system does not report it.
std::string processor_name();

// Texts are in UTF-8 on all systems. Paths of the system may be in UTF-16 (Windows).

/// The path that a text in UTF-8 names.
inline std::filesystem::path path_of(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

/// A path in UTF-8.
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

// Limits of Linux's control groups (cgroups), versions 1 and 2.

/// The CPU time that control groups grant this process, in processors: the least quota divided by its period,
/// rounded up, over the process's group and all its parents. Nothing without a quota. `root`: the folder that
/// contains proc and the mount points, for tests.
std::optional<int> cgroup_processors(const std::filesystem::path& root = "/");

/// Bytes of memory that control groups grant this process; nothing without a limit. In a container the group
/// is the container's own.
std::optional<std::uint64_t> cgroup_memory();

}  // namespace limpid
