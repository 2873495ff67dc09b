#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace limpid {

/// Where a block of the current picture is in the reference picture: at its own position plus this, in whole
/// samples.
struct MotionVector {
  std::int16_t x = 0;
  std::int16_t y = 0;
  bool operator==(const MotionVector&) const = default;
};

/// What a MotionVector leaves, in quarters of a sample, -2 to 2.
struct QuarterSamples {
  std::int8_t x = 0;
  std::int8_t y = 0;
  bool operator==(const QuarterSamples&) const = default;
};

/// Motion from a current picture to a reference picture, for each whole block of kBlock x kBlock samples of
/// the current one. Every block's counterpart lies inside of the reference picture. A picture that is less
/// than a block wide or high has an empty field.
struct MotionField {
  static constexpr int kBlock = 8;

  int columns = 0;  ///< of blocks; samples right of the last one or below it go with the nearest block
  int rows = 0;
  std::vector<MotionVector> vectors;  ///< row by row
  /// How much the guides (core/motion/motion_blocks.h) differ along each vector, in a window of 24 x 24
  /// samples around the block: the mean of the absolute differences, in which the block counts more than what
  /// is around it, in units of 1/512 of an 8-bit code value. motion::difference_of_noise() says what noise
  /// alone makes it.
  std::vector<std::int32_t> differences;
  /// How much there was to follow: how far the current picture's guide is from its mean in the same window,
  /// likewise. core/motion/followed.h tells from both whether a block was followed.
  std::vector<std::int32_t> textures;
  /// What is to be added to the vectors, if MotionParameters ask for it; else empty. Blocks at a border of
  /// the reference picture stay there: all samples between which is interpolated are inside.
  std::vector<QuarterSamples> quarters;

  bool operator==(const MotionField&) const = default;

  bool empty() const { return vectors.empty(); }
  /// The number of the block that a sample of the current picture goes with. The field must not be empty.
  std::size_t block_at(int x, int y) const { return block_at(x, y, columns, rows); }
  /// The same in any field of so many columns and rows. A constant expression, which device code may use.
  static constexpr std::size_t block_at(int x, int y, int columns, int rows) {
    return static_cast<std::size_t>(std::min(y / kBlock, rows - 1)) * columns +
           std::min(x / kBlock, columns - 1);
  }
};

}  // namespace limpid
