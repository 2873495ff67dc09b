// SPDX-License-Identifier: MIT
#include "core/noise/scene_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/frame/code_values.h"
#include "core/noise/brightness_histogram.h"

namespace limpid::noise {
namespace {

BrightnessScale brightness_scale(const Frame& frame) {
  constexpr float kFilled = 64;    // code values
  constexpr float kUsedSteps = 8;  // with more classes, each would have too few blocks
  if (frame.format.sample_type == SampleType::kUint8) {
    return {};
  }
  std::vector<float> means = brightness_cells(frame);
  if (!std::ranges::all_of(means, [](float mean) { return std::isfinite(mean); })) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(means);
  if (most - least > kFilled || !(most > least)) {
    return {};
  }
  return {.origin = least, .spacing = (most - least) / kUsedSteps};
}

std::vector<float> samples_of(const Frame& frame) {
  const Plane& plane = frame.planes[0];
  std::vector<float> samples(static_cast<std::size_t>(plane.width) * plane.height);
  for (int y = 0; y < plane.height; ++y) {
    load_usable_code_values(plane, frame.format, 0, y, plane.width,
                            samples.data() + std::ptrdiff_t{y} * plane.width);
  }
  return samples;
}

bool has_counts(const std::vector<float>& samples) {
  constexpr double kLeastRatio = 0.8;  // less than 1, because frames have few samples
  constexpr double kMostRatio = 3;
  constexpr float kMostFraction = 1.0F / 16;
  float unit = std::numeric_limits<float>::infinity();
  for (const float sample : samples) {
    unit = sample > 0 ? std::min(unit, sample) : unit;
  }
  std::array<double, 3> numbers{};
  for (const float sample : samples) {
    const float count = std::round(sample / unit);
    if (sample < 0 || !(std::abs(sample / unit - count) < kMostFraction)) {
      return false;
    }
    if (count < static_cast<float>(numbers.size())) {
      ++numbers[static_cast<std::size_t>(count)];
    }
  }
  const double ratio = 2 * numbers[0] * numbers[2] / (numbers[1] * numbers[1]);
  return ratio > kLeastRatio && ratio < kMostRatio;
}

}  // namespace

bool has_scene_range(const FrameFormat& format) { return format.color_plane_count() == 1; }

SceneRange scene_range(const Frame& frame) {
  return has_scene_range(frame.format) ? SceneRange{brightness_scale(frame), has_counts(samples_of(frame))}
                                       : SceneRange();
}

}  // namespace limpid::noise
