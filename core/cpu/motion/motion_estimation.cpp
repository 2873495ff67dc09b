#include "core/cpu/motion/motion_estimation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/cpu/motion/motion_kernels.h"
#include "core/motion/motion_blocks.h"

namespace limpid::cpu {

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
  before_.resize(blocks);
  changed_.resize(blocks);
  changed_before_.resize(blocks);
  coarser_.resize(blocks);

  MotionLevel level;
  for (int number = layout.count - 1; number >= 0; --number) {
    level.shape = layout.levels[number];
    level.current = current.samples(number);
    level.reference = reference.samples(number);
    for_each_index(level.shape.rows, 1, [&](int row) {
      const std::size_t first = static_cast<std::size_t>(row) * level.shape.columns;
      search_row(level, row, field.vectors.data() + first, field.differences.data() + first,
                 level.shape.finest ? field.textures.data() + first : nullptr);
    });
    std::fill(changed_.begin(), changed_.end(), std::uint8_t{1});
    for (int i = 0; i < motion::kSweeps; ++i) {
      field.vectors.swap(before_);
      changed_.swap(changed_before_);
      const MotionSweep sweep = {before_.data(), changed_before_.data(), field.vectors.data(),
                                 changed_.data(), field.differences.data()};
      for_each_index(level.shape.rows, 1, [&](int row) { sweep_row(level, row, sweep); });
    }
    if (number > 0) {
      field.vectors.swap(coarser_);
      level.coarser_shape = level.shape;
      level.coarser = coarser_.data();
    }
  }
  if (!field.quarters.empty()) {
    for_each_index(field.rows, 1, [&](int row) {
      const std::size_t first = static_cast<std::size_t>(row) * field.columns;
      quarter_row(level, row, field.vectors.data() + first, field.differences.data() + first,
                  field.quarters.data() + first);
    });
  }
}

}  // namespace limpid::cpu
