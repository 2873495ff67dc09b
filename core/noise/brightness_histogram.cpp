// SPDX-License-Identifier: MIT
#include "core/noise/brightness_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

namespace limpid {
namespace {

// `Sum` is exact for integers.
template <typename Sample, typename Sum>
std::vector<float> means_of_cells(const Plane& plane, float scale) {
  const int width = std::min(plane.width, kBrightnessCellSide);
  const int height = std::min(plane.height, kBrightnessCellSide);
  std::vector<float> means;
  for (int i = 0; i < kBrightnessCells; ++i) {
    const int top = brightness_cell(plane.height, height, i);
    for (int j = 0; j < kBrightnessCells; ++j) {
      const int left = brightness_cell(plane.width, width, j);
      Sum sum = 0;
      for (int y = top; y < top + height; ++y) {
        const Sample* const row = plane.row<const Sample>(y) + left;
        sum = std::accumulate(row, row + width, sum);
      }
      means.push_back(static_cast<float>(sum) * scale / static_cast<float>(width * height));
    }
  }
  return means;
}

}  // namespace

std::vector<float> brightness_cells(const Frame& frame) {
  const Plane& plane = frame.planes[brightness_plane(frame.format)];
  const auto scale = static_cast<float>(1.0 / frame.format.code_value());
  return visit_samples(frame.format, [&]<typename Sample>(Sample) {
    using Sum = std::conditional_t<std::is_integral_v<Sample>, int, float>;
    return means_of_cells<Sample, Sum>(plane, scale);
  });
}

BrightnessHistogram brightness_histogram(const Frame& frame) {
  BrightnessHistogram shares{};
  for (const float mean : brightness_cells(frame)) {
    shares[brightness_level(mean)] += 1.0F / (kBrightnessCells * kBrightnessCells);
  }
  return shares;
}

bool is_cut(const BrightnessHistogram& before, const BrightnessHistogram& after) {
  // Limit of the summed changes of all shares, which is 2 at most. Nearly all scene cuts exceed it, at a
  // noise level of sigma 50 too. Frames of one scene rarely do, even with three frames between them.
  constexpr float kCutDifference = 0.5F;
  float difference = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    difference += std::abs(after[i] - before[i]);
  }
  return difference > kCutDifference;
}

}  // namespace limpid
