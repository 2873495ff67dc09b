// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "core/motion/motion_blocks.h"
#include "core/motion/motion_field.h"

namespace limpid::oracle {

/// A plane of bytes; samples beyond its border repeat the border.
struct BytePicture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;

  int at(int x, int y) const;
};

/// The motion from `current` to `reference`, pictures of 8-bit luma, by its definition (docs/algorithms.md)
/// in the simplest possible code.
MotionField find_motion(const BytePicture& reference, const BytePicture& current,
                        const MotionParameters& parameters = {});

/// The mean over all blocks of the squared difference between a block of `current` and its counterpart in
/// `reference`, with linear interpolation if there are quarters.
double compensated_error(const BytePicture& reference, const BytePicture& current, const MotionField& field);

/// For each block the vector, at most `radius` samples along each axis, with the least squared difference;
/// among equal ones, the shortest.
MotionField find_motion_exhaustively(const BytePicture& reference, const BytePicture& current, int radius);

/// The share of blocks that could not be followed; 0 for an empty field.
inline double lost_share(const MotionField& field, double noise) {
  const auto blocks = static_cast<double>(field.differences.size());
  return field.empty()
             ? 0
             : static_cast<double>(motion::lost_blocks(field, static_cast<std::int32_t>(noise))) / blocks;
}

}  // namespace limpid::oracle
