// SPDX-License-Identifier: MIT
#include "core/noise/brightness_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

namespace limpid {
namespace {

using CellMeans = std::vector<float>;

// `Sum` is exact for integers.
template <typename Sample, typename Sum>
CellMeans means_of_cells(const Plane& plane, float scale) {
  const int width = std::min(plane.width, kBrightnessCellSide);
  const int height = std::min(plane.height, kBrightnessCellSide);
  CellMeans means;
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

// Means of the cells of a plane of the frame, in 8-bit code values.
CellMeans means_of_cells(const Frame& frame, int number) {
  const Plane& plane = frame.planes[number];
  const auto scale = static_cast<float>(1.0 / frame.format.code_value());
  return visit_samples(frame.format, [&]<typename Sample>(Sample) {
    using Sum = std::conditional_t<std::is_integral_v<Sample>, int, float>;
    return means_of_cells<Sample, Sum>(plane, scale);
  });
}

}  // namespace

BrightnessHistogram brightness_histogram(const Frame& frame) {
  BrightnessHistogram shares{};
  for (const float mean : means_of_cells(frame, brightness_plane(frame.format))) {
    shares[brightness_level(mean)] += 1.0F / (kBrightnessCells * kBrightnessCells);
  }
  return shares;
}

bool has_brightness_scale(const FrameFormat& format) {
  return format.color_plane_count() == 1 && format.sample_type != SampleType::kUint8;
}

BrightnessScale brightness_scale(const Frame& frame) {
  constexpr float kFilled = 64;    // code values
  constexpr float kUsedSteps = 8;  // with more classes, each would have too few blocks
  if (!has_brightness_scale(frame.format)) {
    return {};
  }
  CellMeans means = means_of_cells(frame, 0);
  if (!std::ranges::all_of(means, [](float mean) { return std::isfinite(mean); })) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(means);
  if (most - least > kFilled || !(most > least)) {
    return {};
  }
  return {.origin = least, .spacing = (most - least) / kUsedSteps};
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
