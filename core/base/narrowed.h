// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <optional>
#include <utility>

namespace limpid {

/// `number` as a narrower integer, or nothing if it does not fit. For numbers read from a file.
template <std::integral Narrow, std::integral Wide>
constexpr std::optional<Narrow> narrowed(Wide number) {
  return std::in_range<Narrow>(number) ? std::optional(static_cast<Narrow>(number)) : std::nullopt;
}

}  // namespace limpid
