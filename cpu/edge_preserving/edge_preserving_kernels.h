#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/edge_preserving/edge_preserving.h"
#include "cpu/runtime/aligned_vector.h"

// The inner loops of the edge-preserving filters, on one thread. cpu/edge_preserving/edge_preserving.h
// cuts planes into rows and tiles.

namespace limpid::cpu {

/// Samples that may be read beyond a row's last, so that vectors need no special case at its end; the results
/// for them are thrown away.
inline constexpr int kRowSlack = 64;

/// Exponents of weights are kept with this added, as cpu/edge_preserving/exp2-inl.h takes them.
inline constexpr float kExp2Shift = 512 + 127;

/// One plane for the bilateral filters: code values times `scale`, inside a margin of kOutside as wide as the
/// window's radius. A margin's sample differs from any other by so much that its weight vanishes: borders
/// need no special case either.
struct BilateralJob {
  static constexpr float kOutside = 1e10F;

  BilateralWeights weights;
  bool adaptive = false;  ///< with the two that follow, of AdaptiveBilateralWeights
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

  /// Sets everything but the samples.
  void prepare(const BilateralWeights& new_weights, const FrameFormat& format, int new_width, int new_height);
  void prepare(const AdaptiveBilateralWeights& new_weights, int new_width, int new_height);
  /// Row y of the plane, from -radius to height + radius - 1, its margin filled; if it is outside of the
  /// plane, all of it. Thread-safe for different rows.
  float* begin_row(int y);
  const float* row(int y) const { return samples.data() + (y + weights.radius) * pitch + weights.radius; }

 private:
  void lay_out(int new_width, int new_height);
};

/// The filtered row y, in code values; `out` has room for width + kRowSlack.
void bilateral_row(const BilateralJob& job, int y, float* out);

/// One plane for the filters that compare patches.
struct PatchJob {
  PatchWeights weights;
  int width = 0;
  int height = 0;
  std::ptrdiff_t pitch = 0;      ///< of `samples`, and in pairs of `pairs`, at least width + kRowSlack
  AlignedVector<float> samples;  ///< code values
  /// Pairs of matching values. Row y, from -patch_radius to height - 1, has first the values of the row that
  /// comes into a patch's height when it moves down to y, y + patch_radius, and second those of the row that
  /// leaves it, y - patch_radius - 1. Values of rows outside of the plane mean nothing.
  AlignedVector<std::int16_t> pairs;

  /// Sets everything but the contents of `samples` and `pairs`.
  void prepare(const PatchWeights& new_weights, int new_width, int new_height);
  float* sample_row(int y) { return samples.data() + y * pitch; }
  const float* sample_row(int y) const { return samples.data() + y * pitch; }
  const std::int16_t* pair_row(int y) const { return pairs.data() + 2 * (y + weights.patch_radius) * pitch; }
  /// Enters the matching values of row y of the plane into `pairs`. Thread-safe for different rows.
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

/// A thread's working memory; grows to what the largest tile needs and is then reused.
struct PatchScratch {
  AlignedVector<float> sums;            ///< of weighted differences, then of weights: of some offsets
  AlignedVector<double> totals;         ///< of all, likewise
  AlignedVector<std::int32_t> columns;  ///< sums of squared differences down the patch's height
  AlignedVector<float> column_scales;
};

/// Filters one tile of at most kPatchTileWidth x kPatchTileHeight into `out`, whose row y begins at out + y *
/// pitch, as the job's samples do; in code values. Thread-safe for different tiles and scratches.
void patch_tile(const PatchJob& job, const PatchTile& tile, PatchScratch& scratch, float* out);

/// 2^x for x <= 0, as the filters compute it; for tests. Writes a whole number of vectors: `count` must be a
/// multiple of 16.
void exp2_row(const float* x, int count, float* out);

}  // namespace limpid::cpu
