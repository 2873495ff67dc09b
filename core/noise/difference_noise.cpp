// SPDX-License-Identifier: MIT
#include "core/noise/difference_noise.h"

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "core/noise/constants.h"

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

namespace {

struct Class {
  double all = 0;     // number of blocks
  double chosen = 0;  // number of measured blocks
  Spectrum spectrum{};
  double measured = 0;    // variance of the differences
  double level = 0;       // standard deviation of the noise
  double visibility = 0;  // DifferenceNoise::visibility of the class
  double uniformity = 0;
  double reliability = 0;  // reliability of `level`, which texture in the differences raises
};
using Classes = std::array<Class, kClasses>;

// The sums of a class's bins [first, last).
struct BinSums {
  Energies energies;
  double texture = 0;  // sum over the blocks

  void add(const Energies& bin, int activity) {
    energies.add(bin);
    texture += bin.blocks * texture_of(activity);
  }
  Spectrum spectrum() const {
    Spectrum mean = energies.energy;
    for (double& value : mean) {
      value /= energies.blocks;
    }
    return mean;
  }
  double mean_texture() const { return texture / energies.blocks; }
  double uniformity() const {
    double sum = 0;
    for (int i = 1; i < kCoefficients; ++i) {
      sum += energies.energy[i];
    }
    const double mean = sum / (kCoefficients - 1) / energies.blocks;
    return mean > 0 ? std::min(std::exp2(energies.octaves / energies.blocks) / mean, 1.0) : 0;
  }
};

struct Chosen {
  BinSums sums;
  int last = 0;  // number of the bin
};

// The blocks with the least texture whose variance has the lowest upper bound.
std::optional<Chosen> least_textured(const Energies* bins, double least) {
  std::optional<Chosen> chosen;
  double lowest = std::numeric_limits<double>::infinity();
  BinSums sums;
  for (int a = 0; a < kActivities; ++a) {
    sums.add(bins[a], a);
    const double blocks = sums.energies.blocks;
    if (blocks < least || bins[a].blocks == 0) {
      continue;
    }
    // Neighboring coefficients of colored noise depend on each other: half of them count.
    const double error = std::sqrt(2 / (blocks * kCoefficients / 2));
    const double bound = mean_of(sums.spectrum()) * (1 + kConstants.difference.standard_errors * error);
    if (bound < lowest) {
      lowest = bound;
      chosen = {sums, a};
    }
  }
  return chosen;
}

// Extrapolates a class's differences to blocks without texture, whose own energy is half of the noise's
// variance.
void extrapolate(const Energies* bins, const Chosen& chosen, Class& result) {
  const double texture = chosen.sums.mean_texture();
  const double variance = result.measured;
  double left = variance;
  BinSums textured;
  for (int a = chosen.last + kConstants.difference.textured_step; a < kActivities; ++a) {
    textured.add(bins[a], a);
  }
  if (textured.energies.blocks >= kConstants.difference.least_blocks) {
    const Spectrum more = textured.spectrum();
    const double growth = std::max(mean_of(more) - variance, 0.0) / (textured.mean_texture() - texture);
    const double share = std::min(growth, kConstants.difference.most_growth);
    left = std::clamp((variance - share * texture) / (1 - share / 2), 0.0, variance);
    // Subtracts the spectrum of the growth in proportion to its part of the variance.
    const double total = mean_of(more) - variance;
    for (int i = 0; i < kCoefficients && total > 0; ++i) {
      const double own = std::max(more[i] - result.spectrum[i], 0.0) * (variance - left) / total;
      result.spectrum[i] = std::max(result.spectrum[i] - own, 0.0);
    }
  }
  result.level = std::sqrt(left);
  result.visibility = std::min(left / 2 / texture, 1.0);
}

Classes measure(const std::vector<Energies>& bins, ChannelKind kind) {
  Classes classes;
  for (int c = 0; c < kClasses; ++c) {
    const Energies* const own = &bins[static_cast<std::size_t>(c) * kActivities];
    Class& result = classes[c];
    for (int a = 0; a < kActivities; ++a) {
      result.all += own[a].blocks;
    }
    const double share = kind == ChannelKind::kLuma ? 0 : kConstants.difference.chroma_share;
    const auto chosen = least_textured(own, std::max(kConstants.difference.least_blocks, share * result.all));
    if (!chosen) {
      continue;
    }
    result.chosen = chosen->sums.energies.blocks;
    result.spectrum = chosen->sums.spectrum();
    result.measured = mean_of(result.spectrum);
    result.uniformity = chosen->sums.uniformity();
    result.reliability =
        ramp(result.uniformity, kConstants.difference.unreliable, kConstants.difference.reliable);
    extrapolate(own, *chosen, result);
    result.level *=
        std::sqrt(ramp(result.uniformity, kConstants.difference.texture, kConstants.difference.noise));
  }
  return classes;
}

// Levels are upper bounds. The level of a class with texture in all blocks is limited by the levels of the
// next classes.
void limit_by_neighbors(Classes& classes) {
  std::array<double, kClasses> bounds{};
  double greatest = 0;
  for (int c = 0; c < kClasses; ++c) {
    bounds[c] = std::sqrt(classes[c].measured);
    greatest = std::max(greatest, bounds[c]);
  }
  const auto limit = [&](int c, int step) {
    int by = c + step;
    while (by >= 0 && by < kClasses && classes[by].chosen == 0) {
      by += step;
    }
    if (by < 0 || by >= kClasses || classes[c].chosen == 0) {
      return;
    }
    const double rise =
        kConstants.difference.rise_if_unreliable *
        std::pow(kConstants.difference.rise_if_reliable / kConstants.difference.rise_if_unreliable,
                 classes[c].reliability);
    bounds[c] =
        std::min(bounds[c], rise * std::max(bounds[by], kConstants.difference.least_limit * greatest));
    classes[c].level = std::min(classes[c].level, bounds[c]);
  };
  for (int c = 1; c < kClasses; ++c) {
    limit(c, -1);
  }
  for (int c = kClasses - 2; c >= 0; --c) {
    limit(c, 1);
  }
}

// If texture hides the noise of a class or remains in its differences, the level lies between the
// extrapolated and the measured one. It is then interpolated from the surrounding classes with visible noise.
void fill_hidden(Classes& classes) {
  const Classes before = classes;
  for (int c = 0; c < kClasses; ++c) {
    Class& own = classes[c];
    if (own.chosen == 0 || (own.visibility > kConstants.difference.hidden && own.reliability > 0)) {
      continue;
    }
    // The extrapolated level of the class itself has a small weight.
    double weights = kConstants.difference.own_weight * own.chosen;
    double sum = weights * own.level;
    for (int by = 0; by < kClasses; ++by) {
      const Class& other = before[by];
      if (other.chosen > 0 && other.visibility > kConstants.difference.hidden) {
        const double weight = other.reliability * other.chosen / (1 + (by - c) * (by - c));
        sum += weight * other.level;
        weights += weight;
      }
    }
    if (weights > 0) {
      own.level = std::clamp(sum / weights, own.level, std::max(own.level, std::sqrt(own.measured)));
    }
  }
}

// The median of the classes' values, weighted by their numbers of blocks.
template <typename Value>
double median_of(const Classes& classes, const Value& value) {
  std::vector<std::pair<double, double>> variances;  // variance and number of blocks
  double all = 0;
  for (const Class& each : classes) {
    if (each.chosen > 0) {
      variances.emplace_back(value(each), each.all);
      all += each.all;
    }
  }
  std::sort(variances.begin(), variances.end());
  double before = 0;
  for (const auto& [variance, blocks] : variances) {
    before += blocks;
    if (before >= all / 2) {
      return variance;
    }
  }
  return 0;
}

// The curve through the levels of classes, relative to `sigma`: linear over classes without one, and constant
// beyond the last.
NoiseShape::Curve curve_of(const Classes& classes, double sigma) {
  std::array<double, kClasses> levels{};
  int last = -1;  // last class with a level
  for (int c = 0; c < kClasses; ++c) {
    if (classes[c].chosen == 0) {
      continue;
    }
    levels[c] = classes[c].level;
    for (int gap = last + 1; gap < c; ++gap) {
      const double part = static_cast<double>(gap - last) / (c - last);
      levels[gap] = last < 0 ? levels[c] : levels[last] + part * (levels[c] - levels[last]);
    }
    last = c;
  }
  std::fill(levels.begin() + last + 1, levels.end(), levels[std::max(last, 0)]);
  NoiseShape::Curve curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {  // points lie between classes
    const double below = levels[i > 0 ? i - 1 : 0];
    const double above = levels[std::min(i, levels.size() - 1)];
    curve[i] =
        static_cast<float>(std::clamp((below + above) / 2 / sigma, kConstants.difference.least_of_curve,
                                      kConstants.difference.most_of_curve));
  }
  return curve;
}

}  // namespace

