#include "core/noise/coded_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace limpid::noise {
namespace {

// All found by trial on clips of a simulated camera, coded weakly and strongly, and clean ones, coded or not.

/// Blocks in the order of their texture are looked at in strips that end at these shares of all.
constexpr std::array<double, 5> kShares = {0, 0.05, 0.15, 0.3, 0.5};
constexpr double kLeastBlocksOfStrip = 24;
/// A codec's noise has a slope (slope_of()) below this. Noise and texture of less than the last are from
/// scaling, which says nothing of repetition, less and less up to the other.
constexpr double kMostSlope = 0.45;
constexpr double kSlopeOfCodecs = 0.2;
constexpr double kSlopeOfScaling = 0.15;
/// Its deviations of frequencies u + v of 5 and 6, relative to those of 3 and 4, tell how much was done to
/// it: nothing, and all that can be.
constexpr double kFallOfNothing = 0.88;
constexpr double kFallOfAll = 0.52;
/// Texture that is not followed exactly leaves up to this share of its energy in differences: where nothing
/// was done, and all.
constexpr double kMissedIfNothing = 0.55;
constexpr double kMissedIfAll = 0.35;
/// Its energy in differences grows with texture by a power beyond this; noise does by less, and below the
/// second it is all noise.
constexpr double kPowerOfTexture = 0.62;
constexpr double kPowerOfNoise = 0.47;
/// That it does not tells of repeating noise where this part of all was done and differences have this
/// deviation, relative to that of the mean of both frames, or, less and less, down to the second; and not of
/// more than so many times what a single frame's blocks have.
constexpr double kSteadyPart = 0.5;
constexpr double kUnsteadyPart = 0.22;
constexpr double kSteadyRatio = 0.65;
constexpr double kUnsteadyRatio = 0.5;
constexpr double kMostOfRepeating = 1.6;
/// Squared code values that clean clips have, too.
constexpr double kClean = 1.8;
/// How many times as great noise is as in differences: this, and as many times more where all was done.
constexpr double kGain = 1.15;
constexpr double kMostRepetition = 3.8;
/// None of it repeats, whatever its spectrum, if its deviation in differences is, relative to that of the
/// mean of both frames, beyond the second, or where its variance in differences is the same in all blocks:
/// codecs take most of it from the flattest.
constexpr double kDependent = 1.25;
constexpr double kIndependent = 1.45;
constexpr double kUniform = 1.1;
constexpr double kUneven = 1.4;
/// The flattest blocks of single frames have so much less than the mean of all, where differences do.
constexpr double kMostOfFlat = 1.2;

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
    if (last - first < kLeastBlocksOfStrip) {
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
  if (!(flattest.difference > 0) || slope > kMostSlope) {
    return std::nullopt;
  }
  const auto fall_of = [](const Strip& strip) {
    return std::sqrt(mean_of(strip.differences, 5, 6) / mean_of(strip.differences, 3, 4));
  };
  // What was done to it, as a part of all that can be.
  const double done = (1 - ramp((fall_of(low) + fall_of(middle)) / 2, kFallOfAll, kFallOfNothing)) *
                      ramp(slope, kSlopeOfScaling, kSlopeOfCodecs);
  const double dependent = (1 - ramp(flattest.ratio(), kDependent, kIndependent)) *
                           ramp(middle.difference / flattest.difference, kUniform, kUneven);
  const double gain = kGain * std::pow(kMostRepetition, dependent * done);

  // Texture and motion leave no more than a share of texture, or grow with it.
  const double missed = kMissedIfNothing + (kMissedIfAll - kMissedIfNothing) * done;
  const auto beyond = [&](const Strip& strip) {
    return std::max(strip.difference - missed * strip.texture, 0.0) / (1 - missed / 2);
  };
  const double power = std::log(high.difference / low.difference) / std::log(high.texture / low.texture);
  const double steady = (1 - ramp(power, kPowerOfNoise, kPowerOfTexture)) *
                        ramp(done, kUnsteadyPart, kSteadyPart) *
                        ramp(low.ratio(), kUnsteadyRatio, kSteadyRatio);
  const auto noise = [&](double measured) {
    return measured > kClean ? gain * gain * (measured - kClean * kClean / measured) : 0;
  };
  const double independent = noise(std::sqrt(beyond(low) * beyond(middle)));
  const double repeating = std::min(noise(std::sqrt(low.difference * middle.difference) * steady),
                                    kMostOfRepeating * kMostOfRepeating * low.energy());
  const double variance =
      std::min(std::max(independent, repeating), gain * gain * kMostOfFlat * kMostOfFlat * flat);
  if (!(variance > 0)) {
    return std::nullopt;
  }
  // Of the noise, differences have what does not repeat.
  const double in_differences = kGain * kGain * std::sqrt(low.difference * middle.difference);
  return CodedNoise{scaled(without_shading(spectrum, true), variance), 1 - in_differences / variance};
}

}  // namespace limpid::noise
