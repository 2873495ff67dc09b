// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "cpu/runtime/aligned_vector.h"

// The inner loops of the edge-preserving filters, on one thread. cpu/edge_preserving/edge_preserving.h
// divides planes into rows and tiles.

namespace limpid::cpu {

/// Number of readable samples after the end of a row, which vector loads read; the results for them are
/// discarded.
inline constexpr int kRowSlack = 64;

/// Offset of stored weight exponents, as exp2_of_shifted() expects.
inline constexpr float kExp2Shift = 512 + 127;

/// One plane for the bilateral filters: code values times `scale`, inside a margin of kOutside as wide as the
/// window's radius. Samples of the margin differ so much from all others that their weight is zero, so
/// borders need no special case.
struct BilateralJob {
  static constexpr float kOutside = 1e10F;

  BilateralWeights weights;
  bool adaptive = false;  ///< true for AdaptiveBilateralWeights; uses the two members below
  float adapted_range = 0;
  float epsilon = 0;
  /// True if the filter is not adaptive and no weight between samples of 0 to 255 code values is under
  /// 2^-127.
  bool bounded = false;
  int width = 0;
  int height = 0;
  float scale = 1;  ///< sqrt(weights.range), or 1 if adaptive
  std::ptrdiff_t pitch = 0;
  AlignedVector<float> samples;  ///< (height + 2 radius) rows
  std::vector<float> exponents;  ///< kExp2Shift - spatial |p - q|^2 of the window's samples, row by row

  /// Sets all members except the samples.
  void prepare(const BilateralWeights& new_weights, const FrameFormat& format, int new_width, int new_height);
  void prepare(const AdaptiveBilateralWeights& new_weights, int new_width, int new_height);
  /// Row y of the plane, from -radius to height + radius - 1, with its margin filled; rows outside the plane
  /// consist of margin. Thread-safe for different rows.
  float* begin_row(int y);
  const float* row(int y) const { return samples.data() + (y + weights.radius) * pitch + weights.radius; }

 private:
  void lay_out(int new_width, int new_height);
};

/// One plane for the filters that compare patches.
struct PatchJob {
  PatchWeights weights;
  int width = 0;
  int height = 0;
  std::ptrdiff_t pitch = 0;      ///< row length of `samples`, and of `pairs` in pairs, at least width +
                                 ///< kRowSlack
  AlignedVector<float> samples;  ///< code values
  /// Pairs of matching values. Row y, from -patch_radius to height - 1, contains the values of the row that
  /// enters a patch's height when the patch moves down to y, y + patch_radius, paired with those of the row
  /// that leaves it, y - patch_radius - 1. Values of rows outside the plane are undefined.
  AlignedVector<std::int16_t> pairs;

  /// Sets all members except the contents of `samples` and `pairs`.
  void prepare(const PatchWeights& new_weights, int new_width, int new_height);
  float* sample_row(int y) { return samples.data() + y * pitch; }
  const float* sample_row(int y) const { return samples.data() + y * pitch; }
  const std::int16_t* pair_row(int y) const { return pairs.data() + 2 * (y + weights.patch_radius) * pitch; }
  /// Writes the matching values of row y of the plane to `pairs`. Thread-safe for different rows.
  void set_matching_row(int y, const std::int16_t* values);
};

/// Output samples [x0, x1) x [y0, y1).
struct PatchTile {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
};
inline constexpr int kPatchTileWidth = 128;
inline constexpr int kPatchTileHeight = 64;

/// Working memory of a thread. Grows to the size of the largest tile and is reused.
struct PatchScratch {
  /// Sums of weighted differences, then of weights, for some of the offsets.
  AlignedVector<float> sums;
  AlignedVector<double> totals;         ///< sums of weighted differences, then of weights, for all offsets
  AlignedVector<std::int32_t> columns;  ///< sums of squared differences down the patch's height
  AlignedVector<float> column_scales;
};

/// 2^x for x <= 0, as the filters compute it; for tests. Writes whole vectors: `count` must be a multiple of
/// 16.
void exp2_row(const float* x, int count, float* out);

}  // namespace limpid::cpu
