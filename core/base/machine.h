// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace limpid {

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

}  // namespace limpid
