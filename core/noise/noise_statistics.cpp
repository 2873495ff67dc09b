// SPDX-License-Identifier: MIT
#include "core/noise/noise_statistics.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>

#include "core/noise/constants.h"
#include "core/noise/noise_decision.h"
#include "core/noise/noise_features.h"
#include "core/noise/single_noise.h"

namespace limpid::noise {
namespace {

constexpr double kGreatestSigma = 255;

ChannelKind kind_of(const NoiseStatistics& statistics, std::size_t c) {
  return c == 0 ? ChannelKind::kLuma : statistics.rgb ? ChannelKind::kOpponent : ChannelKind::kChroma;
}

// The deviation of white noise of single frames in a channel; of RGB, only in the opponent channel Y, which
// is (R + G + B) / 3.
double white_of(const NoiseStatistics& statistics, std::size_t c, const NoiseModel& white) {
  if (!statistics.rgb) {
    return double{white.sigma[c]};
  }
  double variance = 0;
  for (const float sigma : white.sigma) {
    variance += double{sigma} * double{sigma} / 9;
  }
  return c == 0 ? std::sqrt(variance) : 0;
}

// A level that changes no sample is no noise.
double perceptible(double sigma, double step) {
  return sigma < kConstants.shape.negligible * step ? 0 : std::min(sigma, kGreatestSigma);
}

// True for noise of any brightness and frequency whose level is near that of noise_estimation.h, which is
// more exact for white noise. Chroma is filtered best at a level somewhat above its noise.
bool agrees_with_white(const PlaneNoise& noise, double white, bool chroma) {
  const auto [least, most] = std::minmax_element(noise.shape.curve.begin(), noise.shape.curve.end());
  const double ratio = double{noise.sigma} / white;
  return noise.sigma > 0 && white > 0 && noise.shape.spectrum == NoiseShape().spectrum &&
         *most < static_cast<float>(kConstants.shape.even_curve) * *least &&
         ratio > kConstants.shape.least_of_white &&
         ratio < (chroma ? kConstants.shape.most_chroma_of_white : kConstants.shape.most_of_white);
}

NoiseSource source_of(const ChannelStatistics& luma, const ChannelNoise& noise, double sigma) {
  if (sigma > 0) {
    return noise.differences ? NoiseSource::kMotion : NoiseSource::kSingleFrames;
  }
  if (!noise.differences && luma.lost > 0) {
    return NoiseSource::kMotionLost;
  }
  if (copied_share(luma) > kConstants.shape.mostly_copied) {
    return NoiseSource::kRepeatedFrames;
  }
  return noise.base < noise.step ? NoiseSource::kBelowPrecision : NoiseSource::kClean;
}

// True if a held picture certainly has white noise: its flattest blocks are similar, and so are their
// coefficients, unlike those of drawn patterns.
bool is_surely_white(const ChannelStatistics& channel) {
  const std::optional<Spectrum> spectrum = single_spectrum(channel, true);
  if (!spectrum || growth_power(channel) > kConstants.shape.most_power_of_stills) {
    return false;
  }
  double logarithms = 0;
  for (const double value : *spectrum) {
    logarithms += std::log(std::max(value, 1e-9)) / kCoefficients;
  }
  return std::exp(logarithms) > kConstants.shape.least_flatness * mean_of(*spectrum);
}

// Exact repeats of nearly the whole picture are more often drawings or held pictures than noisy video.
bool is_held_picture(const ChannelStatistics& luma) {
  const double copied = copied_share(luma);
  return copied > kConstants.shape.most_copied && !(copied == 1 && is_surely_white(luma));
}

// Sets the noise of the planes R, G and B from the noise of the opponent channels.
void set_planes_of_rgb(NoiseModel& model) {
  // R = Y + U + 2 V / 3, G = Y - 4 V / 3, B = Y - U + 2 V / 3.
  const auto variance = [&](std::size_t c) { return model.opponent[c].sigma * model.opponent[c].sigma; };
  const float red = std::sqrt(variance(0) + variance(1) + variance(2) * 4 / 9);
  model.sigma = {red, std::sqrt(variance(0) + variance(2) * 16 / 9), red};
}

}  // namespace

double count_of(const std::vector<Energies>& bins) {
  return std::accumulate(bins.begin(), bins.end(), 0.0,
                         [](double sum, const Energies& bin) { return sum + bin.blocks; });
}

void Energies::add(const Energies& other) {
  blocks += other.blocks;
  octaves += other.octaves;
  for (std::size_t i = 0; i < energy.size(); ++i) {
    energy[i] += other.energy[i];
  }
}

void ChannelStatistics::add(const ChannelStatistics& other) {
  const auto add_bins = [](std::vector<Energies>& to, const std::vector<Energies>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i].add(from[i]);
    }
  };
  for (std::size_t half = 0; half < single.size(); ++half) {
    add_bins(single[half], other.single[half]);
  }
  add_bins(differences, other.differences);
  levels.resize(std::max(levels.size(), other.levels.size()));
  std::transform(other.levels.begin(), other.levels.end(), levels.begin(), levels.begin(), std::plus());
  const bool repeats =
      other.copied > kConstants.shape.repeated * (other.copied + other.lost + count_of(other.differences));
  (repeats ? repeated : copied) += other.copied;
  repeated += other.repeated;
  lost += other.lost;
}

