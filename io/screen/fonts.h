// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

struct _FcConfig;

namespace limpid::io {

/// A font on the machine.
struct FontFile {
  std::string path;  ///< empty if there is no font
  int index = 0;     ///< of the font in the file
  bool operator==(const FontFile&) const = default;
  bool operator<(const FontFile& other) const {
    return std::tie(path, index) < std::tie(other.path, other.index);
  }
};

/// The fonts of the desktop (fontconfig).
class Fonts {
 public:
  Fonts();
  /// The font for plain text that has these characters, or most of them.
  FontFile find(const std::vector<std::uint32_t>& characters = {}) const;

 private:
  std::shared_ptr<_FcConfig> config_;
};

/// The characters of a text in UTF-8; a question mark for what is no character, as in old file names.
std::vector<std::uint32_t> characters_of(std::string_view text);
/// The text with invalid UTF-8 replaced by question marks.
std::string valid_utf8(std::string_view text);

}  // namespace limpid::io
