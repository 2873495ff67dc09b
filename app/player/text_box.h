// SPDX-License-Identifier: MIT
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "io/media/size.h"

namespace limpid::app {

/// White lines on a translucent dark box that fits around them, in the font of io::ControlLayer for overlays.
/// Exists within a frame of ImGui.
class TextBox {
 public:
  /// `line`: height of a line in pixels. `width`: the greatest width of the box; longer lines are wrapped. A
  /// tab separates two columns.
  TextBox(const std::vector<std::string>& lines, int line, int width);

  io::Size size() const { return size_; }
  /// Draws the box over the picture, with its left upper corner at (x, y).
  void draw(int x, int y) const;

 private:
  struct Piece {
    std::string text;
    ImVec2 at;
    float width = 0;  ///< at which the text is wrapped
  };

  ImVec2 extent(const std::string& text, float width) const;

  float pixels_;
  std::vector<Piece> pieces_;
  io::Size size_;
};

}  // namespace limpid::app
