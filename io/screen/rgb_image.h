// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace limpid::io {

/// A pixel of 8 bits a channel: 0xAARRGGBB.
using Pixel = std::uint32_t;

constexpr Pixel make_pixel(int red, int green, int blue, int alpha = 255) {
  return static_cast<Pixel>(alpha) << 24 | static_cast<Pixel>(red) << 16 | static_cast<Pixel>(green) << 8 |
         static_cast<Pixel>(blue);
}
constexpr int red(Pixel pixel) { return static_cast<int>(pixel >> 16 & 0xFF); }
constexpr int green(Pixel pixel) { return static_cast<int>(pixel >> 8 & 0xFF); }
constexpr int blue(Pixel pixel) { return static_cast<int>(pixel & 0xFF); }

/// A picture as screens show it: sRGB, rows from top to bottom without gaps.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<Pixel> pixels;

  /// Changes the size; the pixels are then unspecified.
  void resize(int new_width, int new_height) {
    width = new_width;
    height = new_height;
    pixels.resize(static_cast<std::size_t>(width) * height);
  }
  Pixel* row(int y) { return pixels.data() + static_cast<std::ptrdiff_t>(y) * width; }
  const Pixel* row(int y) const { return pixels.data() + static_cast<std::ptrdiff_t>(y) * width; }
};

}  // namespace limpid::io
