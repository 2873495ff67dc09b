#include "core/noise/spectrum.h"

#include <algorithm>
#include <cmath>

namespace limpid::noise {
namespace {

/// Frequencies u + v of up to 2 have so many times the mean variance of those of 3 and 4 at most; above that
/// is shading.
constexpr int kLowest = 2;
constexpr double kLowestRatioOfLuma = 2;
constexpr double kLowestRatioOfChroma = 7;

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

Spectrum without_shading(Spectrum spectrum, bool luma) {
  const double most = (luma ? kLowestRatioOfLuma : kLowestRatioOfChroma) * mean_of(spectrum, 3, 4);
  for (int i = 0; i < kCoefficients; ++i) {
    if (i / kBlock + i % kBlock <= kLowest) {
      spectrum[i] = std::min(spectrum[i], most);
    }
  }
  return spectrum;
}

}  // namespace limpid::noise
