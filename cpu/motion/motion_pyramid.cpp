// SPDX-License-Identifier: MIT
#include "cpu/motion/motion_pyramid.h"

#include <algorithm>
#include <cstring>

#include "core/base/parallel.h"
#include "cpu/motion/motion_kernels.h"

namespace limpid::cpu {
namespace {

constexpr int kPyramidBandRows = 16;

int pyramid_bands(int rows) { return (rows + kPyramidBandRows - 1) / kPyramidBandRows; }

// Repeats the border of a row in the margin beside it, and the border rows in the margin above and below.
void fill_margin(const motion::Level& level, std::uint8_t* first, int y) {
  std::uint8_t* row = first + static_cast<std::ptrdiff_t>(y) * level.stride;
  std::memset(row - motion::kMarginColumns, row[0], motion::kMarginColumns);
  std::memset(row + level.width, row[level.width - 1],
              static_cast<std::size_t>(level.stride - motion::kMarginColumns - level.width));
  const auto repeat = [&](int toward) {
    for (int i = 1; i <= motion::kMarginRows; ++i) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(i) * toward * level.stride;
      std::memcpy(row - motion::kMarginColumns + offset, row - motion::kMarginColumns,
                  static_cast<std::size_t>(level.stride));
    }
  };
  if (y == 0) {
    repeat(-1);
  }
  if (y == level.height - 1) {
    repeat(1);
  }
}

}  // namespace

void MotionPyramid::build(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture) {
  if (picture[0].width != width_ || picture[0].height != height_) {
    width_ = picture[0].width;
    height_ = picture[0].height;
    layout_ = motion::pyramid_of(width_, height_);
    memory_.resize(layout_.bytes);
  }
  if (layout_.count > 0) {
    smooth(format, picture);
  }
  for (int level = 1; level < layout_.count; ++level) {
    halve(level);
  }
}

void MotionPyramid::smooth(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture) {
  const motion::Level& level = layout_.levels[0];
  std::uint8_t* first = memory_.data() + level.origin;
  const bool as_it_is = format.sample_type == SampleType::kUint8 && format.color_model != ColorModel::kRgb;
  for_each_index(pyramid_bands(height_), 1, [&](int band) {
    AlignedVector<std::uint16_t> sums(static_cast<std::size_t>(width_) + kGuideSlack);
    AlignedVector<std::uint8_t> guide;  // rows of the band, and one row on each side
    const int begin = band * kPyramidBandRows;
    const int end = std::min(begin + kPyramidBandRows, height_);
    const int first_read = std::max(begin - 1, 0);
    if (!as_it_is) {
      guide.resize(static_cast<std::size_t>(kPyramidBandRows + 2) * width_);
      for (int y = first_read; y < std::min(end + 1, height_); ++y) {
        guide_row(format, picture.data(), y,
                  guide.data() + static_cast<std::ptrdiff_t>(y - first_read) * width_);
      }
    }
    const auto row_of = [&](int y) {
      const int read = std::min(std::max(y, 0), height_ - 1);
      return as_it_is ? picture[0].row<const std::uint8_t>(read)
                      : guide.data() + static_cast<std::ptrdiff_t>(read - first_read) * width_;
    };
    for (int y = begin; y < end; ++y) {
      smooth_guide_row(row_of(y - 1), row_of(y), row_of(y + 1), width_, sums.data(),
                       first + static_cast<std::ptrdiff_t>(y) * level.stride);
      fill_margin(level, first, y);
    }
  });
}

void MotionPyramid::halve(int number) {
  const motion::Level& level = layout_.levels[number];
  const motion::Level& finer = layout_.levels[number - 1];
  std::uint8_t* first = memory_.data() + level.origin;
  const std::uint8_t* finer_first = samples(number - 1);
  for_each_index(pyramid_bands(level.height), 1, [&](int band) {
    for (int y = band * kPyramidBandRows; y < std::min((band + 1) * kPyramidBandRows, level.height); ++y) {
      // Below the last row is the margin.
      const std::uint8_t* above = finer_first + std::ptrdiff_t{2} * y * finer.stride;
      halve_guide_row(above, above + finer.stride, level.width,
                      first + static_cast<std::ptrdiff_t>(y) * level.stride);
      fill_margin(level, first, y);
    }
  });
}

}  // namespace limpid::cpu
