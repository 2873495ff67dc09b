// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace limpid::benchmarks {

/// Limits the CPU engine to the instruction set of this name, such as "AVX2". Throws UsageError if the
/// processor does not support it.
void limit_simd_level(const std::string& name);

}  // namespace limpid::benchmarks
