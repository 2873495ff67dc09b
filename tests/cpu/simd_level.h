// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"

namespace limpid {

#ifndef LIMPID_SIMD_LEVELS
#define LIMPID_SIMD_LEVELS (~std::int64_t{0})
#endif

/// Highway's targets that this processor has and this build was compiled for.
inline std::int64_t compiled_simd_levels() { return hwy::SupportedTargets() & LIMPID_SIMD_LEVELS; }

/// A test of the CPU engine, limited to the instruction set of the parameter.
class SimdLevelTest : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    const std::int64_t level = GetParam();
    const std::int64_t supported = compiled_simd_levels();
    if ((supported & level) == 0) {
      GTEST_SKIP() << "this processor or this build has no " << hwy::TargetName(level);
    }
    // Highway's better targets have the lower bits.
    hwy::SetSupportedTargetsForTest(supported & ~(level - 1));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    engine_ = engine_registry().open("cpu");
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }

  Engine& engine() { return *engine_; }
  std::shared_ptr<Engine> engine_;
};

/// The levels that this build was compiled for.
inline const auto kSimdLevels = [] {
#if HWY_ARCH_ARM
  std::vector<std::int64_t> levels = {HWY_NEON};
#else
  std::vector<std::int64_t> levels = {HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL};
#endif
  std::erase_if(levels, [](std::int64_t level) { return (level & LIMPID_SIMD_LEVELS) == 0; });
  return testing::ValuesIn(levels);
}();

inline std::string simd_level_name(const testing::TestParamInfo<std::int64_t>& level) {
  return hwy::TargetName(level.param);
}

}  // namespace limpid
