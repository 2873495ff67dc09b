// SPDX-License-Identifier: MIT
#include "core/noise/noise_statistics.h"

#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>

#include "core/noise/noise_features.h"

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

// The level, limited by what contradicts it.
double supported(const NoiseDecision& decision, const ChannelStatistics& channel,
                 const PatchDeviations* patches, double step) {
  double sigma = decision.sigma;
  // A strong level that the quietest blocks contradict is texture, or a change of the picture.
  constexpr double kMostHidden = 20;
  constexpr double kLeastOfQuietest = 0.2;
  sigma = std::min(sigma, std::max(kMostHidden, level_quantile(channel, 0.001) / kLeastOfQuietest));
  // The level of white noise is 1.35 times the deviation of the quietest patches, and the level of coarse
  // grain 2.5 times. A codec makes some patches quieter. In a single picture, a level far above these ratios
  // comes from edges, as in drawings.
  if (patches != nullptr) {
    constexpr double kMost = 3;
    constexpr double kMostIfCoded = 3.5;
    sigma = std::min(sigma, patches->tenth * (patches->grid > kGridOfCodec ? kMostIfCoded : kMost));
    // Its texture can look like noise: a level that is not clearly better than none stays weak.
    constexpr double kClearly = 1.5;
    constexpr double kMostIfUnclear = 2.5;
    if (channel.lost == 0 && decision.loss_unfiltered < kClearly * decision.loss) {
      sigma = std::min(sigma, kMostIfUnclear);
    }
  }
  constexpr double kNegligible = 0.25;  // deviation, in quantization steps, that changes no sample
  return sigma < kNegligible * step ? 0 : std::min(sigma, kGreatestSigma);
}

// True for noise of any brightness and frequency whose level is near that of noise.h, which is
// more exact for white noise. Chroma is filtered best at a level somewhat above its noise.
bool agrees_with_white(const PlaneNoise& plane, const ChannelNoise& noise, double white) {
  constexpr float kEvenCurve = 1.25F;  // maximum ratio of two values of a curve of noise of any brightness
  // Range of ratios of the level to that of white noise.
  constexpr double kLeast = 0.85;
  constexpr double kMost = 1.3;
  constexpr double kMostOfChroma = 1.6;
  const auto [least, most] = std::minmax_element(plane.shape.curve.begin(), plane.shape.curve.end());
  const double ratio = double{plane.sigma} / white;
  const bool chroma = noise.kind != ChannelKind::kLuma;
  return white > 0 && plane.shape.is_white() && *most < kEvenCurve * *least && (chroma || !is_coded(noise)) &&
         ratio > kLeast && ratio < (chroma ? kMostOfChroma : kMost);
}

constexpr double kMostlyCopied = 0.5;  // share of copies above which copies are the reason for a level of 0

NoiseSource source_of(const ChannelStatistics& luma, const ChannelNoise& noise, double sigma) {
  if (sigma > 0) {
    return noise.differences ? NoiseSource::kMotion : NoiseSource::kSingleFrames;
  }
  if (!noise.differences && luma.lost > 0) {
    return NoiseSource::kMotionLost;
  }
  if (copied_share(luma) > kMostlyCopied) {
    return NoiseSource::kRepeatedFrames;
  }
  if (!noise.differences && !noise.single) {
    return NoiseSource::kNotMeasurable;
  }
  if (is_coded(noise)) {
    return NoiseSource::kCoded;
  }
  if (noise.base < noise.step) {
    return NoiseSource::kBelowPrecision;
  }
  const bool hidden = noise.differences && noise.differences->visibility < kHiddenShare;
  return hidden ? NoiseSource::kHidden : NoiseSource::kClean;
}

// True if a held picture certainly has white noise: its flattest blocks are similar, and so are their
// coefficients, unlike those of drawn patterns.
bool is_surely_white(const ChannelStatistics& channel) {
  constexpr double kMostGrowth = 0.3;     // Flatness::growth_power
  constexpr double kLeastFlatness = 0.9;  // ratio of the geometric to the arithmetic mean of the spectrum
  const std::optional<Spectrum> spectrum = single_spectrum(channel, ChannelKind::kLuma);
  if (!spectrum || flatness_of(channel).growth_power > kMostGrowth) {
    return false;
  }
  double logarithms = 0;
  for (const double value : *spectrum) {
    logarithms += std::log(std::max(value, 1e-9)) / kCoefficients;
  }
  return std::exp(logarithms) > kLeastFlatness * mean_of(*spectrum);
}

// Exact copies of nearly all blocks whose motion was followed are more often drawings or held pictures than
// noisy video. The chroma of a drawing that moves by an odd number of samples differs although its luma is
// copied.
bool is_held_picture(const ChannelStatistics& luma) {
  constexpr double kMostCopied = 0.95;
  const double copies = luma.copied + luma.repeated;
  const double followed = copies + count_of(luma.differences);
  const bool differs = followed + luma.lost > copies;
  return copies > kMostCopied * followed && copies > kMostlyCopied * (followed + luma.lost) &&
         (differs || !is_surely_white(luma));
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
  constexpr double kRepeated = 0.98;  // share of copies above which a frame is a repeated one
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
  const bool repeats = other.copied > kRepeated * (other.copied + other.lost + count_of(other.differences));
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
  patches = patches ? patches : other.patches;
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
    model.evidence = {NoiseSource::kRepeatedFrames};
    return model;
  }
  const bool in_blocks = statistics.patches && statistics.patches->grid > kGridOfCodec;
  for (std::size_t c = 0; c < 3 && !statistics.channels[c].empty(); ++c) {
    const ChannelStatistics& channel = statistics.channels[c];
    const PatchDeviations* const patches = c == 0 && statistics.patches ? &*statistics.patches : nullptr;
    const double own_white = white_of(statistics, c, white);
    const ChannelNoise noise = channel_noise(channel, kind_of(statistics, c), double{statistics.step});
    const NoiseDecision decision = decide_noise(features_of(channel, noise, own_white, patches), noise);
    const double sigma = supported(decision, channel, noise.differences ? nullptr : patches, noise.step);
    if (c == 0) {
      model.evidence = {source_of(channel, noise, sigma), static_cast<float>(1 / (1 + decision.loss)),
                        static_cast<float>(noise.base), is_coded(noise)};
    }
    PlaneNoise plane = sigma > 0 ? shaped_noise(noise, sigma, in_blocks) : PlaneNoise();
    const bool is_white = agrees_with_white(plane, noise, own_white);
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
