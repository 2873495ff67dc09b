// SPDX-License-Identifier: MIT
// Computes estimates from sums. Compiled once per SIMD target.
#if defined(LIMPID_CPU_ESTIMATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_ESTIMATE_INL_H_
#undef LIMPID_CPU_ESTIMATE_INL_H_
#else
#define LIMPID_CPU_ESTIMATE_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "cpu/bm3d/tile.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

// estimate_row() for sums of any kind. A WeightRow is a pointer to a row of weights, or behaves like one.
template <typename Numerator, typename WeightRow>
HWY_ATTR void estimate_row_of(const StepTables& tables, const Numerator* HWY_RESTRICT numerator,
                              const WeightRow* weights, int width, float* HWY_RESTRICT out) {
  constexpr int kChunk = 256;
  constexpr int kMaxPatchSize = 16;
  const int k = tables.step.patch_size;
  for (int x0 = 0; x0 < width; x0 += kChunk) {
    const int count = std::min(kChunk, width - x0);
    // The window is an outer product: weights are spread along columns, then along rows. column[i] belongs to
    // column x0 - k + 1 + i.
    std::array<float, kChunk + kMaxPatchSize> column{};
    const int first = std::max(x0 - k + 1, 0);
    for (int i = 0; i < k; ++i) {
      if (weights[i] == nullptr) {
        continue;
      }
      // Row k - 1 - i of a patch that begins k - 1 - i rows above is here.
      const float factor = tables.window[(k - 1 - i) * k + k / 2];
      const WeightRow in = weights[i];
      for (int x = first; x < x0 + count; ++x) {
        column[x - (x0 - k + 1)] += static_cast<float>(in[x]) * factor;
      }
    }
    std::array<float, kChunk> denominator{};
    for (int i = 0; i < k; ++i) {
      const float factor = tables.window[(k / 2) * k + k - 1 - i];
      for (int x = 0; x < count; ++x) {
        denominator[x] += column[x + i] * factor;
      }
    }
    // window[r][k / 2] * window[k / 2][c] is window[r][c] * window[k / 2][k / 2].
    const float center = tables.window[(k / 2) * k + k / 2] * tables.numerator_unit;
    for (int x = 0; x < count; ++x) {
      out[x0 + x] = static_cast<float>(numerator[x0 + x]) * center / denominator[x] + kSumsOffset;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
