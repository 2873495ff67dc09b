// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace limpid {

/// Bytes of memory in this machine.
std::uint64_t physical_memory();

/// Bytes of memory that this process may use: physical_memory() or, on Linux, the lower limit of a control
/// group such as a container's.
std::uint64_t usable_memory();

}  // namespace limpid
