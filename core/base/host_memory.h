#pragma once

#include <cstdint>

namespace limpid {

/// Bytes of memory that the machine has.
std::uint64_t physical_memory();

/// Bytes of memory that this process may use: physical_memory(), or less where a control group, such as a
/// container's, has a limit.
std::uint64_t usable_memory();

}  // namespace limpid
