#pragma once

#include <string>

namespace limpid::benchmarks {

/// Makes the CPU engine work as on a processor whose best instruction set is the one of that name, as in
/// "AVX2". Throws UsageError if this processor hasn't it.
void limit_simd_level(const std::string& name);

}  // namespace limpid::benchmarks
