// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

// Limits of Linux's control groups (cgroups), versions 1 and 2.

namespace limpid {

/// The CPU time that control groups grant this process, in processors: the least quota divided by its period,
/// rounded up, over the process's group and all its parents. Nothing without a quota. `root`: the folder that
/// contains proc and the mount points, for tests.
std::optional<int> cgroup_processors(const std::filesystem::path& root = "/");

/// Bytes of memory that control groups grant this process; nothing without a limit. In a container the group
/// is the container's own.
std::optional<std::uint64_t> cgroup_memory();

}  // namespace limpid
