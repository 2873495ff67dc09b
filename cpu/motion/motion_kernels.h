#pragma once

#include <cstddef>
#include <cstdint>

#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"

// The inner loops of motion estimation, on one thread.

namespace limpid::cpu {

/// The guide's values of row y, before it is smoothed, into `out`.
void guide_row(const FrameFormat& format, const Plane* planes, int y, std::uint8_t* out);

/// A row smoothed along both axes, of itself and the rows beside it. `scratch` has room for width +
/// kGuideSlack values; `out` for width + motion::kMarginColumns.
inline constexpr int kGuideSlack = 66;
void smooth_guide_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      int width, std::uint16_t* scratch, std::uint8_t* out);

/// A row of the next level of two rows in a pyramid; `width` is that of the result.
void halve_guide_row(const std::uint8_t* above, const std::uint8_t* below, int width, std::uint8_t* out);

// Vectors of a level's blocks are in rows of `stride`, with a margin on all sides that repeats the border:
// one block wide to the left, above and below, two to the right, of which one is read in vain.
inline constexpr int kVectorMarginLeft = 1;
inline constexpr int kVectorMarginRight = 2;

/// A level of two pictures' pyramids.
struct MotionLevel {
  motion::Level shape;
  const std::uint8_t* current = nullptr;    ///< its sample (0, 0)
  const std::uint8_t* reference = nullptr;  ///< likewise

  /// The vectors of the coarser level's blocks, with a margin; null on the coarsest.
  const MotionVector* coarser = nullptr;
  int coarser_stride = 0;
};

/// Finds the vectors of one row of blocks, the differences along them and, if `textures` is not null, their
/// textures. All have room for a row.
void search_row(const MotionLevel& level, int row, MotionVector* vectors, std::int32_t* differences,
                std::int32_t* textures);

/// What a sweep over a level works on: all blocks' vectors before and after, and which of them a sweep has
/// changed; both have margins, that of the changes is 0.
struct MotionSweep {
  int stride = 0;
  const MotionVector* before = nullptr;
  MotionVector* after = nullptr;
  const std::uint8_t* changed_before = nullptr;  ///< by the sweep before; null for the first
  std::uint8_t* changed = nullptr;
  std::int32_t* differences = nullptr;  ///< along the vectors before, then along those after; without margin
};

/// Chooses the vectors of one row of blocks anew, among the blocks' own and their neighbors'. A block that
/// saw no change in the sweep before, in itself or its neighbors, would choose the same again.
void sweep_row(const MotionLevel& level, int row, const MotionSweep& sweep);

/// Finds the quarters of a row of blocks of the finest level; all pointers are to the row's.
void quarter_row(const MotionLevel& level, int row, const MotionVector* vectors,
                 const std::int32_t* differences, QuarterSamples* quarters);

}  // namespace limpid::cpu
