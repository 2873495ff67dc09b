// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/screen/rgb_image.h"

namespace limpid::io {

/// Text of any script for the display over a picture, in fonts of the machine (SDL_ttf, fontconfig): for each
/// line one that has its characters. Where there is no font at all, the built-in bitmap font of text.h. One
/// thread at a time.
class Lettering {
 public:
  Lettering();
  ~Lettering();
  Lettering(const Lettering&) = delete;
  Lettering& operator=(const Lettering&) = delete;
  Lettering(Lettering&&) = delete;
  Lettering& operator=(Lettering&&) = delete;

  /// White lines, in UTF-8, on a translucent dark box that fits around them and is at most `width` pixels
  /// wide. Longer lines are wrapped. `size`: height of a line in pixels. A tab separates two columns.
  RgbImage box(const std::vector<std::string>& lines, int size, int width);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A font on the machine.
struct FontFile {
  std::string path;  ///< empty if there is no font
  int index = 0;     ///< of the font in the file
};
/// The font of the desktop for plain text.
FontFile plain_font();

/// The text with invalid UTF-8, as in old file names, replaced by question marks.
std::string valid_utf8(const std::string& text);

}  // namespace limpid::io
