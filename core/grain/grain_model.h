// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "core/frame/frame.h"
#include "core/grain/film_grain.h"
#include "core/noise/noise_model.h"

namespace limpid {

/// An autoregressive filter in two dimensions, as AV1 has it: a sample is white noise plus the weighted sum
/// of the samples up to three rows above, three columns to the left and right, and of three samples to the
/// left.
struct Autoregression {
  static constexpr int kLag = 3;
  static constexpr int kNeighbors = 2 * kLag * (kLag + 1);
  std::array<double, kNeighbors> weights{};  ///< in the order of FilmGrain::coefficients
};

/// The variance of filtered white noise of variance 1. Infinite if the filter is not stable: if a sample
/// affects samples that are 60 rows away.
double filtered_variance(const Autoregression& filter);

/// The filter whose noise has the covariances of this shape as far as the filter reaches (Yule-Walker
/// equations). `taper`: factor of the covariances for each sample of distance; less than 1 for less
/// correlation.
Autoregression autoregression_of(const NoiseShape& shape, double taper = 1);

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

/// The film grain that resembles the noise in frames of this format, which must be one of
/// can_have_film_grain(): of the deviation at each brightness, and of the spectrum as far as an
/// autoregressive filter of lag 3 can express it. Deviations and correlations are those of the synthesized
/// grain, measured over templates of several seeds.
FilmGrain film_grain_of(const NoiseModel& noise, const FrameFormat& format, int seed,
                        const ChromaCorrelations& correlations = {});

}  // namespace limpid
