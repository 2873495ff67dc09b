// SPDX-License-Identifier: MIT
#include "app/console/time_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace limpid::app {

std::string time_text(double seconds, bool fraction) {
  const auto milliseconds = static_cast<std::int64_t>(std::llround(std::max(seconds, 0.0) * 1000));
  const std::int64_t whole = milliseconds / 1000;
  std::string text = whole < 3600 ? fmt::format("{}:{:02}", whole / 60, whole % 60)
                                  : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fraction ? text + fmt::format(".{:03}", milliseconds % 1000) : text;
}

}  // namespace limpid::app
