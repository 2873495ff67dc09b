// SPDX-License-Identifier: MIT
#include "core/noise/noise_statistics.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/noise/coded_noise.h"
#include "core/noise/constants.h"
#include "core/noise/difference_noise.h"
#include "core/noise/single_noise.h"
#include "core/noise/spectrum.h"

namespace limpid::noise {
namespace {

/// Variance of rounding, in squared quantization steps.
constexpr double kRounding = 1.0 / 12;
constexpr double kGreatestSigma = 255;

/// The noise of a single picture is colored if its slope is below `slope` and its evenness() above
/// `evenness`. `share_of_white` is the share of its high frequencies that noise_blocks.h must find.
struct ColoredLimit {
  double slope;
  double evenness;
  double share_of_white;
};
constexpr std::array<ColoredLimit, 3> kColoredLimits = {{{0.3, 0.42, 0}, {0.45, 0.62, 0}, {0.58, 0.8, 0.6}}};

// Known properties of a channel, and limits for its estimate.
struct Prior {
  ChannelKind kind = ChannelKind::kLuma;
  double white = 0;     // deviation of white noise in single frames
  double least = 0;     // limits of the standard deviation in single frames
  double most = 0;      // 0: single frames are no evidence of colored noise
  double residual = 1;  // factor of the variances that clean clips have
  double step = 0;      // quantization step

