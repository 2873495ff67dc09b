// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace limpid {

/// The shortest text from which std::from_chars() reads the number back unchanged.
template <typename Number>
std::string shortest_text(Number number) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace limpid
