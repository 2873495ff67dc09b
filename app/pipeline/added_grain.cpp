// SPDX-License-Identifier: MIT
#include "app/pipeline/added_grain.h"

#include <algorithm>
#include <cstdint>

#include "core/base/error.h"
#include "core/grain/grain_synthesizer.h"

namespace limpid::app {

Frame with_added_grain(const FilmGrainTable& table, const Frame& frame) {
  const auto entry = std::ranges::find_if(
      table, [&](const FilmGrainEntry& each) { return frame.index >= each.start && frame.index < each.end; });
  if (entry == table.end() || !entry->is_applied) {
    return frame;
  }
  if (!can_have_film_grain(frame.format)) {
    throw UsageError("--add-grain: frames of " + to_string(frame.format) +
                     " cannot have film grain: gray or YUV of 8, 10 or 12 bits is needed");
  }
  constexpr std::uint64_t kSeedStep = 3381;  // as libaom changes the seed from frame to frame
  FilmGrain grain = entry->grain;
  grain.seed = static_cast<int>(
      (static_cast<std::uint64_t>(grain.seed) + kSeedStep * static_cast<std::uint64_t>(frame.index)) &
      0xFFFF);
  return with_film_grain(grain, frame);
}

}  // namespace limpid::app
