// SPDX-License-Identifier: MIT
#include "core/noise/noise_features.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace limpid::noise {
namespace {

constexpr double kLeastSingleBlocks = 64;
constexpr double kSingleShare = 0.03;  // of the blocks of a frame, on which its noise is measured

// The sums of the first bins that have at least this share of the blocks, and kLeastSingleBlocks. Nothing if
// there are fewer blocks.
std::optional<BinSums> flattest(const std::vector<Energies>& bins, double share) {
  const double blocks = std::max(share * count_of(bins), kLeastSingleBlocks);
  BinSums sums;
  for (int a = 0; a < static_cast<int>(bins.size()) && sums.energies.blocks < blocks; ++a) {
    if (bins[a].blocks > 0) {
      sums.add(bins[a], a);
    }
  }
  return sums.energies.blocks < kLeastSingleBlocks ? std::nullopt : std::optional(sums);
}

// The mean energy of the high frequencies of one half.
double high_energy(const Energies& sums, int half) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i < kCoefficients; ++i) {
    if (is_odd(i) == (half == 1) && i / kBlock + i % kBlock > kHighestTextureFrequency) {
      sum += sums.energy[i];
      ++count;
    }
  }
  return sum / count / sums.blocks;
}

// The variance of white noise that explains the high frequencies of the flattest blocks, after subtraction of
// the texture that they may contain. Nothing if there are too few blocks.
std::optional<double> supported_white_variance(const ChannelStatistics& channel) {
  // Half octaves of texture between the flattest blocks and those that show the growth of high frequencies.
  constexpr int kFirstTexturedStep = 3;
  constexpr int kLastTexturedStep = 8;
  // Maximum ratio of the high frequencies of the flattest blocks to those predicted from the growth.
  constexpr double kUncertainty = 2;
  constexpr double kMostOfGrowth = 0.5;
  double sum = 0;
  for (int half = 0; half < 2; ++half) {
    const std::vector<Energies>& bins = channel.single[half];
    const std::optional<BinSums> flat = flattest(bins, kSingleShare);
    if (!flat) {
      return std::nullopt;
    }
    const double texture = flat->mean_texture();
    const double energy = high_energy(flat->energies, half);
    BinSums textured;
    const int end = std::min(flat->last + kLastTexturedStep, kActivities);
    for (int a = flat->last + kFirstTexturedStep; a < end; ++a) {
      textured.add(bins[a], a);
    }
    double growth = 0;
    if (textured.energies.blocks >= kLeastSingleBlocks) {
      const double more = high_energy(textured.energies, half) - energy;
      growth = std::max(more / (textured.mean_texture() - texture), 0.0);
    }
    const double share = std::min(kUncertainty * growth, kMostOfGrowth);
    sum += std::max(energy - share * texture, 0.0) / (1 - share);
  }
  return sum / 2;
}

