#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/recursive/recursion.h"
#include "cpu/recursive/padded_plane.h"

// The inner loops of the recursive filter, on one thread.

namespace limpid::cpu {

/// Values of an 8 x 8 patch in the order of a vector kernel: row by row of its transposed coefficients, each
/// row twice for vectors of two patches.
using PatchValues = std::array<float, std::size_t{2} * recursive::kPatch * recursive::kPatch>;

/// A block's window of the current guide and, along the whole vector, of the reference guide, which has a
/// sample more on all sides. Rows of both are `stride` bytes apart.
struct GuideWindows {
  const std::uint8_t* current = nullptr;
  const std::uint8_t* reference = nullptr;
  std::ptrdiff_t stride = 0;
};

/// The fraction of the vector; none if it does not gain more than `least_gain`.
recursive::EighthVector find_fraction(const GuideWindows& windows, int least_gain);

/// Writes the block at (x, y) of `out` as `from` has it along `vector`: `rows` rows of eight samples, which
/// may go beyond the block's width.
void warp_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x, int y, int rows,
                PaddedPlane& out);

/// One step over the patches of a plane.
struct PatchStep {
  bool second = false;
  bool has_prior = false;  ///< false in the first frame
  const PaddedPlane* noisy = nullptr;
  const PaddedPlane* prior = nullptr;  ///< the state along motion
  const PaddedPlane* pilot =
      nullptr;              ///< the last result along motion; in the second step the first estimate
  float threshold = 0;      ///< squared: of coefficients without a pilot, in units of n
  PatchValues variances{};  ///< of the noise's coefficients
  PatchValues inverse_variances{};
  PatchValues window{};  ///< of the aggregation; not transposed
};

/// The patches of one row of patches. All spans have as many elements.
struct PatchRow {
  int y = 0;
  std::span<const int> xs;
  std::span<const float> state_variances;  ///< v
  std::span<const float> noise_factors;    ///< of the noise's variance, by brightness
  std::span<float> gains;                  ///< result: the mean of K
  std::span<unsigned char> unknown;        ///< result: 1 without a prior
};

/// Sums of the rows that a row of patches covers, from its first row on.
struct PatchSums {
  float* estimates = nullptr;
  float* weights = nullptr;
  float* merged = nullptr;  ///< null in the first step; weighted by the windows alone
  std::ptrdiff_t pitch = 0;
};

/// Merges and shrinks a row of patches, and adds them to `sums`. The order of additions follows from `row`.
void filter_patch_row(const PatchStep& step, const PatchRow& row, const PatchSums& sums);

/// out = sums / weights, of `count` samples; and out = sums * columns * row.
void divide_row(const float* sums, const float* weights, int count, float* out);
void multiply_row(const float* sums, const float* columns, float row, int count, float* out);

/// The sum of squared differences of two blocks of `width` x `height` samples.
float squared_difference(const float* a, std::ptrdiff_t a_pitch, const float* b, std::ptrdiff_t b_pitch,
                         int width, int height);

}  // namespace limpid::cpu
