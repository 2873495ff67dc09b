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
#include "core/noise/measured_blocks.h"
#include "core/noise/noise_blocks.h"

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

// True if few blocks of an RGB picture can be measured with all their planes.
bool is_saturated(const Frame& frame) {
  constexpr int kSpacing = 2 * kBlock;  // a quarter of the blocks suffices
  constexpr int kLeastShare = 16;
  const ClippedRange range(frame.format, {});
  int blocks = 0;
  int measured = 0;
  for (int y = 0; y + kBlock <= frame.format.height; y += kSpacing) {
    for (int x = 0; x + kBlock <= frame.format.width; x += kSpacing) {
      int at_end = 0;
      for (int row = 0; row < kBlock; ++row) {
        std::array<std::array<float, kBlock>, 3> rgb;
        for (int p = 0; p < 3; ++p) {
          load_usable_code_values(frame.planes[p], frame.format, x, y + row, kBlock, rgb[p].data());
        }
        for (int i = 0; i < kBlock; ++i) {
          at_end += range.is_at_end(rgb[0][i], rgb[1][i], rgb[2][i]) ? 1 : 0;
        }
      }
      ++blocks;
      measured += at_end <= kMostCutOff ? 1 : 0;
    }
  }
  return measured * kLeastShare < blocks;
}

class Brightness {
 public:
  explicit Brightness(const Frame& frame)
      : plane_(frame.planes[brightness_plane(frame.format)]),
        format_(frame.format),
        tolerance_(2 * quantization_step(frame.format)) {}

  // True if all samples of the region are alike, but for what codecs change.
  bool is_constant(const Region& region) const {
    float least = std::numeric_limits<float>::infinity();
    float most = -least;
    for (int y = region.y; y < region.y + region.height; ++y) {
      for (int x = region.x; x < region.x + region.width; ++x) {
        float sample = 0;
        load_usable_code_values(plane_, format_, x, y, 1, &sample);
        least = std::min(least, sample);
        most = std::max(most, sample);
        if (most - least > tolerance_) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  Plane plane_;
  FrameFormat format_;
  float tolerance_;
};

struct Span {
  int first = 0;
  int count = 0;
};

// The part of a side of `length` samples that remains without bars at its ends.
template <typename IsBar>
Span without_ends(int length, const IsBar& is_bar) {
  int first = 0;
  while (first < length && is_bar(first)) {
    ++first;
  }
  int last = length;
  while (last > first && is_bar(last - 1)) {
    --last;
  }
  // Whole blocks, and one block for the edge of the bar.
  const auto bar = [](int samples) {
    return samples < kBlock ? 0 : (samples + 2 * kBlock - 1) / kBlock * kBlock;
  };
  return {bar(first), length - bar(first) - bar(length - last)};
}

}  // namespace

SceneRange scene_range(const Frame& frame) {
  SceneRange range;
  if (frame.format.color_plane_count() == 1) {
    range.scale = brightness_scale(frame);
    range.counts = has_counts(samples_of(frame));
  }
  range.saturated = frame.format.color_model == ColorModel::kRgb && is_saturated(frame);
  return range;
}

Region region_inside_bars(const Frame& frame) {
  constexpr int kLeastSide = 64;
  const Brightness brightness(frame);
  Region inside{0, 0, frame.format.width, frame.format.height};
  const auto [top, rows] = without_ends(inside.height, [&](int y) {
    return brightness.is_constant({0, y, inside.width, 1});
  });
  const auto [left, columns] = without_ends(inside.width, [&, y = top, count = rows](int x) {
    return brightness.is_constant({x, y, 1, count});
  });
  return rows < kLeastSide || columns < kLeastSide ? inside : Region{left, top, columns, rows};
}

}  // namespace limpid::noise