  bool luma() const { return kind == ChannelKind::kLuma; }
};

// Share of copies among the blocks of frames that are not repeated; 1 if all frames are.
double copied_share(const ChannelStatistics& channel) {
  const double blocks = channel.lost + channel.copied + count_of(channel.differences);
  return blocks > 0 ? channel.copied / blocks : channel.repeated > 0 ? 1 : 0;
}

bool is_single_picture(const ChannelStatistics& channel) { return channel.differences.empty(); }

PlaneNoise to_noise(const Spectrum& spectrum) {
  const double variance = mean_of(spectrum);
  PlaneNoise noise;
  noise.sigma = static_cast<float>(std::min(std::sqrt(variance), kGreatestSigma));
  for (int i = 0; i < kCoefficients; ++i) {
    noise.shape.spectrum[i] = static_cast<float>(std::max(spectrum[i] / variance, 1e-3));
  }
  return noise;
}

// White noise of this variance minus that of clean pictures.
PlaneNoise white_noise(double variance, const Prior& prior) {
  const double rounding = kRounding * prior.step * prior.step;
  const double left = std::max(variance - rounding, 0.0);
  const double deviation =
      left > 0 ? left / std::sqrt(left + kConstants.decision.residual_of_white * prior.residual) : 0;
  PlaneNoise noise;
  noise.sigma =
      deviation < kConstants.decision.negligible * prior.step
          ? 0
          : static_cast<float>(std::min(std::sqrt(deviation * deviation + rounding), kGreatestSigma));
  return noise;
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

// Ratio of the standard deviation of noise that a codec or a camera's filter has changed to that of its
// differences, which lack the noise that repeats from frame to frame.
double gain_of_repetition(double repetition) {
  const double repeated = std::clamp((repetition - 1) / kConstants.decision.all_repeated, 0.0, 1.0);
  return (kConstants.decision.coded_gain +
          (kConstants.decision.single_gain - kConstants.decision.coded_gain) * repeated) *
         std::max(repetition, 1.0);
}

bool is_even(const NoiseShape::Curve& curve) {
  const auto [least, most] = std::minmax_element(curve.begin(), curve.end());
  return double{*most} < kConstants.decision.even_curve * double{*least};
}

// True if the white noise of single frames agrees with the differences.
bool agrees_with_white(const DifferenceNoise& found, double variance, const Prior& prior) {
  const double white = prior.white * prior.white;
  const bool between = white > variance * (1 - kConstants.decision.same_white) &&
                       white < found.most_variance * (1 + kConstants.decision.same_white);
  if (found.visibility < kConstants.decision.hidden_visibility) {
    return slope_of(found.spectrum) > kConstants.decision.hidden_slope && between;
  }
  return slope_of(found.spectrum) > kConstants.decision.white_ratio && is_even(found.curve) &&
         std::abs(std::sqrt(variance) - prior.white) < kConstants.decision.same_white * prior.white;
}

// Luma's noise after a codec or a camera's filter.
struct Coded {
  double variance = 0;
  double common = 0;
};

// `share`: weight of differences by their uniformity. coded_noise() has evidence of its own if motion was
// followed.
Coded restore_coded(const ChannelStatistics& channel, const std::optional<Spectrum>& single,
                    DifferenceNoise& found, double variance, double share) {
  Coded coded{variance, 0};
  if (share > 0 && slope_of(found.spectrum) < kConstants.decision.coded_slope) {
    const bool repeats = single && evenness(channel) > kColoredLimits[0].evenness;
    const double gain = gain_of_repetition(repeats ? repetition(found.spectrum, *single) : 0);
    const double common = 1 - kConstants.decision.coded_gain * kConstants.decision.coded_gain / (gain * gain);
    coded = {variance * (1 + share * (gain * gain - 1)), share * common};
    // Coded noise does not depend on brightness alone.
    found.curve = NoiseShape().curve;
  }
  const std::optional<Spectrum> flat = single_spectrum(channel, true, kConstants.decision.flat_share);
  const std::optional<CodedNoise> more = flat ? coded_noise(channel, mean_of(*flat)) : std::nullopt;
  if (!more) {
    return coded;
  }
  // Differences that are not uniform may be texture whose motion was not followed exactly.
  const double followed =
      ramp(followed_share(channel), kConstants.decision.partly_followed, kConstants.decision.fully_followed);
  const double weight = std::max(share, followed);
  const double claimed = variance + weight * (mean_of(more->spectrum) - variance);
  if (claimed > coded.variance) {
    found.spectrum = more->spectrum;
    found.curve = NoiseShape().curve;
    coded = {claimed, weight * more->repetition};
  }
  return coded;
}

// The noise of a channel whose differences have this spectrum. Nothing if it is white and has the level
// Prior::white.
std::optional<PlaneNoise> noise_of_differences(const ChannelStatistics& channel, DifferenceNoise found,
                                               const Prior& prior) {
  double variance = mean_of(found.spectrum);
  const std::optional<Spectrum> single = single_spectrum(channel, prior.luma());
  if (single && found.least_level > 0) {
    const double most =
        (prior.luma() ? 1 : 2) * kConstants.decision.spread * kConstants.decision.spread * mean_of(*single);
    variance *= std::min(1.0, most / (found.least_level * found.least_level));
  }
  if (agrees_with_white(found, variance, prior)) {
    return std::nullopt;
  }
  Coded coded{variance, 0};
  if (slope_of(found.spectrum) > kConstants.decision.white_ratio) {
    found.spectrum.fill(variance);
  } else if (prior.luma()) {
    const double share =
        ramp(found.uniformity, kConstants.decision.texture_uniformity, kConstants.decision.coded_uniformity);
    coded = restore_coded(channel, single, found, variance, share);
  }
  // Uniform differences are noise, however weak. Texture left in differences is not uniform.
  const double residual = (1 - found.reliability / 2) * prior.residual;
  coded.variance -=
      (prior.luma() ? kConstants.decision.residual_of_luma : kConstants.decision.residual_of_chroma) *
      residual;
  if (prior.kind == ChannelKind::kChroma) {
    coded.variance *= kConstants.decision.chroma_gain * kConstants.decision.chroma_gain;
    for (float& deviation : found.curve) {
      deviation = std::sqrt(deviation);  // see chroma_gain
    }
  }
  if (!(coded.variance >
        kConstants.decision.negligible * kConstants.decision.negligible * prior.step * prior.step)) {
    return PlaneNoise{};
  }
  PlaneNoise noise = to_noise(scaled(found.spectrum, coded.variance));
  noise.shape.curve = found.curve;
  noise.shape.repetition = coded.common < kConstants.decision.least_common
                               ? 0
                               : static_cast<float>(std::min(coded.common, kConstants.decision.most_common));
  return noise;
}

// Spectrum of chroma in single frames.
std::optional<Spectrum> blotches_spectrum(const ChannelStatistics& chroma) {
  std::optional<Spectrum> spectrum = flattest_spectrum(chroma);
  return spectrum ? std::optional(with_blotches(*spectrum)) : std::nullopt;
}

// Colored noise of the flattest blocks of a single frame.
std::optional<PlaneNoise> colored_noise_of_single(const ChannelStatistics& channel, const Prior& prior) {
  if (prior.most == 0) {
    return std::nullopt;
  }
  const std::optional<Spectrum> spectrum = prior.kind == ChannelKind::kOpponent
                                               ? blotches_spectrum(channel)
                                               : single_spectrum(channel, prior.luma());
  if (!spectrum || !(mean_of(*spectrum) > 0)) {
    return std::nullopt;
  }
  const double gain = is_single_picture(channel) ? kConstants.decision.single_gain : 1;
  const double sigma = std::max(gain * std::sqrt(mean_of(*spectrum)), prior.least);
  const double least =
      prior.least > 0 ? 0 : kConstants.decision.least_single_sigma * std::sqrt(prior.residual);
  if (sigma <= std::max(least, prior.white)) {
    return std::nullopt;
  }
  return to_noise(scaled(*spectrum, std::pow(std::min(sigma, prior.most), 2)));
}

// White noise of single frames, limited to what their high frequencies support.
PlaneNoise white_noise_of_single(const ChannelStatistics& channel, const Prior& prior) {
  double variance = prior.white * prior.white;
  const std::optional<double> supported = supported_white_variance(channel);
  if (supported) {
    variance = std::min(variance, *supported);
  }
  return white_noise(variance, prior);
}

// True if luma of a single frame has colored noise. `white`: the standard deviation by noise_blocks.h.
bool single_is_colored(const ChannelStatistics& luma, double white) {
  const std::optional<Spectrum> spectrum = single_spectrum(luma, true);
  if (!spectrum) {
    return false;
  }
  const double slope = slope_of(*spectrum);
  const double even = evenness(luma);
  const double high = slope * std::sqrt(mean_of(*spectrum));
  const bool colored =
      std::any_of(kColoredLimits.begin(), kColoredLimits.end(), [&](const ColoredLimit& limit) {
        return slope < limit.slope && even > limit.evenness && white >= limit.share_of_white * high;
      });
  return colored && (is_single_picture(luma) || growth_power(luma) < kConstants.decision.most_power_of_clips);
}

// The noise of one channel.
struct ChannelNoise {
  PlaneNoise noise;
  bool white = false;  // and of the level that noise_blocks.h measures
  NoiseEvidence evidence;
};

NoiseEvidence evidence_of(NoiseSource source, double certainty) {
  return {source, static_cast<float>(std::clamp(certainty, 0.0, 1.0))};
}

ChannelNoise noise_of_single(const ChannelStatistics& channel, const Prior& prior) {
  ChannelNoise found;
  if (const auto colored = colored_noise_of_single(channel, prior)) {
    found.noise = *colored;
  } else {
    found.noise = white_noise_of_single(channel, prior);
    found.white = true;
  }
  const NoiseSource source = found.noise.sigma > 0        ? NoiseSource::kSingleFrames
                             : is_single_picture(channel) ? NoiseSource::kClean
                                                          : NoiseSource::kMotionLost;
  found.evidence = evidence_of(source, 1 - growth_power(channel));
  return found;
}

// True if a still picture certainly has white noise: its flattest blocks are similar, and so are their
// coefficients, unlike those of drawn patterns.
bool is_surely_white(const ChannelStatistics& channel) {
  const std::optional<Spectrum> spectrum = single_spectrum(channel, true);
  if (!spectrum || growth_power(channel) > kConstants.decision.most_power_of_stills) {
    return false;
  }
  double logarithms = 0;
  for (const double value : *spectrum) {
    logarithms += std::log(std::max(value, 1e-9)) / kCoefficients;
  }
  return std::exp(logarithms) > kConstants.decision.least_flatness * mean_of(*spectrum);
}

ChannelNoise noise_of(const ChannelStatistics& channel, const Prior& prior) {
  const std::optional<DifferenceNoise> differences = difference_noise(channel, prior.kind);
  const double reliability = differences ? differences->reliability : 0;
  // Exact repeats are more often drawings or held pictures than noisy video.
  const double copied = copied_share(channel);
  if (copied == 1 && is_surely_white(channel)) {
    return noise_of_single(channel, prior);
  }
  if (copied > kConstants.decision.most_copied ||
      (copied > kConstants.decision.many_copied &&
       reliability < kConstants.decision.reliable_beside_copies)) {
    return {{}, false, evidence_of(NoiseSource::kRepeatedFrames, 1 - reliability)};
  }
  if (!differences) {
    return noise_of_single(channel, prior);
  }
  const std::optional<PlaneNoise> noise = noise_of_differences(channel, *differences, prior);
  const PlaneNoise found = noise.value_or(white_noise(prior.white * prior.white, prior));
  const bool below_precision = differences->most_variance < prior.step * prior.step;
  const NoiseSource source = found.sigma > 0   ? NoiseSource::kMotion
                             : below_precision ? NoiseSource::kBelowPrecision
                                               : NoiseSource::kClean;
  return {found, !noise, evidence_of(source, noise ? differences->uniformity : 1)};
}

Spectrum spectrum_of(const PlaneNoise& noise) {
  Spectrum spectrum{};
  std::copy(noise.shape.spectrum.begin(), noise.shape.spectrum.end(), spectrum.begin());
  return spectrum;
}

// NoiseModel::chroma_strength for noise that has this standard deviation in flat areas, where it may be less
// than elsewhere. The less texture there is beside the noise, the greater the strength.
float chroma_strength(const ChannelStatistics& channel, double sigma) {
  const std::optional<Spectrum> all = flattest_spectrum(channel, 1, 1);
  if (!all) {
    return 0;
  }
  const double everywhere = std::sqrt(mean_of(*all, kConstants.decision.noise_frequency, 2 * (kBlock - 1)));
  // The second operands replace NaN, which float samples may cause.
  const double uneven = std::max(1.0, std::min(kConstants.decision.most_uneven, everywhere / sigma));
  const double texture =
      mean_of(*all, kConstants.decision.texture_frequency, kConstants.decision.noise_frequency - 1) /
          std::pow(uneven * sigma, 2) -
      1;
  const double strength =
      1 + kConstants.decision.strength / std::pow(std::max(kConstants.decision.least_texture, texture),
                                                  kConstants.decision.strength_power);
  return static_cast<float>(std::min(uneven * strength, kConstants.decision.most_strength));
}

// The Prior of a channel, given the white noise of single frames.
Prior prior_of(const NoiseStatistics& statistics, std::size_t c, const NoiseModel& white) {
  Prior prior{.step = static_cast<double>(statistics.step)};
  prior.kind = c == 0 ? ChannelKind::kLuma : statistics.rgb ? ChannelKind::kOpponent : ChannelKind::kChroma;
  prior.white = statistics.rgb ? 0 : static_cast<double>(white.sigma[c]);
  prior.residual = std::pow(
      std::min(texture_deviation(statistics.channels[0]) / kConstants.decision.full_texture, 1.0), 2);
  return prior;
}

// Codecs remove chroma's noise from most blocks and luma's noise from fewer.
void match_coded_chroma(std::array<ChannelNoise, 3>& channels) {
  const PlaneNoise& luma = channels[0].noise;
  if (channels[0].white || !(luma.sigma > 0) ||
      !(slope_of(spectrum_of(luma)) < kConstants.decision.coded_slope)) {
    return;
  }
  for (std::size_t c = 1; c < channels.size(); ++c) {
    PlaneNoise& chroma = channels[c].noise;
    if (channels[c].white || channels[c].evidence.source == NoiseSource::kRepeatedFrames) {
      continue;
    }
    chroma.sigma = std::max(chroma.sigma, static_cast<float>(kConstants.decision.coded_chroma) * luma.sigma);
    for (std::size_t i = 0; i < chroma.shape.spectrum.size(); ++i) {
      chroma.shape.spectrum[i] = (chroma.shape.spectrum[i] + luma.shape.spectrum[i]) / 2;
    }
    chroma.shape.repetition = luma.shape.repetition;
    chroma.shape.curve = NoiseShape().curve;
  }
}

// RGB with this noise of its opponent channels, or with white noise of the planes if luma's noise is white.
NoiseModel rgb_model(const std::array<ChannelNoise, 3>& channels, const NoiseModel& white,
                     double luma_of_white) {
  NoiseModel model = white;
  if (channels[0].white) {
    const double share = luma_of_white > 0 ? static_cast<double>(channels[0].noise.sigma) / luma_of_white : 0;
    for (float& sigma : model.sigma) {
      sigma *= static_cast<float>(std::min(share, 1.0));
    }
    return model;
  }
  for (std::size_t c = 0; c < channels.size(); ++c) {
    model.opponent[c] = channels[c].noise;
  }
  // R = Y + U + 2 V / 3, G = Y - 4 V / 3, B = Y - U + 2 V / 3.
  const auto variance = [&](std::size_t c) { return model.opponent[c].sigma * model.opponent[c].sigma; };
  const float red = std::sqrt(variance(0) + variance(1) + variance(2) * 4 / 9);
  model.sigma = {red, std::sqrt(variance(0) + variance(2) * 16 / 9), red};
  return model;
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
  const bool repeats =
      other.copied > kConstants.decision.repeated * (other.copied + other.lost + count_of(other.differences));
  (repeats ? repeated : copied) += other.copied;
  repeated += other.repeated;
  lost += other.lost;
}

void NoiseStatistics::add(const NoiseStatistics& other) {
  rgb = rgb || other.rgb;
  scale = other.scale;
  step = std::max(step, other.step);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    channels[c].add(other.channels[c]);
  }
}

NoiseModel model_of(const NoiseStatistics& statistics, const NoiseModel& white) {
  NoiseModel model = white;
  if (statistics.channels[0].empty()) {
    return model;
  }
  double luma_of_white = 0;
  if (statistics.rgb) {
    for (const float sigma : white.sigma) {
      luma_of_white += static_cast<double>(sigma * sigma) / 9;
    }
    luma_of_white = std::sqrt(luma_of_white);
  }
  std::array<ChannelNoise, 3> channels;
  for (std::size_t c = 0; c < channels.size() && !statistics.channels[c].empty(); ++c) {
    Prior prior = prior_of(statistics, c, white);
    if (prior.luma()) {
      // In a single frame, luma decides whether noise is colored.
      prior.most = single_is_colored(statistics.channels[c], statistics.rgb ? luma_of_white : prior.white)
                       ? kGreatestSigma
                       : 0;
    } else if (!channels[0].white) {
      const double sigma = static_cast<double>(channels[0].noise.sigma);
      prior.least =
          prior.kind == ChannelKind::kOpponent ? kConstants.decision.least_opponent_chroma * sigma : 0;
      prior.most = kConstants.decision.most_chroma * sigma;
    }
    const bool repeats = channels[0].evidence.source == NoiseSource::kRepeatedFrames;
    channels[c] =
        c > 0 && repeats && !statistics.rgb ? ChannelNoise{} : noise_of(statistics.channels[c], prior);
    if (statistics.rgb && c == 0 && channels[0].white) {
      prior.white = luma_of_white;
      channels[0].noise = white_noise_of_single(statistics.channels[0], prior);
    }
  }
  if (statistics.rgb) {
    model = rgb_model(channels, white, luma_of_white);
    model.evidence = channels[0].evidence;
    return model;
  }
  match_coded_chroma(channels);
  model.evidence = channels[0].evidence;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    model.sigma[c] = channels[c].noise.sigma;
    model.shape[c] = channels[c].noise.shape;
    if (model.shape[c].curve != NoiseShape().curve) {
      model.shape[c].curve.scale = statistics.scale;
    }
    if (channels[c].white && c > 0 && model.sigma[c] > 0) {
      model.chroma_strength[c] = chroma_strength(statistics.channels[c], static_cast<double>(model.sigma[c]));
    }
  }
  return model;
}

}  // namespace limpid::noise
