// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"
#include "cpu/runtime/aligned_vector.h"

namespace limpid::cpu {

/// A picture's guide in several resolutions. It is built once per picture, on the threads of the caller's
/// arena, and used for its motion to any other picture. Keeps its memory for the next picture.
class MotionPyramid {
 public:
  /// `picture` has the planes of a frame of `format`, or of one of its fields (picture_of()). Throws Error if
  /// memory is insufficient.
  void build(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture);

  int width() const { return width_; }
  int height() const { return height_; }
  const motion::Pyramid& layout() const { return layout_; }
  /// Pointer to sample (0, 0) of a level.
  const std::uint8_t* samples(int level) const { return memory_.data() + layout_.levels[level].origin; }

 private:
  void smooth(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture);
  void halve(int level);

  int width_ = 0;
  int height_ = 0;
  motion::Pyramid layout_;
  AlignedVector<std::uint8_t> memory_;
};

}  // namespace limpid::cpu
