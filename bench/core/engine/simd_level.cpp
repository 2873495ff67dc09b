// SPDX-License-Identifier: MIT
#include "bench/core/engine/simd_level.h"

#include <hwy/targets.h>

#include <cstdint>

#include "core/base/error.h"

namespace limpid::benchmarks {

void limit_simd_level(const std::string& name) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (int bit = 0; bit < 63; ++bit) {
    const std::int64_t level = std::int64_t{1} << bit;
    if ((supported & level) != 0 && name == hwy::TargetName(level)) {
      hwy::SetSupportedTargetsForTest(supported & ~(level - 1));  // better ones have lower bits
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      return;
    }
  }
  throw UsageError("this processor has no instruction set " + name);
}

}  // namespace limpid::benchmarks
