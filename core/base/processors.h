// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

namespace limpid {

/// The number of processors that this process may use, at least 1: those of its affinity mask, limited by
/// cgroup_processors().
int processors();

/// The CPU time that control groups (cgroups, versions 1 and 2) grant this process, in processors: the least
/// quota divided by its period, rounded up, over the process's group and all its parents. Nothing without a
/// quota. `root`: the folder that contains proc and the mount points, for tests.
std::optional<int> cgroup_processors(const std::filesystem::path& root = "/");

}  // namespace limpid
