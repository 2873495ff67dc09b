// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>

#include "core/noise/noise_statistics.h"

namespace limpid::noise {

/// Variances of the coefficients [8 v + u] of 8x8 blocks.
using Spectrum = std::array<double, kCoefficients>;

/// 0 below `from`, 1 above `to`, linear between.
inline double ramp(double value, double from, double to) {
  return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

/// Mean of all coefficients, DC included.
double mean_of(const Spectrum& spectrum);
/// Mean of the coefficients of frequencies u + v from `first` to `last`, without the DC.
double mean_of(const Spectrum& spectrum, int first, int last);

/// Ratio of the standard deviations of high frequencies to those of medium frequencies.
double slope_of(const Spectrum& spectrum);

/// The spectrum scaled to the mean `variance`.
Spectrum scaled(Spectrum spectrum, double variance);

/// The spectrum without shading, which is a part of the lowest frequencies.
Spectrum without_shading(const Spectrum& spectrum, bool luma);

/// The spectrum of luma without the shading that exceeds grain of a film of three samples.
Spectrum with_coarse_grain(const Spectrum& spectrum);

/// The spectrum for chroma: without shading, and with an estimated DC. After demosaicking, chroma noise
/// consists of blotches larger than a block, whose DC cannot be measured in blocks. The DC continues the rise
/// of the spectrum from u + v = 2 to 1.
Spectrum with_blotches(const Spectrum& spectrum);

}  // namespace limpid::noise
