// SPDX-License-Identifier: MIT
#include "core/noise/spectrum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace limpid::noise {
namespace {

/// Maximum ratio of the frequencies u + v of 0, 1 and 2 to the mean variance of 3 and 4; the rest is shading.
using LowestRatios = std::array<double, 3>;
constexpr LowestRatios kRatiosOfLuma = {2, 2, 2};
constexpr LowestRatios kRatiosOfChroma = {7, 7, 7};
/// Pictures of cameras with known noise have 10 to 18 and 4 to 6, which determine the DC.
constexpr LowestRatios kRatiosOfBlotches = {0, 16, 6};
constexpr LowestRatios kRatiosOfCoarseGrain = {9, 6, 3.5};
/// Maximum ratio of the DC's variance to that of the frequencies of 1.
constexpr double kMostRiseOfBlotches = 3;

Spectrum limited(Spectrum spectrum, const LowestRatios& ratios) {
  const double middle = mean_of(spectrum, 3, 4);
  for (int i = 0; i < kCoefficients; ++i) {
    const int frequency = i / kBlock + i % kBlock;
    if (frequency < std::ssize(ratios)) {
      spectrum[i] = std::min(spectrum[i], ratios[frequency] * middle);
    }
  }
  return spectrum;
}

}  // namespace

double mean_of(const Spectrum& spectrum) {
  double sum = 0;
  for (const double value : spectrum) {
    sum += value;
  }
  return sum / kCoefficients;
}

double mean_of(const Spectrum& spectrum, int first, int last) {
  double sum = 0;
  int count = 0;
  for (int i = 1; i < kCoefficients; ++i) {
    const int frequency = i / kBlock + i % kBlock;
    if (frequency >= first && frequency <= last) {
      sum += spectrum[i];
      ++count;
    }
  }
  return sum / count;
}

double slope_of(const Spectrum& spectrum) {
  return std::sqrt(mean_of(spectrum, 10, 14) / std::max(mean_of(spectrum, 3, 6), 1e-9));
}

Spectrum scaled(Spectrum spectrum, double variance) {
  const double factor = variance / mean_of(spectrum);
  for (double& value : spectrum) {
    value *= factor;
  }
  return spectrum;
}

Spectrum without_shading(const Spectrum& spectrum, bool luma) {
  return limited(spectrum, luma ? kRatiosOfLuma : kRatiosOfChroma);
}

Spectrum with_coarse_grain(const Spectrum& spectrum) { return limited(spectrum, kRatiosOfCoarseGrain); }

Spectrum with_blotches(const Spectrum& spectrum) {
  Spectrum result = limited(spectrum, kRatiosOfBlotches);
  const double first = mean_of(result, 1, 1);
  result[0] = first * std::clamp(first / std::max(mean_of(result, 2, 2), 1e-9), 1.0, kMostRiseOfBlotches);
  return result;
}

}  // namespace limpid::noise
