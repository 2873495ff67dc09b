// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "core/frame/frame.h"

namespace limpid {

/// Correlations of the noise of U and V with luma's, averaged over each chroma sample; -1 to 1.
using ChromaCorrelations = std::array<double, 2>;

/// Measures ChromaCorrelations in the quietest blocks of frames, where differences of neighboring samples are
/// noise. Meaningful for frames with noise.
class ChromaCorrelationMeter {
 public:
  /// Adds a YUV frame of integer samples in host memory. Other color models are ignored.
  void add(const Frame& frame);
  /// 0 if nothing could be measured.
  ChromaCorrelations result() const;

 private:
  // Sums of products of differences.
  struct Sums {
    double luma = 0;
    double chroma = 0;
    double both = 0;
    void add(const Sums& other);
  };
  template <typename Sample>
  static Sums of_row(const Frame& frame, int plane, int y, int left);
  template <typename Sample>
  static Sums of_quiet_blocks(const Frame& frame, int plane);

  std::array<Sums, 2> sums_;  ///< of quiet blocks of all frames, for U and V
};

}  // namespace limpid
