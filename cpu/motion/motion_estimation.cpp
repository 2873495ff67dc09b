// SPDX-License-Identifier: MIT
#include "cpu/motion/motion_estimation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/motion/motion_blocks.h"
#include "cpu/motion/motion_kernels.h"

namespace limpid::cpu {
namespace {

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
