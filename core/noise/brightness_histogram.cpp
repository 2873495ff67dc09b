#include "core/noise/brightness_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace limpid {
namespace {

// `Sum` is exact for integers.
template <typename Sample, typename Sum>
BrightnessHistogram brightness_of_cells(const Plane& plane, float scale) {
  const int width = std::min(plane.width, kBrightnessCellSide);
  const int height = std::min(plane.height, kBrightnessCellSide);
  BrightnessHistogram shares{};
  for (int i = 0; i < kBrightnessCells; ++i) {
    const int top = brightness_cell(plane.height, height, i);
    for (int j = 0; j < kBrightnessCells; ++j) {
      const int left = brightness_cell(plane.width, width, j);
      Sum sum = 0;
      for (int y = top; y < top + height; ++y) {
        const Sample* const row = plane.row<const Sample>(y) + left;
        sum = std::accumulate(row, row + width, sum);
      }
      const float mean = static_cast<float>(sum) * scale / static_cast<float>(width * height);
      shares[brightness_level(mean)] += 1.0F / (kBrightnessCells * kBrightnessCells);
    }
  }
  return shares;
}

}  // namespace

BrightnessHistogram brightness_histogram(const Frame& frame) {
  const Plane& plane = frame.planes[brightness_plane(frame.format)];
  const auto scale = static_cast<float>(1.0 / frame.format.code_value());
  switch (frame.format.sample_type) {
    case SampleType::kUint8:
      return brightness_of_cells<std::uint8_t, int>(plane, scale);
    case SampleType::kUint16:
      return brightness_of_cells<std::uint16_t, int>(plane, scale);
    case SampleType::kFloat32:
      return brightness_of_cells<float, float>(plane, scale);
  }
  return {};
}

bool is_cut(const BrightnessHistogram& before, const BrightnessHistogram& after) {
  // Sum of the changes of all shares, 2 at most. Nearly all cuts change more, in noise of sigma 50 too, and
  // frames of a scene hardly ever, even if three between them are left out.
  constexpr float kCutDifference = 0.5F;
  float difference = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    difference += std::abs(after[i] - before[i]);
  }
  return difference > kCutDifference;
}

}  // namespace limpid
