// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/frame/frame.h"

namespace limpid {

/// The share of a frame's blocks that are combed, that is, whose rows belong to two fields of different
/// times, as in telecined film. 0 if the share is too small to call the frame combed. Depends only on
/// samples, not on Frame::interlaced. `before` is the previous frame. Both frames have one format and are in
/// host memory.
///
/// In moving areas of combed frames, rows of one field resemble each other more than the rows between them.
/// Noise adds to both differences alike. Fine stripes are not combing: they differ from row to row by the
/// same amount across a block, or do not change from frame to frame.
float combed_share(const Frame& frame, const Frame& before);

/// As combed_share() if the whole picture has changed since the previous frame: fine stripes that are at rest
/// count as combing.
float combed_share(const Frame& frame);

// The definition for all engines, on blocks of 16x16 samples of one plane. Columns are added in pairs, which
// cancels the checkerboard patterns of dithering.

inline constexpr int kCombBlock = 16;
inline constexpr int kCombColumns = kCombBlock / 2;  ///< pairs of columns
inline constexpr int kCombRows = kCombBlock - 2;     ///< rows of a block that have two rows below them

/// Converts float samples to integers, whose sums do not depend on the order: 16 units to an 8-bit code
/// value.
inline constexpr float kCombFloatScale = 255 * 16;
constexpr int comb_sample(float sample) {
  constexpr float kMost = 16;                                // brightest HDR highlights
  const bool is_usable = sample > -kMost && sample < kMost;  // false for NaN
  return is_usable ? static_cast<int>(sample * kCombFloatScale) : 0;
}
constexpr int comb_sample(int sample) { return sample; }

/// Sums of squares over a block, of differences between sums of two samples. Sums of two 16-bit samples
/// differ by less than 2^17, so each member is below 2^44.
struct CombSums {
  std::int64_t neighbors = 0;   ///< differences from the next row
  std::int64_t same_field = 0;  ///< differences from the row after the next
  std::int64_t rows = 0;        ///< differences from the next row, summed over the row before squaring
  std::int64_t change = 0;      ///< differences from the previous frame
};

/// True if a block that has changed since the previous frame is combed. `code_value`: an 8-bit code value in
/// units of comb_sample().
constexpr bool may_be_combed(const CombSums& sums, std::int64_t code_value) {
  // Rounding and coding cause differences of one code value.
  const std::int64_t floor = std::int64_t{kCombRows} * kCombColumns * 4 * code_value * code_value;
  return sums.neighbors > 2 * (sums.same_field + floor) && 10 * sums.rows < 7 * kCombColumns * sums.neighbors;
}

constexpr bool is_combed_block(const CombSums& sums, std::int64_t code_value) {
  return may_be_combed(sums, code_value) && 4 * sums.change > sums.neighbors;
}

constexpr float share_of_combed_blocks(int combed, int blocks) {
  constexpr int kLeast = 4;
  constexpr int kLeastShare = 50;  // at least 1 in 50 blocks
  const bool is_enough = combed >= kLeast && std::int64_t{combed} * kLeastShare >= blocks;
  return is_enough ? static_cast<float>(combed) / static_cast<float>(blocks) : 0;
}

/// The number of the plane that is examined: luma or green.
inline int comb_plane(const FrameFormat& format) { return format.color_model == ColorModel::kRgb ? 1 : 0; }

/// An 8-bit code value in units of comb_sample().
inline std::int64_t comb_code_value(const FrameFormat& format) {
  return format.is_float() ? static_cast<std::int64_t>(kCombFloatScale) / 255
                           : std::int64_t{1} << (format.bit_depth - 8);
}

}  // namespace limpid
