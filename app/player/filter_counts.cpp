// SPDX-License-Identifier: MIT
#include "app/player/filter_counts.h"

#include <spdlog/fmt/fmt.h>

namespace limpid::app {

std::string to_text(const FilterCounts& counts) {
  std::string text;
  for (const auto& [filter, frames] : counts) {
    text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", frames, filter);
  }
  return text;
}

}  // namespace limpid::app
