// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>

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

}  // namespace limpid::cpu
