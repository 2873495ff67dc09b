#pragma once

#include <cstdint>

namespace limpid::app {

/// Of this process, by Linux's /proc: the memory that is its own and present, and its open descriptors.
std::int64_t resident_bytes();
std::int64_t open_files();

}  // namespace limpid::app
