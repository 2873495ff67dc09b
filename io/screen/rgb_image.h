// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
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

/// Images whose memory is reused once they are released. Thread-safe; images may outlive the pool.
class RgbImagePool {
 public:
  /// An image of whatever size and content it had before.
  std::shared_ptr<RgbImage> take() {
    std::unique_ptr<RgbImage> image;
    {
      const std::scoped_lock lock(free_->mutex);
      if (!free_->images.empty()) {
        image = std::move(free_->images.back());
        free_->images.pop_back();
      }
    }
    if (image == nullptr) {
      image = std::make_unique<RgbImage>();
    }
    return {image.release(), [pool = std::weak_ptr<Free>(free_)](RgbImage* returned) {
              std::unique_ptr<RgbImage> owned(returned);
              if (const std::shared_ptr<Free> alive = pool.lock()) {
                const std::scoped_lock lock(alive->mutex);
                alive->images.push_back(std::move(owned));
              }
            }};
  }

 private:
  struct Free {
    std::mutex mutex;
    std::vector<std::unique_ptr<RgbImage>> images;
  };
  std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

}  // namespace limpid::io