// Standard deviation of the samples of all blocks, including texture and noise.
double texture_deviation(const ChannelStatistics& channel) {
  double sum = 0;
  double count = 0;
  for (const std::vector<Energies>& bins : channel.single) {
    for (const Energies& bin : bins) {
      sum = std::accumulate(bin.energy.begin(), bin.energy.end(), sum);
      count += bin.blocks * kCoefficients / 2;
    }
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace

std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, ChannelKind kind) {
  // Pictures of cameras with known noise have 10 to 18 and 4 to 6, which determine the DC.
  constexpr LowestRatios kRatiosOfBlotches = {0, 16, 6};
  constexpr double kMostRise = 3;  // ratio of the variance of the DC to the variance at u + v of 1
  Spectrum spectrum{};
  for (int half = 0; half < 2; ++half) {
    const std::optional<BinSums> flat = flattest(channel.single[half], kSingleShare);
    if (!flat) {
      return std::nullopt;
    }
    for (int i = 0; i < kCoefficients; ++i) {
      if (is_odd(i) == (half == 1)) {
        spectrum[i] = flat->energies.energy[i] / flat->energies.blocks;
      }
    }
  }
  if (kind == ChannelKind::kOpponent) {
    spectrum = limited(spectrum, kRatiosOfBlotches);
    const double first = mean_of(spectrum, 1, 1);
    spectrum[0] = first * std::clamp(first / std::max(mean_of(spectrum, 2, 2), 1e-9), 1.0, kMostRise);
    return spectrum;
  }
  spectrum[0] = std::max({spectrum[1], spectrum[kBlock], spectrum[kBlock + 1]});
  return limited(spectrum, kind == ChannelKind::kLuma ? kRatiosOfLuma : kRatiosOfChroma);
}

Flatness flatness_of(const ChannelStatistics& channel) {
  constexpr double kFirstShare = 0.01;  // of the blocks: the flattest
  constexpr double kNextShare = 0.05;
  double evenness = 0;
  double growth = 0;
  for (const std::vector<Energies>& bins : channel.single) {
    const double all = count_of(bins);
    const std::optional<BinSums> flat = flattest(bins, kFirstShare);
    BinSums next;
    for (int a = flat ? flat->last + 1 : kActivities;
         a < kActivities && next.energies.blocks < kNextShare * all; ++a) {
      if (bins[a].blocks > 0) {
        next.add(bins[a], a);
      }
    }
    if (next.energies.blocks < kLeastSingleBlocks) {
      return {};
    }
    const double ratio = mean_of(flat->spectrum()) / mean_of(next.spectrum());
    evenness += ratio;
    growth -= std::log(ratio) / std::log(next.mean_texture() / flat->mean_texture());
  }
  return {std::min(evenness / 2, 1.0), std::clamp(growth / 2, 0.0, 1.0)};
}

namespace {

constexpr double kLeastBase = 1.0 / 64;

// Blocks of similar texture, in squared code values.
struct Strip {
  double texture = 0;  // of the mean of both blocks
  double difference = 0;
};
constexpr std::array<double, 5> kShares = {0, 0.05, 0.15, 0.3, 0.5};
using Strips = std::array<Strip, kShares.size() - 1>;

// The differences ordered by texture, in strips that end at these shares of all blocks.
std::optional<Strips> strips_of(const std::vector<Energies>& differences) {
  std::array<Energies, kActivities> bins;
  double all = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    bins[i % kActivities].add(differences[i]);
    all += differences[i].blocks;
  }
  if (!(kShares[1] * all >= 1)) {
    return std::nullopt;
  }
  Strips strips;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const double first = kShares[s] * all;
    const double last = kShares[s + 1] * all;
    double before = 0;
    for (int a = 0; a < kActivities; ++a) {
      const double after = before + bins[a].blocks;
      const double blocks = std::min(after, last) - std::max(before, first);
      before = after;
      if (blocks > 0) {
        const double energy = mean_of(bins[a].energy, 1, 2 * (kBlock - 1)) / bins[a].blocks;
        strips[s].texture += blocks * texture_of(a) / (last - first);
        strips[s].difference += blocks * energy / (last - first);
      }
    }
  }
  return strips;
}

double band_ratio(const Spectrum& spectrum, int first, int last) {
  return std::sqrt(mean_of(spectrum, first, last) / mean_of(spectrum, 3, 4));
}

// Ratio of the deviations in single frames to those in differences. Repeating noise has it at all
// frequencies, texture only at some.
double repetition(const Spectrum& differences, const Spectrum& single) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [first, last] : {std::pair{3, 4}, std::pair{5, 6}, std::pair{7, 9}}) {
    least = std::min(least, mean_of(single, first, last) / mean_of(differences, first, last));
  }
  return std::sqrt(least);
}

// In units of kFeatureUnit. A value that is not finite leaves the feature unknown.
void set(Features& to, Feature feature, double value) {
  if (std::isfinite(value)) {
    to[static_cast<int>(feature)] =
        static_cast<std::int16_t>(std::lround(std::clamp(value / kFeatureUnit, -32000.0, 32000.0)));
  }
}

// Sets the logarithm of a ratio of positive numbers.
void set_log(Features& to, Feature feature, double value, double base) {
  if (value > 0 && base > 0) {
    set(to, feature, std::log2(value / base));
  }
}

