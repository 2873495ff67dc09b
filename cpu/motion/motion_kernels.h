// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/frame/frame.h"
#include "core/motion/motion_blocks.h"

// The inner loops of motion estimation, on one thread.

namespace limpid::cpu {

/// Writes the unsmoothed guide's values of row y to `out`.
void guide_row(const FrameFormat& format, const Plane* planes, int y, std::uint8_t* out);

/// Smooths a row along both axes, from the row and the two beside it. `scratch` has room for width +
/// kGuideSlack values, `out` for width + motion::kMarginColumns.
inline constexpr int kGuideSlack = 66;
void smooth_guide_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      int width, std::uint16_t* scratch, std::uint8_t* out);

/// Makes a row of the next level from two rows of a level; `width` is the width of the result.
void halve_guide_row(const std::uint8_t* above, const std::uint8_t* below, int width, std::uint8_t* out);

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

/// Searches the vectors of one row of blocks. Also writes the differences along them and, if `textures` is
/// not null, the blocks' textures. All arrays have room for a row.
void search_row(const MotionLevel& level, int row, MotionVector* vectors, std::int32_t* differences,
                std::int32_t* textures);

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

/// Selects new vectors for one row of blocks from their own vectors and those of their neighbors. Blocks are
/// skipped if neither they nor their neighbors changed in the previous sweep, because the result would not
/// change.
void sweep_row(const MotionLevel& level, int row, const MotionSweep& sweep);

/// Computes the quarter samples of a row of blocks of the finest level. All pointers point to that row.
void quarter_row(const MotionLevel& level, int row, const MotionVector* vectors,
                 const std::int32_t* differences, QuarterSamples* quarters);

}  // namespace limpid::cpu
