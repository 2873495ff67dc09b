// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"
#include "core/motion/motion_field.h"
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

/// Values that rows of guides have beyond their width.
inline constexpr int kGuideSlack = 66;

// Vectors of a level's blocks are stored in rows of `stride`, with a margin on all sides that repeats the
// border: one block wide to the left, above and below, and two to the right, one of which is read but not
// used.
inline constexpr int kVectorMarginLeft = 1;
inline constexpr int kVectorMarginRight = 2;

/// A level of two pictures' pyramids.
struct MotionLevel {
  motion::Level shape;
  const std::uint8_t* current = nullptr;    ///< sample (0, 0) of the current picture
  const std::uint8_t* reference = nullptr;  ///< sample (0, 0) of the reference picture

  /// The vectors of the blocks of the coarser level, with a margin; null on the coarsest level.
  const MotionVector* coarser = nullptr;
  int coarser_stride = 0;
};

/// Input and output of a sweep over a level: all blocks' vectors before and after it, and flags of the
/// vectors it has changed. All have margins; the flags' margin is 0.
struct MotionSweep {
  int stride = 0;
  const MotionVector* before = nullptr;
  MotionVector* after = nullptr;
  const std::uint8_t* changed_before = nullptr;  ///< flags of the previous sweep; null in the first sweep
  std::uint8_t* changed = nullptr;
  /// Differences along the vectors before the sweep, replaced by those along the new vectors; without margin.
  std::int32_t* differences = nullptr;
};

/// Estimates block motion between two pictures (core/motion/motion_blocks.h), on the threads of the caller's
/// arena. The result depends neither on the number of threads nor on the SIMD level. Keeps its working
/// memory, so that later pictures allocate nothing.
class MotionEstimator {
 public:
  /// Writes the motion from `current` to `reference` into `field`. Throws Error if their sizes differ.
  void estimate(const MotionPyramid& reference, const MotionPyramid& current, MotionField& field,
                const MotionParameters& parameters = {});

 private:
  void search(const MotionLevel& level, MotionField& field);
  void sweep(const MotionLevel& level, MotionField& field);

  // With margins.
  std::vector<MotionVector> vectors_;  // of the current level
  std::vector<MotionVector> before_;   // of the current level before a sweep, then of the coarser level
  std::vector<std::uint8_t> changed_;  // vectors changed by the last sweep
  std::vector<std::uint8_t> changed_before_;
};

}  // namespace limpid::cpu