void set_differences(Features& to, const ChannelStatistics& channel, const ChannelNoise& noise) {
  const DifferenceNoise& found = *noise.differences;
  set_log(to, Feature::kUpper, std::sqrt(found.most_variance), noise.base);
  set_log(to, Feature::kLeastClass, found.least_level, noise.base);
  set_log(to, Feature::kSlope, slope_of(found.spectrum), 1);
  set_log(to, Feature::kFall, band_ratio(found.spectrum, 5, 6), 1);
  set_log(to, Feature::kRise, band_ratio(found.spectrum, 1, 2), 1);
  set(to, Feature::kUniformity, found.uniformity);
  set(to, Feature::kReliability, found.reliability);
  set(to, Feature::kVisibility, found.visibility);
  const auto [least, most] = std::minmax_element(found.curve.begin(), found.curve.end());
  set_log(to, Feature::kCurveSpread, double{*most}, double{*least});
  if (noise.single) {
    set_log(to, Feature::kRepetition, repetition(found.spectrum, *noise.single), 1);
  }
  if (const std::optional<Strips> strips = strips_of(channel.differences)) {
    const auto& [flattest, low, middle, high] = *strips;
    set_log(to, Feature::kFlattestRatio, flattest.difference, flattest.texture);
    set_log(to, Feature::kLowRatio, low.difference, low.texture);
    set_log(to, Feature::kHighRatio, high.difference, high.texture);
    set_log(to, Feature::kGrowth, middle.difference, flattest.difference);
    if (high.texture > low.texture) {
      set(to, Feature::kPower,
          std::log(high.difference / low.difference) / std::log(high.texture / low.texture));
    }
  }
}

void set_patches(Features& to, double base, const PatchDeviations& patches) {
  // Patches of equal samples count as the least base, so that their logarithms are known.
  set_log(to, Feature::kTenthOfPatches, std::max(patches.tenth, kLeastBase), base);
  set_log(to, Feature::kThirdOfPatches, std::max(patches.third, kLeastBase), base);
  set_log(to, Feature::kHalfOfPatches, std::max(patches.half, kLeastBase), base);
  set(to, Feature::kEqualPatches, patches.equal);
  set_log(to, Feature::kGrid, patches.grid, 1);
}

/// As a NoiseShape has it.
std::array<float, kCoefficients> relative(const Spectrum& spectrum) {
  const double mean = mean_of(spectrum);
  std::array<float, kCoefficients> result{};
  std::transform(spectrum.begin(), spectrum.end(), result.begin(),
                 [mean](double variance) { return static_cast<float>(std::max(variance / mean, 1e-3)); });
  return result;
}

}  // namespace

double copied_share(const ChannelStatistics& channel) {
  const double blocks = channel.lost + channel.copied + count_of(channel.differences);
  return blocks > 0 ? channel.copied / blocks : channel.repeated > 0 ? 1 : 0;
}

ChannelNoise channel_noise(const ChannelStatistics& channel, ChannelKind kind, double step) {
  ChannelNoise noise;
  noise.kind = kind;
  noise.step = step;
  noise.differences = difference_noise(channel, kind);
  noise.single = single_spectrum(channel, kind);
  if (noise.differences && mean_of(noise.differences->spectrum) > 0) {
    noise.base = std::sqrt(mean_of(noise.differences->spectrum));
  } else if (noise.single) {
    noise.base = std::sqrt(mean_of(*noise.single));
  }
  noise.base = std::max(noise.base, kLeastBase);
  return noise;
}

Features features_of(const ChannelStatistics& channel, const ChannelNoise& noise, double white,
                     const PatchDeviations* patches) {
  Features to;
  to.fill(kUnknown);
  set_log(to, Feature::kBase, noise.base, 1);
  set_log(to, Feature::kBaseInSteps, noise.base, noise.step);
  set_log(to, Feature::kWhite, white, noise.base);
  set_log(to, Feature::kTexture, texture_deviation(channel), noise.base);
  if (noise.single) {
    set_log(to, Feature::kFlattest, std::sqrt(mean_of(*noise.single)), noise.base);
    set_log(to, Feature::kSlopeOfSingle, slope_of(*noise.single), 1);
  }
  if (const std::optional<double> supported = supported_white_variance(channel)) {
    set_log(to, Feature::kSupportedWhite, std::sqrt(*supported), noise.base);
  }
  const double lowest = level_quantile(channel, 0.001);
  const double low = level_quantile(channel, 0.01);
  const double tenth = level_quantile(channel, 0.1);
  set_log(to, Feature::kLowestLevel, lowest, noise.base);
  set_log(to, Feature::kLowLevels, low, lowest);
  set_log(to, Feature::kTenthOfLevels, tenth, low);
  set_log(to, Feature::kHalfOfLevels, level_quantile(channel, 0.5), tenth);
  const Flatness flatness = flatness_of(channel);
  set(to, Feature::kEvenness, flatness.evenness);
  set(to, Feature::kGrowthPower, flatness.growth_power);
  if (!channel.differences.empty()) {
    set(to, Feature::kFollowed, followed_share(channel));
    set(to, Feature::kCopied, copied_share(channel));
  }
  if (noise.differences) {
    set_differences(to, channel, noise);
  }
  if (patches != nullptr) {
    set_patches(to, noise.base, *patches);
  }
  return to;
}

