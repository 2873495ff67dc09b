// SPDX-License-Identifier: MIT
#include "app/pipeline/added_grain.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/error.h"
#include "core/grain/grain_synthesizer.h"
#include "io/media/reader.h"

namespace limpid::app {

Frame AddedGrain::apply(const Frame& frame) {
  if (!can_have_film_grain(frame.format)) {
    throw UsageError("--add-grain: frames of " + to_string(frame.format) +
                     " cannot have film grain: gray or YUV of 8, 10 or 12 bits is needed");
  }
  const double seconds = io::presentation_time(frame).value_or(0);
  if (!first_time_) {
    first_time_ = seconds;
  }
  const std::int64_t time =
      std::llround((seconds - *first_time_) * static_cast<double>(kGrainTicksPerSecond));
  const auto entry = std::ranges::find_if(
      table_, [time](const FilmGrainEntry& each) { return time >= each.start && time < each.end; });
  if (entry == table_.end() || !entry->is_applied) {
    return frame;
  }
  constexpr std::uint64_t kSeedStep = 3381;  // as libaom changes the seed from frame to frame
  FilmGrain grain = entry->grain;
  grain.seed = static_cast<int>(
      (static_cast<std::uint64_t>(grain.seed) + kSeedStep * static_cast<std::uint64_t>(frame.index)) &
      0xFFFF);
  return with_film_grain(grain, frame);
}

}  // namespace limpid::app
