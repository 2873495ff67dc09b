// SPDX-License-Identifier: MIT
#include "cuda/edge_preserving/bilateral.h"
#include "cuda/edge_preserving/nlm.h"

namespace limpid::cuda {

std::span<const BilateralVariant> bilateral_variants() {
  static constexpr BilateralVariant kTable[] = {
      {{"series", can_filter_by_series, bilateral_series, series_pays}, true},
      {{"halves", can_filter_halves, bilateral_halves}, true},
      {{"bytes", can_filter_bytes, bilateral_bytes}, true},
      {{"any", can_do_any<BilateralJob>, bilateral_any}, false}};
  return kTable;
}

std::span<const NlmVariant> nlm_variants() {
  static constexpr NlmVariant kTable[] = {{"fast", can_average_fast, nlm_fast},
                                          {"any", can_do_any<NlmJob>, nlm_any}};
  return kTable;
}

}  // namespace limpid::cuda
