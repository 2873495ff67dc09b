// SPDX-License-Identifier: MIT
#include "core/noise/clipping.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace limpid {
namespace {

// Weaker noise moves no sample by a code value.
constexpr float kLeastSigma = 2;
// Distance from the end, in standard deviations, beyond which clipping is negligible.
constexpr double kReach = 3.5;
// Least distance from the end at which samples are counted, in standard deviations. Below 0.4, even a truth
// at the end itself produces such means.
constexpr double kCountedFrom = 0.45;
constexpr double kCountedTo = 1.3;

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }
double normal_distribution(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }
// The mean of noise of unit variance around `truth` whose negative values are moved to 0.
double clipped_mean(double truth) { return truth * normal_distribution(truth) + normal_density(truth); }

// `sigma_at(d)`: the standard deviation of the noise d code values from the end.
template <typename SigmaAt>
ClippedEnd end_of(const SigmaAt& sigma_at, double sample_in_code_values) {
  constexpr int kSteps = 16;                // steps per code value
  const auto mean_of = [&](double truth) {  // mean of the noisy samples for a true value
    const double sigma = sigma_at(truth);
    return sigma * clipped_mean(truth / sigma);
  };
  ClippedEnd end;
  double truth = 0;
  double mean = mean_of(0);
  for (int d = 0; d < ClippedEnd::kDistances; ++d) {
    double before = truth;
    double mean_before = mean;
    while (mean < d) {
      before = truth;
      mean_before = mean;
      truth += 1.0 / kSteps;
      mean = std::max(mean, mean_of(truth));  // a steep curve could make it decrease
    }
    const double between = mean > mean_before ? (d - mean_before) / (mean - mean_before) : 0;
    const double found = std::max(before + std::clamp(between, 0.0, 1.0) * (truth - before), 0.0);
    const double sigma = sigma_at(found);
    if (found > kReach * sigma) {
      break;
    }
    end.shift[d] = static_cast<float>(d - found);
    if (d > kCountedFrom * sigma_at(0) && d <= kCountedTo * sigma_at(0)) {
      end.share[d] = static_cast<std::uint32_t>(
          std::lround(65536 * normal_distribution((sample_in_code_values / 2 - found) / sigma)));
    }
  }
  return end;
}

}  // namespace

std::optional<ClippedEnds> clipped_ends(const FrameFormat& format, int plane, const PlaneNoise& noise) {
  const bool brightness = plane == 0 || (format.color_model == ColorModel::kRgb && plane < 3);
  if (format.is_float() || !brightness || noise.sigma < kLeastSigma) {
    return std::nullopt;
  }
  const double sample = 1 / format.code_value();
  const double greatest = ((1 << format.bit_depth) - 1) * sample;
  const auto sigma_at = [&](double brightness_there) {
    return static_cast<double>(noise.sigma) *
           static_cast<double>(deviation_at(noise.shape.curve, static_cast<float>(brightness_there)));
  };
  return ClippedEnds{end_of(sigma_at, sample),
                     end_of([&](double distance) { return sigma_at(greatest - distance); }, sample)};
}

Censoring::Censoring() {
  // Means below that of a plane at the very end of the range are random; they get its variance.
  double x = 0;
  for (std::size_t i = 0; i < variances_.size(); ++i) {
    while (clipped_mean(x) * kEntriesPerUnit < static_cast<double>(i)) {
      x += 1.0 / 1024;
    }
    variances_[i] = static_cast<float>((x * x + 1) * normal_distribution(x) + x * normal_density(x) -
                                       std::pow(clipped_mean(x), 2));
  }
}

}  // namespace limpid
