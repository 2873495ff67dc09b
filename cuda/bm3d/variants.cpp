// SPDX-License-Identifier: MIT
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/matching.h"

namespace limpid::cuda {

std::span<const MatchingVariant> matching_variants() {
  static constexpr MatchingVariant kTable[] = {{"narrow", can_match_narrow, match_narrow},
                                               {"fast", can_match_fast, match_fast},
                                               {"any", can_do_any<Bm3dStep>, match_any}};
  return kTable;
}

std::span<const FilterVariant> filter_variants() {
  static constexpr FilterVariant kTable[] = {{{"fast", can_filter_fast, filter_fast}, true},
                                             {{"any", can_do_any<Bm3dStep>, filter_any}, false}};
  return kTable;
}

}  // namespace limpid::cuda
