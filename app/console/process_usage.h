// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace limpid::app {

/// The private resident memory of this process and its open descriptors, from /proc.
std::int64_t resident_bytes();
std::int64_t open_files();
/// Memory that programs could have without swapping, from /proc; 0 if unknown.
std::int64_t available_memory();

}  // namespace limpid::app
