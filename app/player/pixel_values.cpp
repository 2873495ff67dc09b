// SPDX-License-Identifier: MIT
#include "app/player/pixel_values.h"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "app/player/noise_area.h"
#include "core/frame/frame.h"

namespace limpid::app {

std::string PixelValues::text(const PlayedFrame& shown, View::Point at) {
  const io::Rectangle pixel{static_cast<int>(std::floor(at.x)), static_cast<int>(std::floor(at.y)), 1, 1};
  const FrameFormat& format = options_.shown_format();
  const bool is_transposed = options_.shown_display().orientation.transposed;
  const int width = is_transposed ? format.height : format.width;
  const int height = is_transposed ? format.width : format.height;
  if (pixel.x < 0 || pixel.y < 0 || pixel.x >= width || pixel.y >= height) {
    return "";
  }
  if (last_ != &shown) {
    noisy_ = options_.shown(engine_->in_host_memory(shown.noisy));
    denoised_ = shown.is_waiting ? Frame{} : options_.shown(engine_->in_host_memory(shown.denoised));
    last_ = &shown;
  }
  const Region stored = stored_region(pixel, format, options_.shown_display());
  std::string text =
      fmt::format("x {}, y {}:  noisy{}", pixel.x, pixel.y, samples(noisy_, stored.x, stored.y));
  if (!shown.is_waiting) {
    text += fmt::format("   denoised{}", samples(denoised_, stored.x, stored.y));
  }
  return text;
}

std::string PixelValues::samples(const Frame& frame, int x, int y) {
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
