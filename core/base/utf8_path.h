// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// Texts are in UTF-8 on all systems. Paths of the system may be in UTF-16 (Windows).

namespace limpid {

/// The path that a text in UTF-8 names.
inline std::filesystem::path path_of(std::string_view text) {
  return std::u8string(text.begin(), text.end());
}

/// A path in UTF-8.
inline std::string text_of(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace limpid
