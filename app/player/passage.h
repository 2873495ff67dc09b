// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace limpid::app {

/// Times of a source that differ by less are equal: containers round times.
inline constexpr double kSameInstant = 0.0005;

/// A part of a source, in seconds from its beginning.
struct Passage {
  std::optional<double> begin;
  std::optional<double> end;
  bool operator==(const Passage&) const = default;
};

}  // namespace limpid::app
