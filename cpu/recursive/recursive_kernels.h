// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/recursive/recursive_parameters.h"
#include "cpu/runtime/aligned_vector.h"

namespace limpid::cpu {

/// A plane of samples in 8-bit code values, with a margin on all sides that repeats the border.
class PaddedPlane {
 public:
  /// Width of the margin: a block beyond the last whole one (8 samples), the fraction of its vector (1),
  /// interpolation (4), and the rest of a vector of eight.
  static constexpr int kMargin = 24;

  void resize(int width, int height) {
    width_ = width;
    height_ = height;
    pitch_ = (width + 2 * kMargin + 15) / 16 * 16;
    samples_.resize(static_cast<std::size_t>(height + 2 * kMargin) * static_cast<std::size_t>(pitch_));
  }
  int width() const { return width_; }
  int height() const { return height_; }
  std::ptrdiff_t pitch() const { return pitch_; }
  float* row(int y) { return samples_.data() + offset(y); }
  const float* row(int y) const { return samples_.data() + offset(y); }

  /// Fills the margins left and right of row `y`, and, for the first and last row, above and below the plane.
  void pad_row(int y) {
    float* const first = row(y);
    std::fill_n(first - kMargin, kMargin, first[0]);
    std::fill(first + width_, first - kMargin + pitch_, first[width_ - 1]);
    for (int i = 1; y == 0 && i <= kMargin; ++i) {
      std::copy_n(first - kMargin, pitch_, row(-i) - kMargin);
    }
    for (int i = 1; y == height_ - 1 && i <= kMargin; ++i) {
      std::copy_n(first - kMargin, pitch_, row(y + i) - kMargin);
    }
  }

 private:
  std::ptrdiff_t offset(int y) const { return static_cast<std::ptrdiff_t>(y + kMargin) * pitch_ + kMargin; }

  int width_ = 0;
  int height_ = 0;
  std::ptrdiff_t pitch_ = 0;
  AlignedVector<float> samples_;
};

// The inner loops of the recursive filter, on one thread.

/// Values of an 8 x 8 patch in the order of a vector kernel: the rows of its transposed coefficients, each
/// row twice for vectors of two patches.
using PatchValues = std::array<float, std::size_t{2} * recursive::kPatch * recursive::kPatch>;

/// The window around a block in the current guide and, along the whole-sample vector, in the reference guide.
/// The reference window is one sample larger on all sides. Rows are `stride` bytes apart.
struct GuideWindows {
  const std::uint8_t* current = nullptr;
  const std::uint8_t* reference = nullptr;
  std::ptrdiff_t stride = 0;
};

/// The fraction of the vector; 0 if it does not reduce the difference by more than `least_gain`.
recursive::EighthVector find_fraction(const GuideWindows& windows, int least_gain);

/// Writes the block at (x, y) of `out` from the samples of `from` along `vector`: `rows` rows of eight
/// samples, which may extend beyond the width of the block.
void warp_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x, int y, int rows,
                PaddedPlane& out);

/// Input of one step over the patches of a plane.
struct PatchStep {
  bool second = false;
  bool has_prior = false;  ///< false in the first frame
  const PaddedPlane* noisy = nullptr;
  const PaddedPlane* prior = nullptr;  ///< the merged picture along motion
  const PaddedPlane* pilot =
      nullptr;              ///< the last result along motion; in the second step, the first estimate
  float threshold = 0;      ///< squared threshold of coefficients without a pilot, in units of n
  PatchValues variances{};  ///< variances of the noise's coefficients
  PatchValues inverse_variances{};
  PatchValues window{};  ///< aggregation window, not transposed
};

/// Input and results of one row of patches. All spans have the same size.
struct PatchRow {
  int y = 0;
  std::span<const int> xs;
  std::span<const float> state_variances;  ///< v
  std::span<const float> noise_factors;    ///< factors of the noise variance, by brightness
  std::span<float> gains;                  ///< result: the mean gain K of each patch
  std::span<unsigned char> unknown;        ///< result: 1 for patches without a prior
};

/// Sums for the rows that a row of patches covers, beginning with its first row.
struct PatchSums {
  float* estimates = nullptr;
  float* weights = nullptr;
  /// Merged samples, weighted only by the aggregation windows; null in the first step.
  float* merged = nullptr;
  std::ptrdiff_t pitch = 0;
};

/// Merges and shrinks a row of patches, and adds them to `sums`. The order of additions depends only on
/// `row`.
void filter_patch_row(const PatchStep& step, const PatchRow& row, const PatchSums& sums);

/// out = sums / weights, of `count` samples; and out = sums * columns * row.
void divide_row(const float* sums, const float* weights, int count, float* out);
void multiply_row(const float* sums, const float* columns, float row, int count, float* out);

/// The sum of squared differences of two blocks of `width` x `height` samples.
float squared_difference(const float* a, std::ptrdiff_t a_pitch, const float* b, std::ptrdiff_t b_pitch,
                         int width, int height);

}  // namespace limpid::cpu
