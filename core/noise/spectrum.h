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

/// Of all coefficients, the DC's among them.
double mean_of(const Spectrum& spectrum);
/// Of the coefficients of frequencies u + v from `first` to `last`, the DC's not among them.
double mean_of(const Spectrum& spectrum, int first, int last);

/// How much weaker high frequencies are than medium ones: the quotient of their deviations.
double slope_of(const Spectrum& spectrum);

/// The same spectrum with the mean `variance`.
Spectrum scaled(Spectrum spectrum, double variance);

/// Without what the lowest frequencies have of shading.
Spectrum without_shading(const Spectrum& spectrum, bool luma);

/// Of chroma, whose noise is blotches greater than a block where it comes from demosaicking: without what
/// only shading has, and with a DC, which blocks don't tell, by which the spectrum goes on as it does from
/// the frequencies u + v = 2 to 1.
Spectrum with_blotches(const Spectrum& spectrum);

}  // namespace limpid::noise
