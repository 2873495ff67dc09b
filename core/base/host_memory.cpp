// SPDX-License-Identifier: MIT
#include "core/base/host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace limpid {

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::uint64_t usable_memory() {
  std::uint64_t least = physical_memory();
  // Control groups of version 2 and version 1. In a container these paths show its own group. "max" stands
  // for no limit.
  for (const char* name : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(name);
    if (std::uint64_t limit = 0; file >> limit) {
      least = std::min(least, limit);
    }
  }
  return least;
}

}  // namespace limpid
