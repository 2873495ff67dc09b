// SPDX-License-Identifier: MIT
#include "core/noise/difference_noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace limpid::noise {

double mean_of(const Spectrum& spectrum) {
  return std::accumulate(spectrum.begin(), spectrum.end(), 0.0) / kCoefficients;
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

void BinSums::add(const Energies& bin, int activity) {
  energies.add(bin);
  texture += bin.blocks * texture_of(activity);
  last = activity;
}

Spectrum BinSums::spectrum() const {
  Spectrum mean = energies.energy;
  for (double& value : mean) {
    value /= energies.blocks;
  }
  return mean;
}

namespace {

constexpr double kLeastBlocks = 24;  // minimum number of differences in a class of brightness
// Range of uniformity from classes of unreliable to classes of fully reliable levels.
constexpr double kUnreliable = 0.8;
constexpr double kReliable = 0.93;

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

// 0 below `from`, 1 above `to`, linear between.
double ramp(double value, double from, double to) {
  return std::clamp((value - from) / (to - from), 0.0, 1.0);
}

Spectrum scaled(Spectrum spectrum, double variance) {
  const double factor = variance / mean_of(spectrum);
  for (double& value : spectrum) {
    value *= factor;
  }
  return spectrum;
}

// DifferenceNoise::uniformity of the blocks.
double uniformity_of(const Energies& sums) {
  const double mean =
      std::accumulate(sums.energy.begin() + 1, sums.energy.end(), 0.0) / (kCoefficients - 1) / sums.blocks;
  return mean > 0 ? std::min(std::exp2(sums.octaves / sums.blocks) / mean, 1.0) : 0;
}

// The blocks with the least texture whose variance has the lowest upper bound.
std::optional<BinSums> least_textured(const Energies* bins, double least) {
  constexpr double kStandardErrors = 3;  // between a variance and its upper bound
  std::optional<BinSums> chosen;
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
    const double bound = mean_of(sums.spectrum()) * (1 + kStandardErrors * error);
    if (bound < lowest) {
      lowest = bound;
      chosen = sums;
    }
  }
  return chosen;
}

// Extrapolates a class's differences to blocks without texture, whose own energy is half of the noise's
// variance.
void extrapolate(const Energies* bins, const BinSums& chosen, Class& result) {
  // Half octaves between the measured blocks and those that show how differences grow with texture.
  constexpr int kTexturedStep = 4;
  // Maximum growth relative to that of texture. Blocks that were not followed at all have it.
  constexpr double kMostGrowth = 1.5;
  const double texture = chosen.mean_texture();
  const double variance = result.measured;
  double left = variance;
  BinSums textured;
  for (int a = chosen.last + kTexturedStep; a < kActivities; ++a) {
    textured.add(bins[a], a);
  }
  if (textured.energies.blocks >= kLeastBlocks) {
    const Spectrum more = textured.spectrum();
    const double growth = std::max(mean_of(more) - variance, 0.0) / (textured.mean_texture() - texture);
    const double share = std::min(growth, kMostGrowth);
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
  // Share of the blocks of a class that is used for chroma, which rarely has texture.
  constexpr double kShareOfChroma = 0.5;
  // Uniformity of blocks whose differences are texture, and least uniformity of noise alone.
  constexpr double kTexture = 0.4;
  constexpr double kNoise = 0.75;
  Classes classes;
  for (int c = 0; c < kClasses; ++c) {
    const Energies* const own = &bins[static_cast<std::size_t>(c) * kActivities];
    Class& result = classes[c];
    for (int a = 0; a < kActivities; ++a) {
      result.all += own[a].blocks;
    }
    const double share = kind == ChannelKind::kLuma ? 0 : kShareOfChroma;
    const auto chosen = least_textured(own, std::max(kLeastBlocks, share * result.all));
    if (!chosen) {
      continue;
    }
    result.chosen = chosen->energies.blocks;
    result.spectrum = chosen->spectrum();
    result.measured = mean_of(result.spectrum);
    result.uniformity = uniformity_of(chosen->energies);
    result.reliability = ramp(result.uniformity, kUnreliable, kReliable);
    extrapolate(own, *chosen, result);
    result.level *= std::sqrt(ramp(result.uniformity, kTexture, kNoise));
  }
  return classes;
}

// Levels are upper bounds. The level of a class with texture in all blocks is limited by the levels of the
// next classes.
void limit_by_neighbors(Classes& classes) {
  // Maximum rise of the deviation from one class to the next.
  constexpr double kRiseIfUnreliable = 1.06;
  constexpr double kRiseIfReliable = 4;
  constexpr double kLeastLimit = 0.02;  // share of the greatest level; lower levels limit no neighbors
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
        kRiseIfUnreliable * std::pow(kRiseIfReliable / kRiseIfUnreliable, classes[c].reliability);
    bounds[c] = std::min(bounds[c], rise * std::max(bounds[by], kLeastLimit * greatest));
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
  constexpr double kOwnWeight = 0.1;  // of a class's own extrapolated level
  const Classes before = classes;
  for (int c = 0; c < kClasses; ++c) {
    Class& own = classes[c];
    if (own.chosen == 0 || (own.visibility > kHiddenShare && own.reliability > 0)) {
      continue;
    }
    double weights = kOwnWeight * own.chosen;
    double sum = weights * own.level;
    for (int by = 0; by < kClasses; ++by) {
      const Class& other = before[by];
      if (other.chosen > 0 && other.visibility > kHiddenShare) {
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
  constexpr double kLeast = 0.05;
  constexpr double kMost = 9;
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
    curve[i] = static_cast<float>(std::clamp((below + above) / 2 / sigma, kLeast, kMost));
  }
  return curve;
}

}  // namespace

double followed_share(const ChannelStatistics& channel) {
  const double blocks = count_of(channel.differences);
  return channel.lost > 0 ? blocks / (blocks + channel.lost) : 1;
}

std::optional<DifferenceNoise> difference_noise(const ChannelStatistics& channel, ChannelKind kind) {
  // Share of followed blocks, among blocks that are neither copies nor constant.
  constexpr double kLeastFollowed = 0.25;
  constexpr double kLeastShare = 0.03;  // of all blocks, in a class that counts for the least level
  if (channel.differences.empty() || followed_share(channel) < kLeastFollowed) {
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
    return noise;
  }
  noise.whole = scaled(noise.spectrum, variance / all);
  noise.spectrum = scaled(
      limited(noise.spectrum, kind == ChannelKind::kLuma ? kRatiosOfLuma : kRatiosOfChroma), variance / all);
  if (kind != ChannelKind::kOpponent) {
    noise.curve = curve_of(classes, sigma);
  }
  noise.least_level = sigma;
  for (const Class& each : classes) {
    if (each.chosen > 0 && each.all > kLeastShare * all) {
      noise.least_level = std::min(noise.least_level, each.level);
    }
  }
  return noise;
}

}  // namespace limpid::noise