constexpr double kCodedSlope = 0.45;  // slope_of() spectra below which a codec has removed high frequencies

bool is_coded(const ChannelNoise& channel) {
  constexpr double kLeastReliability = 0.8;
  constexpr double kLeastSlope = 0.125;  // above that of film grain
  return channel.differences && channel.differences->reliability < kLeastReliability &&
         slope_of(channel.differences->spectrum) > kLeastSlope;
}

PlaneNoise shaped_noise(const ChannelNoise& channel, double sigma, bool in_blocks) {
  constexpr double kLeastShare = 0.7;  // of the deviation of a measurement that shows the shape
  // Ratio of the deviation of coded noise that does not repeat to the deviation of differences.
  constexpr double kCodedGain = 1.12;
  // Ratio of the level that filters subsampled chroma best to the deviation of its noise, which the forests
  // are fitted to.
  constexpr double kChromaStrength = 1.3;
  constexpr double kLeastRepetition = 0.1;
  constexpr double kMostRepetition = 0.95;
  PlaneNoise noise;
  noise.sigma = static_cast<float>(sigma);
  // A level far below that of a measurement means that the measurement contains texture.
  const auto is_noise = [&](const Spectrum& spectrum) {
    return sigma > kLeastShare * std::sqrt(mean_of(spectrum));
  };
  const bool of_differences = channel.differences && mean_of(channel.differences->spectrum) > 0 &&
                              is_noise(channel.differences->spectrum);
  if (!of_differences && !(channel.single && is_noise(*channel.single))) {
    return noise;
  }
  const bool coded = is_coded(channel);
  const Spectrum& spectrum = of_differences ? channel.differences->spectrum : *channel.single;
  const double slope = slope_of(spectrum);
  if (coded && channel.kind == ChannelKind::kLuma && (in_blocks || slope > kCodedSlope)) {
    return noise;
  }
  if (slope < kWhiteSlope) {
    noise.shape.spectrum = relative(spectrum);
  }
  if (of_differences && slope <= kCodedSlope) {
    // Coded noise does not depend on brightness alone, and differences lack the part of it that repeats.
    const double gain = kCodedGain * (channel.kind == ChannelKind::kLuma ? 1 : kChromaStrength) / sigma;
    const double repeated = 1 - gain * gain * mean_of(spectrum);
    if (repeated > kLeastRepetition) {
      noise.shape.repetition = static_cast<float>(std::min(repeated, kMostRepetition));
    }
  } else if (of_differences && !coded) {
    noise.shape.curve = channel.differences->curve;
    for (float& deviation : noise.shape.curve) {  // flat blocks of chroma can have texture
      deviation = channel.kind == ChannelKind::kChroma ? std::sqrt(deviation) : deviation;
    }
  }
  return noise;
}

PlaneNoise measured_noise(const ChannelNoise& channel, const PlaneNoise& chosen) {
  // Factors of the measured deviation. Subsampled chroma is filtered best far above it.
  const float most_above = channel.kind == ChannelKind::kLuma ? 1.6F : 2.2F;
  constexpr float kMostBelow = 0.9F;
  const bool is_white = chosen.shape == NoiseShape();
  if (!channel.differences || is_white || chosen.shape.repetition > 0) {
    return chosen;
  }
  const double mean = mean_of(channel.differences->spectrum);
  const auto deviation = static_cast<float>(std::sqrt(std::max(mean, 0.0)));
  if (chosen.sigma > most_above * deviation || chosen.sigma < kMostBelow * deviation) {
    return chosen;
  }
  constexpr double kLeastUniformity = 0.85;  // of noise that no codec has touched
  const bool is_smooth = slope_of(channel.differences->spectrum) <= kCodedSlope;
  const bool is_uniform = channel.differences->uniformity > kLeastUniformity;
  PlaneNoise noise = chosen;
  noise.sigma = deviation;
  if (!is_smooth || is_uniform) {  // coded noise does not depend on brightness alone
    noise.shape.curve = channel.differences->curve;
  }
  if (is_smooth && is_uniform && channel.kind == ChannelKind::kLuma) {
    noise.shape.spectrum = relative(limited(channel.differences->whole, kRatiosOfCoarseGrain));
  }
  return noise;
}

