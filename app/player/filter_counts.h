// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace limpid::app {

/// Numbers of frames, by the filter that they were denoised with.
using FilterCounts = std::map<std::string, std::int64_t>;

/// "2 by recursive:profile=np, 1 by vbm4d:profile=np"
std::string to_text(const FilterCounts& counts);

}  // namespace limpid::app
