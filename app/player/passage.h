// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

namespace limpid::app {

/// A part of a source, in seconds from its beginning.
struct Passage {
  std::optional<double> begin;
  std::optional<double> end;
  bool operator==(const Passage&) const = default;
};

}  // namespace limpid::app
