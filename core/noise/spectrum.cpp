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
/// The same of blotches, for frequencies of 1 and of 2; those of cameras' pictures with known truth have 10
/// to 18 and 4 to 6.
constexpr double kFirstRatioOfBlotches = 16;
constexpr double kSecondRatioOfBlotches = 6;
/// From the frequencies of 1 to the DC at most.
constexpr double kMostRiseOfBlotches = 3;

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

Spectrum with_blotches(Spectrum spectrum) {
  const double middle = mean_of(spectrum, 3, 4);
  for (int i = 1; i < kCoefficients; ++i) {
    const int frequency = i / kBlock + i % kBlock;
    if (frequency <= kLowest) {
      spectrum[i] =
          std::min(spectrum[i], middle * (frequency == 1 ? kFirstRatioOfBlotches : kSecondRatioOfBlotches));
    }
  }
  const double first = mean_of(spectrum, 1, 1);
  spectrum[0] = first * std::clamp(first / std::max(mean_of(spectrum, 2, 2), 1e-9), 1.0, kMostRiseOfBlotches);
  return spectrum;
}

}  // namespace limpid::noise
