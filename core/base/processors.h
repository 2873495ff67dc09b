// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid {

/// The number of processors that this process may use, at least 1: those of its affinity mask, on Linux
/// limited by cgroup_processors().
int processors();

/// The name of the first processor's model, or "CPU" if the system does not report it.
std::string processor_name();

}  // namespace limpid
