// SPDX-License-Identifier: MIT
#include "app/player/pixel_values.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "app/player/noise_area.h"
#include "core/frame/plane_names.h"

namespace limpid::app {

std::string PixelValues::text(const PlayedFrame& shown, View::Point at) {
  const io::Rectangle pixel{static_cast<int>(std::floor(at.x)), static_cast<int>(std::floor(at.y)), 1, 1};
  const io::Orientation& turned = options_.display.orientation;
  const int width = turned.transposed ? options_.format.height : options_.format.width;
  const int height = turned.transposed ? options_.format.width : options_.format.height;
  if (pixel.x < 0 || pixel.y < 0 || pixel.x >= width || pixel.y >= height) {
    return "";
  }
  if (last_ != &shown) {
    noisy_ = engine_->in_host_memory(shown.noisy);
    denoised_ = shown.is_waiting ? Frame{} : engine_->in_host_memory(shown.denoised);
    last_ = &shown;
  }
  const Region stored = stored_region(pixel, options_);
  std::string text =
      fmt::format("x {}, y {}:  noisy{}", pixel.x, pixel.y, samples(noisy_, stored.x, stored.y));
  if (!shown.is_waiting) {
    text += fmt::format("   denoised{}", samples(denoised_, stored.x, stored.y));
  }
  return text;
}

std::string PixelValues::samples(const Frame& frame, int x, int y) const {
  std::string text;
  const std::vector<std::string_view> names = color_plane_names(frame.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Plane& plane = frame.planes[i];
    const int column = x * plane.width / frame.format.width;
    const int row = y * plane.height / frame.format.height;
    visit_samples(frame.format, [&](auto type) {
      const auto value = plane.row<decltype(type)>(row)[column];
      text += frame.format.is_float() ? fmt::format(" {} {:.4f}", names[i], static_cast<float>(value))
                                      : fmt::format(" {} {:.0f}", names[i], static_cast<float>(value));
    });
  }
  return text;
}

}  // namespace limpid::app
