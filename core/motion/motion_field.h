// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace limpid {

/// Displacement of a block from the current picture to the reference picture, in whole samples.
struct MotionVector {
  std::int16_t x = 0;
  std::int16_t y = 0;
  bool operator==(const MotionVector&) const = default;
};

/// Fractional part of a displacement, in quarters of a sample, -2 to 2.
struct QuarterSamples {
  std::int8_t x = 0;
  std::int8_t y = 0;
  bool operator==(const QuarterSamples&) const = default;
};

/// Motion from a current picture to a reference picture, for each complete block of kBlock x kBlock samples
/// of the current picture. Every block's counterpart lies inside the reference picture. A picture narrower or
/// lower than a block has an empty field.
struct MotionField {
  static constexpr int kBlock = 8;

  int columns = 0;  ///< size in blocks; samples right of the last block or below it use the nearest block
  int rows = 0;
  std::vector<MotionVector> vectors;  ///< row by row
  /// Differences of the guides (core/motion/motion_blocks.h) along each vector, in a window of 24 x 24
  /// samples around the block: weighted mean of the absolute differences, with more weight on the block, in
  /// units of 1/512 of an 8-bit code value. motion::difference_of_noise() is the value for noise alone.
  std::vector<std::int32_t> differences;
  /// Mean absolute deviation of the current picture's guide from its mean in the same window, with the
  /// weights and unit of `differences`. core/motion/motion_blocks.h decides from both whether a block was
  /// followed.
  std::vector<std::int32_t> textures;
  /// Fractional parts of the vectors if MotionParameters request them, otherwise empty. Blocks at a border of
  /// the reference picture stay there: all samples needed for interpolation are inside.
  std::vector<QuarterSamples> quarters;

  bool operator==(const MotionField&) const = default;

  bool empty() const { return vectors.empty(); }
  /// The number of the block that covers a sample of the current picture. The field must not be empty.
  std::size_t block_at(int x, int y) const { return block_at(x, y, columns, rows); }
  /// block_at() for any field of `columns` and `rows`. A constant expression for device code.
  static constexpr std::size_t block_at(int x, int y, int columns, int rows) {
    return static_cast<std::size_t>(std::min(y / kBlock, rows - 1)) * columns +
           std::min(x / kBlock, columns - 1);
  }
};

struct MotionParameters {
  /// True to compute MotionField::quarters. Filters benefit: in moving textures, differences along
  /// quarter-sample motion are a quarter to a half smaller. Noise is measured along whole samples, because
  /// interpolation smooths noise.
  bool quarters = false;
};

}  // namespace limpid