double followed_share(const ChannelStatistics& channel) {
  const double blocks = count_of(channel.differences);
  return channel.lost > 0 ? blocks / (blocks + channel.lost) : 1;
}

std::optional<DifferenceNoise> difference_noise(const ChannelStatistics& channel, ChannelKind kind) {
  if (channel.differences.empty() || followed_share(channel) < kConstants.difference.least_followed) {
    return std::nullopt;
  }
  Classes classes = measure(channel.differences, kind);
  limit_by_neighbors(classes);
  fill_hidden(classes);
  DifferenceNoise noise;
  double variance = 0;
  double all = 0;
  double weights = 0;
  for (const Class& each : classes) {
    if (each.chosen == 0) {
      continue;
    }
    variance += each.all * each.level * each.level;
    noise.visibility += each.all * each.visibility;
    noise.uniformity += each.all * each.uniformity;
    noise.reliability += each.all * each.reliability;
    all += each.all;
    const double own = mean_of(each.spectrum);
    if (!(own > 0)) {
      continue;
    }
    // If the level was lowered, the spectrum contains texture.
    const double weight = each.chosen * std::pow(each.level * each.level / each.measured, 2);
    weights += weight;
    for (int i = 0; i < kCoefficients; ++i) {
      noise.spectrum[i] += weight * each.spectrum[i] / own;
    }
  }
  if (all == 0) {
    return std::nullopt;
  }
  if (kind == ChannelKind::kOpponent) {
    // One level for all brightnesses: a few much brighter blocks do not count.
    variance = all * median_of(classes, [](const Class& each) { return each.level * each.level; });
  }
  noise.visibility /= all;
  noise.uniformity /= all;
  noise.reliability /= all;
  noise.most_variance = median_of(classes, [](const Class& each) { return each.measured; });
  const double sigma = std::sqrt(variance / all);
  if (!(weights > 0) || !(sigma > 0)) {
    noise.spectrum.fill(0);
    noise.curve = NoiseShape().curve;
    return noise;
  }
  noise.whole = scaled(noise.spectrum, variance / all);
  noise.spectrum = scaled(without_shading(noise.spectrum, kind == ChannelKind::kLuma), variance / all);
  noise.curve = kind == ChannelKind::kOpponent ? NoiseShape().curve : curve_of(classes, sigma);
  noise.least_level = sigma;
  for (const Class& each : classes) {
    if (each.chosen > 0 && each.all > kConstants.difference.least_share * all) {
      noise.least_level = std::min(noise.least_level, each.level);
    }
  }
  return noise;
}

}  // namespace limpid::noise