namespace {

/// Sums over the trees: of no noise, then of the candidates.
using Losses = std::vector<std::int32_t>;

Losses losses_of(const Forest& forest, const Features& features) {
  Losses losses(forest.candidates.size() + 1);
  for (const std::int16_t root : forest.roots) {
    std::int16_t at = root;
    while (at >= 0) {
      const ForestNode& node = forest.nodes[at];
      at = features[node.feature] <= node.threshold ? node.below : node.above;
    }
    const std::string_view leaf = forest.leaves[~at];
    std::transform(losses.begin(), losses.end(), leaf.begin(), losses.begin(),
                   [](std::int32_t sum, char letter) {
                     const std::int32_t root_of_loss = number_of_letter(letter);
                     return sum + root_of_loss * root_of_loss;
                   });
  }
  return losses;
}

/// The logarithm of an anchor's level relative to the base; nothing if it was not measured.
std::optional<double> anchor_of(Feature anchor, const Features& features, double base) {
  if (anchor == Feature::kBase || anchor == Feature::kCount) {
    return anchor == Feature::kBase ? 0 : -std::log2(base);
  }
  const std::int16_t value = features[static_cast<int>(anchor)];
  return value == kUnknown ? std::nullopt : std::optional(value * kFeatureUnit);
}

/// The vertex of the parabola through the losses of candidate `i` and its neighbors, in steps from `i`.
double vertex(std::span<const Candidate> all, const Losses& losses, std::size_t i) {
  const bool first = i == 0 || all[i - 1].anchor != all[i].anchor;
  const bool last = i + 1 == all.size() || all[i + 1].anchor != all[i].anchor;
  if (first || last) {
    return 0;
  }
  const double below = losses[i];
  const double own = losses[i + 1];
  const double above = losses[i + 2];
  const double bend = below - 2 * own + above;
  return bend > 0 ? std::clamp((below - above) / (2 * bend), -0.5, 0.5) : 0;
}

}  // namespace

NoiseDecision decide_noise(const Features& features, const ChannelNoise& noise) {
  if (!noise.differences && !noise.single) {
    return {};  // nothing was measured
  }
  const bool luma = noise.kind == ChannelKind::kLuma;
  const Forest& forest = noise.differences ? (luma ? forests().luma : forests().chroma)
                                           : (luma ? forests().single_luma : forests().single_chroma);
  // Where a codec has made the noise of luma uneven at every brightness, there is noise if more than this is
  // expected to be lost without filtering, in dB.
  constexpr double kMostLeft = 1.2;
  constexpr double kUneven = 0.1;  // DifferenceNoise::reliability
  const Losses losses = losses_of(forest, features);
  const double unit = kLossUnit / static_cast<double>(forest.roots.size());
  const bool has_noise =
      luma && is_coded(noise) && noise.differences->reliability < kUneven && losses[0] * unit > kMostLeft;
  std::size_t best = 0;
  for (std::size_t i = 0; i < forest.candidates.size(); ++i) {
    if (anchor_of(forest.candidates[i].anchor, features, noise.base) &&
        (losses[i + 1] < losses[best] || (has_noise && best == 0))) {
      best = i + 1;
    }
  }
  NoiseDecision decision;
  decision.loss = losses[best] * unit;
  decision.loss_unfiltered = losses[0] * unit;
  if (best > 0) {
    const Candidate& chosen = forest.candidates[best - 1];
    const double octaves = *anchor_of(chosen.anchor, features, noise.base) +
                           (chosen.thirds + vertex(forest.candidates, losses, best - 1)) / 3;
    decision.sigma = noise.base * std::exp2(octaves);
  }
  return decision;
}

}  // namespace limpid::noise
