// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace limpid {

/// The sentence with at most 200 bytes of each word and of each of the `arguments` that it quotes, so that an
/// argument of any length gives a readable error.
std::string with_brief_quotes(std::string sentence, const std::vector<std::string_view>& arguments = {});

/// Replaces the letters A to Z by a to z in any locale.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

/// The shortest text from which std::from_chars() reads the number back unchanged.
template <typename Number>
std::string shortest_text(Number number) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// The number that is all of the text, in any locale. Returns nothing for other texts.
template <typename Number>
std::optional<Number> to_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The name most similar to `given`: the one with the fewest letters added, omitted, replaced or swapped with
/// their neighbors: one, or two in names of seven letters and more. Ignores case and
/// dashes at the beginning. Empty if no name is similar.
std::string nearest_name(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean 'denoise'?", or empty without a similar name.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace limpid