double level_quantile(const ChannelStatistics& channel, double share) {
  const double all = std::accumulate(channel.levels.begin(), channel.levels.end(), 0.0);
  double below = 0;
  for (std::size_t i = 0; i < channel.levels.size() && all > 0; ++i) {
    below += channel.levels[i];
    if (below >= share * all) {
      return std::exp2((static_cast<double>(i) + 0.5) / kLevelsPerOctave / 2 + kLeastActivityExponent / 2.0);
    }
  }
  return 0;
}

void NoiseStatistics::add(const NoiseStatistics& other) {
  rgb = rgb || other.rgb;
  scale = other.scale;
  step = std::max(step, other.step);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    channels[c].add(other.channels[c]);
  }
}

NoiseEstimate model_of(const NoiseStatistics& statistics, const NoiseModel& white) {
  NoiseEstimate model;
  if (statistics.channels[0].empty()) {
    return {white};
  }
  if (is_held_picture(statistics.channels[0])) {
    model.evidence = {NoiseSource::kRepeatedFrames, 1};
    return model;
  }
  const auto step = double{statistics.step};
  LumaNoise luma;
  for (std::size_t c = 0; c < statistics.channels.size() && !statistics.channels[c].empty(); ++c) {
    const ChannelStatistics& channel = statistics.channels[c];
    const ChannelNoise noise = channel_noise(channel, kind_of(statistics, c), step);
    Features features = features_of(channel, noise, white_of(statistics, c, white));
    if (c > 0) {
      add_luma(features, noise.base, luma);
    }
    const NoiseDecision decision = decide_noise(features, noise);
    const double sigma = perceptible(decision.sigma, step);
    if (c == 0) {
      luma = {features, noise.base, sigma};
      model.evidence = {source_of(channel, noise, sigma), static_cast<float>(1 / (1 + decision.loss))};
    }
    PlaneNoise plane = sigma > 0 ? shaped_noise(noise, sigma) : PlaneNoise();
    const double own_white = white_of(statistics, c, white);
    const bool is_white = agrees_with_white(plane, own_white, c > 0);
    if (is_white) {
      plane = PlaneNoise{static_cast<float>(own_white), {}};
    }
    if (plane.shape.curve != NoiseShape().curve) {
      plane.shape.curve.scale = statistics.scale;
    }
    if (statistics.rgb) {
      if (c == 0 && is_white) {
        model.sigma = white.sigma;
        return model;
      }
      model.opponent[c] = plane;
      continue;
    }
    model.measured[c] = measured_noise(noise, plane);
    model.measured[c].shape.curve.scale = statistics.scale;
    model.sigma[c] = plane.sigma;
    model.shape[c] = plane.shape;
    if (c > 0 && sigma > 0) {
      model.chroma_strength[c] = is_white ? static_cast<float>(sigma / own_white) : 1;
    }
  }
  if (statistics.rgb) {
    set_planes_of_rgb(model);
  }
  return model;
}

}  // namespace limpid::noise
