// SPDX-License-Identifier: MIT
#include "core/noise/single_noise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/noise/constants.h"

namespace limpid::noise {
namespace {

struct FlattestSums {
  Energies energies;
  double texture = 0;  // sum over the blocks, of the half that selects them
  int last = 0;        // number of the bin

  void add(const Energies& bin, int activity) {
    energies.add(bin);
    texture += bin.blocks * texture_of(activity);
    last = activity;
  }
  double mean_energy() const {
    double total = 0;
    for (const double value : energies.energy) {
      total += value;
    }
    return total / energies.blocks;
  }
  double mean_texture() const { return texture / energies.blocks; }
};

// The sums of the first bins that have at least `blocks` blocks.
FlattestSums flattest(const std::vector<Energies>& bins, double blocks) {
  FlattestSums sums;
  for (int a = 0; a < static_cast<int>(bins.size()) && sums.energies.blocks < blocks; ++a) {
    if (bins[a].blocks > 0) {
      sums.add(bins[a], a);
    }
  }
  return sums;
}

// The flattest blocks, and the next flattest.
struct FlatPair {
  FlattestSums flat;
  FlattestSums next;
};

std::optional<FlatPair> flat_pair(const std::vector<Energies>& bins) {
  const double all = count_of(bins);
  FlatPair pair{flattest(bins, std::max(kConstants.single.first_share * all, kLeastSingleBlocks)), {}};
  for (int a = pair.flat.last + 1;
       a < kActivities && pair.next.energies.blocks < kConstants.single.next_share * all; ++a) {
    if (bins[a].blocks > 0) {
      pair.next.add(bins[a], a);
    }
  }
  const double fewest = std::min(pair.flat.energies.blocks, pair.next.energies.blocks);
  return fewest < kLeastSingleBlocks ? std::nullopt : std::optional(pair);
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

}  // namespace

std::optional<Spectrum> flattest_spectrum(const ChannelStatistics& channel, double share,
                                          double least_blocks) {
  Spectrum spectrum{};
  for (int half = 0; half < 2; ++half) {
    const double all = count_of(channel.single[half]);
    const Energies sum = flattest(channel.single[half], std::max(share * all, least_blocks)).energies;
    if (sum.blocks < least_blocks) {
      return std::nullopt;
    }
    for (int i = 0; i < kCoefficients; ++i) {
      if (is_odd(i) == (half == 1)) {
        spectrum[i] = sum.energy[i] / sum.blocks;
      }
    }
  }
  return spectrum;
}

std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, bool luma, double share) {
  std::optional<Spectrum> found = flattest_spectrum(channel, share);
  if (found) {
    Spectrum& spectrum = *found;
    spectrum[0] = std::max({spectrum[1], spectrum[kBlock], spectrum[kBlock + 1]});
    spectrum = without_shading(spectrum, luma);
  }
  return found;
}

double growth_power(const ChannelStatistics& channel) {
  double sum = 0;
  for (int half = 0; half < 2; ++half) {
    const std::optional<FlatPair> pair = flat_pair(channel.single[half]);
    if (!pair) {
      return 1;
    }
    sum += std::log(pair->next.mean_energy() / pair->flat.mean_energy()) /
           std::log(pair->next.mean_texture() / pair->flat.mean_texture());
  }
  return std::clamp(sum / 2, 0.0, 1.0);
}

double evenness(const ChannelStatistics& channel) {
  double sum = 0;
  for (int half = 0; half < 2; ++half) {
    const std::optional<FlatPair> pair = flat_pair(channel.single[half]);
    if (!pair) {
      return 0;
    }
    sum += pair->flat.mean_energy() / pair->next.mean_energy();
  }
  return std::min(sum / 2, 1.0);
}

std::optional<double> supported_white_variance(const ChannelStatistics& channel) {
  double sum = 0;
  for (int half = 0; half < 2; ++half) {
    const std::vector<Energies>& bins = channel.single[half];
    const FlattestSums flat = flattest(bins, std::max(kSingleShare * count_of(bins), kLeastSingleBlocks));
    if (flat.energies.blocks < kLeastSingleBlocks) {
      return std::nullopt;
    }
    const double texture = flat.texture / flat.energies.blocks;
    const double energy = high_energy(flat.energies, half);
    FlattestSums textured;
    const int end = std::min(flat.last + kConstants.single.last_textured_step, kActivities);
    for (int a = flat.last + kConstants.single.first_textured_step; a < end; ++a) {
      textured.add(bins[a], a);
    }
    double growth = 0;
    if (textured.energies.blocks >= kLeastSingleBlocks) {
      const double more = high_energy(textured.energies, half) - energy;
      growth = std::max(more / (textured.texture / textured.energies.blocks - texture), 0.0);
    }
    const double share = std::min(kConstants.single.uncertainty * growth, kConstants.single.most_of_growth);
    sum += std::max(energy - share * texture, 0.0) / (1 - share);
  }
  return sum / 2;
}

double texture_deviation(const ChannelStatistics& channel) {
  double sum = 0;
  double count = 0;
  for (const std::vector<Energies>& bins : channel.single) {
    for (const Energies& bin : bins) {
      for (const double energy : bin.energy) {
        sum += energy;
      }
      count += bin.blocks * kCoefficients / 2;
    }
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace limpid::noise
