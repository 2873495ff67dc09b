// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

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

}  // namespace limpid
