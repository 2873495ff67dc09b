// SPDX-License-Identifier: MIT
#include "cpu/motion/motion_estimation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/motion/motion_blocks.h"
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

// A level's vectors in memory.
struct VectorRows {
  int stride = 0;
  std::size_t origin = 0;  // of block (0, 0)
  std::size_t size = 0;
};

VectorRows vector_rows(const motion::Level& level) {
  VectorRows rows;
  rows.stride = kVectorMarginLeft + level.columns + kVectorMarginRight;
  rows.origin = static_cast<std::size_t>(rows.stride) + kVectorMarginLeft;
  rows.size = static_cast<std::size_t>(rows.stride) * (level.rows + 2);
  return rows;
}

// Repeats the border of a row of vectors in the margin beside it, and the border rows in the margin above and
// below.
void fill_vector_margin(const motion::Level& level, int stride, int row, MotionVector* vectors) {
  MotionVector* const first = vectors + static_cast<std::ptrdiff_t>(row) * stride;
  std::fill_n(first - kVectorMarginLeft, kVectorMarginLeft, first[0]);
  std::fill_n(first + level.columns, kVectorMarginRight, first[level.columns - 1]);
  if (row == 0) {
    std::copy_n(first - kVectorMarginLeft, stride, first - kVectorMarginLeft - stride);
  }
  if (row == level.rows - 1) {
    std::copy_n(first - kVectorMarginLeft, stride, first - kVectorMarginLeft + stride);
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

void MotionEstimator::estimate(const MotionPyramid& reference, const MotionPyramid& current,
                               MotionField& field, const MotionParameters& parameters) {
  if (reference.width() != current.width() || reference.height() != current.height()) {
    throw Error("motion is sought between pictures of different sizes");
  }
  const motion::Pyramid& layout = current.layout();
  field.columns = layout.levels[0].columns;
  field.rows = layout.levels[0].rows;
  const std::size_t blocks = static_cast<std::size_t>(field.columns) * field.rows;
  field.vectors.resize(blocks);
  field.differences.resize(blocks);
  field.textures.resize(blocks);
  field.quarters.resize(parameters.quarters ? blocks : 0);
  if (blocks == 0) {
    return;
  }
  const std::size_t size = vector_rows(layout.levels[0]).size;
  vectors_.resize(size);
  before_.resize(size);
  changed_.resize(size);
  changed_before_.resize(size);

  MotionLevel level;
  for (int number = layout.count - 1; number >= 0; --number) {
    level.shape = layout.levels[number];
    level.current = current.samples(number);
    level.reference = reference.samples(number);
    search(level, field);
    sweep(level, field);
    if (number > 0) {
      const VectorRows rows = vector_rows(level.shape);
      vectors_.swap(before_);
      level.coarser = before_.data() + rows.origin;
      level.coarser_stride = rows.stride;
    }
  }
  const VectorRows rows = vector_rows(level.shape);
  for_each_index(field.rows, 1, [&](int row) {
    const std::size_t first = static_cast<std::size_t>(row) * field.columns;
    std::copy_n(vectors_.data() + rows.origin + static_cast<std::ptrdiff_t>(row) * rows.stride, field.columns,
                field.vectors.data() + first);
    if (parameters.quarters) {
      quarter_row(level, row, field.vectors.data() + first, field.differences.data() + first,
                  field.quarters.data() + first);
    }
  });
}

// Searches each block of a level by itself.
void MotionEstimator::search(const MotionLevel& level, MotionField& field) {
  const VectorRows rows = vector_rows(level.shape);
  for_each_index(level.shape.rows, 1, [&](int row) {
    const std::size_t first = static_cast<std::size_t>(row) * level.shape.columns;
    MotionVector* const vectors = vectors_.data() + rows.origin;
    search_row(level, row, vectors + static_cast<std::ptrdiff_t>(row) * rows.stride,
               field.differences.data() + first,
               level.shape.finest ? field.textures.data() + first : nullptr);
    fill_vector_margin(level.shape, rows.stride, row, vectors);
  });
}

// Tries the vectors of neighbors.
void MotionEstimator::sweep(const MotionLevel& level, MotionField& field) {
  const VectorRows rows = vector_rows(level.shape);
  std::fill_n(changed_.begin(), rows.size, std::uint8_t{0});
  std::fill_n(changed_before_.begin(), rows.size, std::uint8_t{0});
  for (int i = 0; i < motion::kSweeps; ++i) {
    vectors_.swap(before_);
    changed_.swap(changed_before_);
    const MotionSweep sweep = {.stride = rows.stride,
                               .before = before_.data() + rows.origin,
                               .after = vectors_.data() + rows.origin,
                               .changed_before = i == 0 ? nullptr : changed_before_.data() + rows.origin,
                               .changed = changed_.data() + rows.origin,
                               .differences = field.differences.data()};
    for_each_index(level.shape.rows, 1, [&](int row) {
      sweep_row(level, row, sweep);
      fill_vector_margin(level.shape, rows.stride, row, sweep.after);
    });
  }
}

}  // namespace limpid::cpu
