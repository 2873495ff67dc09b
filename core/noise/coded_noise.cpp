// SPDX-License-Identifier: MIT
#include "core/noise/coded_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "core/noise/constants.h"

namespace limpid::noise {
namespace {

/// Blocks ordered by texture are examined in strips that end at these shares of all blocks.
constexpr std::array<double, 5> kShares = {0, 0.05, 0.15, 0.3, 0.5};

// Blocks of similar texture. In squared code values.
struct Strip {
  double texture = 0;  // of the mean of both blocks
  double difference = 0;
  Spectrum differences{};

  double ratio() const { return std::sqrt(difference / texture); }
  double energy() const { return texture + difference / 2; }  // of single blocks
};

std::optional<std::array<Strip, kShares.size() - 1>> strips_of(const std::vector<Energies>& differences) {
  std::array<Energies, kActivities> bins;
  double all = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    bins[i % kActivities].add(differences[i]);
    all += differences[i].blocks;
  }
  std::array<Strip, kShares.size() - 1> strips;
  for (std::size_t s = 0; s < strips.size(); ++s) {
    const double first = kShares[s] * all;
    const double last = kShares[s + 1] * all;
    if (last - first < kConstants.coded.least_blocks) {
      return std::nullopt;
    }
    double before = 0;
    for (int a = 0; a < kActivities; ++a) {
      const double after = before + bins[a].blocks;
      const double blocks = std::min(after, last) - std::max(before, first);
      before = after;
      if (blocks <= 0) {
        continue;
      }
      strips[s].texture += blocks * texture_of(a);
      for (int i = 0; i < kCoefficients; ++i) {
        strips[s].differences[i] += blocks * bins[a].energy[i] / bins[a].blocks;
      }
    }
    strips[s].texture /= last - first;
    for (double& value : strips[s].differences) {
      value /= last - first;
    }
    strips[s].difference = mean_of(strips[s].differences, 1, 2 * (kBlock - 1));
  }
  return strips;
}

}  // namespace

std::optional<CodedNoise> coded_noise(const ChannelStatistics& luma, double flat) {
  const auto strips = strips_of(luma.differences);
  if (!strips) {
    return std::nullopt;
  }
  const auto& [flattest, low, middle, high] = *strips;
  Spectrum spectrum;
  for (int i = 0; i < kCoefficients; ++i) {
    spectrum[i] = (low.differences[i] + middle.differences[i]) / 2;
  }
  const double slope = slope_of(spectrum);
  if (!(flattest.difference > 0) || slope > kConstants.coded.most_slope) {
    return std::nullopt;
  }
  const auto fall_of = [](const Strip& strip) {
    return std::sqrt(mean_of(strip.differences, 5, 6) / mean_of(strip.differences, 3, 4));
  };
  // Degree of the codec's changes, 0 to 1.
  const double done = (1 - ramp((fall_of(low) + fall_of(middle)) / 2, kConstants.coded.fall_of_coded,
                                kConstants.coded.fall_of_original)) *
                      ramp(slope, kConstants.coded.slope_of_scaling, kConstants.coded.slope_of_codecs);
  const double dependent =
      (1 - ramp(flattest.ratio(), kConstants.coded.dependent, kConstants.coded.independent)) *
      ramp(middle.difference / flattest.difference, kConstants.coded.uniform, kConstants.coded.uneven);
  const double gain = kConstants.coded.gain * std::pow(kConstants.coded.most_repetition, dependent * done);

  // The part of the energy that differences leave by texture and inexact motion is at most a share of the
  // texture, or grows with it.
  const double missed = kConstants.coded.missed_in_original +
                        (kConstants.coded.missed_in_coded - kConstants.coded.missed_in_original) * done;
  const auto beyond = [&](const Strip& strip) {
    return std::max(strip.difference - missed * strip.texture, 0.0) / (1 - missed / 2);
  };
  const double power = std::log(high.difference / low.difference) / std::log(high.texture / low.texture);
  const double steady =
      (1 - ramp(power, kConstants.coded.power_of_noise, kConstants.coded.power_of_texture)) *
      ramp(done, kConstants.coded.unsteady_part, kConstants.coded.steady_part) *
      ramp(low.ratio(), kConstants.coded.unsteady_ratio, kConstants.coded.steady_ratio);
  const auto noise = [&](double measured) {
    return measured > kConstants.coded.clean
               ? gain * gain * (measured - kConstants.coded.clean * kConstants.coded.clean / measured)
               : 0;
  };
  const double independent = noise(std::sqrt(beyond(low) * beyond(middle)));
  const double repeating =
      std::min(noise(std::sqrt(low.difference * middle.difference) * steady),
               kConstants.coded.most_of_repeating * kConstants.coded.most_of_repeating * low.energy());
  const double variance =
      std::min(std::max(independent, repeating),
               gain * gain * kConstants.coded.most_of_flat * kConstants.coded.most_of_flat * flat);
  if (!(variance > 0)) {
    return std::nullopt;
  }
  // Differences contain only the part of the noise that does not repeat.
  const double in_differences =
      kConstants.coded.gain * kConstants.coded.gain * std::sqrt(low.difference * middle.difference);
  return CodedNoise{scaled(without_shading(spectrum, true), variance), 1 - in_differences / variance};
}

}  // namespace limpid::noise
