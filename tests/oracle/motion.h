#pragma once

#include <cstdint>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/motion/motion_parameters.h"

namespace limpid::oracle {

/// A plane of bytes; samples beyond its border are those at the border.
struct BytePicture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> samples;

  int at(int x, int y) const;
};

/// The motion from `current` to `reference`, pictures of 8-bit luma, by its definition (core/README.md) in
/// the plainest code there is.
MotionField find_motion(const BytePicture& reference, const BytePicture& current,
                        const MotionParameters& parameters = {});

/// The mean over all blocks of the squared difference between a block of `current` and its counterpart in
/// `reference`, with straight lines between samples if there are quarters.
double compensated_error(const BytePicture& reference, const BytePicture& current, const MotionField& field);

/// For each block the vector, at most `radius` samples long along each axis, with the least squared
/// difference; of equal ones, the shortest.
MotionField find_motion_exhaustively(const BytePicture& reference, const BytePicture& current, int radius);

}  // namespace limpid::oracle
