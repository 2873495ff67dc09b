// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/screen/rgb_image.h"

namespace limpid::io {

/// Text in a built-in bitmap font of printable ASCII (other characters show as '?'), so that the display of
/// figures over a picture needs no font on the machine. Characters are all equally wide. `scale`: window
/// pixels to a pixel of the font, at least 1.
int text_width(std::string_view text, int scale);
int text_height(int scale);

/// Draws a line whose cell has its top left corner at (x, y); what lies outside the image is left out.
void draw_text(RgbImage& image, int x, int y, std::string_view text, int scale, Pixel color);

/// White lines on a translucent dark box that fits around them.
RgbImage text_box(const std::vector<std::string>& lines, int scale);

}  // namespace limpid::io
