#include "core/noise/noise_statistics.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "core/noise/coded_noise.h"
#include "core/noise/spectrum.h"

namespace limpid::noise {
namespace {

// All found by trial on clips of a simulated camera, camera pictures of which the truth is known, and clean
// ones.

/// A single frame's noise is measured on this share of its blocks, or so many if that is more.
constexpr double kSingleShare = 0.03;
constexpr double kLeastSingleBlocks = 64;
/// coded_noise() asks for that of this share.
constexpr double kFlatShare = 0.1;
/// A class of brightness is measured on so many differences at least.
constexpr double kLeastBlocks = 24;
/// In chroma, where texture is rare, on this share of the class's at least.
constexpr double kChromaShare = 0.5;
/// How many standard errors the upper bound of a measurement lies above it.
constexpr double kStandardErrors = 3;
/// Deviations may rise so much from one class of brightness to the next brighter one or darker one: in video
/// they fall from dark to bright, but where the dark end clips the noise.
constexpr double kRiseToBrighter = 1.0;
constexpr double kRiseFromDarkest = 1.3;
constexpr double kRiseToDarker = 1.12;
/// Curves stay within these.
constexpr double kLeastOfCurve = 0.5;
constexpr double kMostOfCurve = 2;
/// Of deviations of frequencies u + v >= 10, relative to those of 3 to 6, in noise that is taken to be white,
/// and, in a single frame, in noise that is taken to be none.
constexpr double kWhiteRatio = 0.85;
constexpr double kColouredRatio = 0.45;
/// White noise whose level differs by less than this share from what noise_blocks.h finds has that level.
constexpr double kSameWhite = 0.08;
/// Chroma's noise of one level has a curve whose greatest value is less than this many times the least.
constexpr double kEvenCurve = 1.25;
/// Of the deviation of chroma's noise this share is best for filters, and of how it depends on luma's
/// brightness half, as a power: blocks of chroma that look flat can have texture.
constexpr double kChromaGain = 0.94;
/// Codecs take high frequencies, and copy a part of the noise from frame to frame, which differences lack.
constexpr double kCodedSlope = 0.45;
constexpr double kCodedGain = 1.12;
/// By how much single frames have more noise than differences where all of it repeats.
constexpr double kAllRepeated = 0.4;
/// NoiseShape::repetition at most, and at least where it isn't 0.
constexpr double kMostCommon = 0.95;
constexpr double kLeastCommon = 0.1;
/// Chroma's noise they take nearly all from most blocks: there it is this share of luma's deviation at least.
constexpr double kCodedChroma = 0.35;
/// What single frames' flattest blocks have may be so many times less than the mean of all, whose noise
/// depends on brightness.
constexpr double kBrightnessSpread = 1.35;
/// Fine texture and motion of clean clips, squared code values.
constexpr double kResidualOfLuma = 1;
constexpr double kResidualOfChroma = 0.25;
/// The flattest blocks of a single frame are those where cameras and codecs have left the least noise.
constexpr double kSingleGain = 1.55;
/// Of variances in a sixth of the flattest blocks, relative to those in all of them: texture grows with the
/// share.
constexpr double kLeastEvenness = 0.46;
/// Differences tell nothing where more blocks than these have none: in still or drawn pictures.
constexpr double kMostCopied = 0.5;
/// In single frames, of chroma relative to luma; the least of RGB's, where luma has noise of demosaicking.
/// Where a camera has taken chroma's noise from flat places, it is left in others.
constexpr double kMostChroma = 1.2;
constexpr double kLeastOpponentChroma = 0.5;
constexpr double kGreatestSigma = 255;
/// In single frames texture is more.
constexpr double kLeastSingleSigma = 1.2;
/// Of chroma the frequencies u + v from the first of these to the second, not included, tell what texture
/// there is, and those from the second on how much more noise it has than its flattest blocks, up to so much.
constexpr int kTextureFrequency = 2;
constexpr int kNoiseFrequency = 10;
constexpr double kMostUneven = 1.06;
/// The strength that is best is 1 + kStrength / (texture relative to noise)^kStrengthPower, within limits.
constexpr double kLeastTexture = 1e-3;
constexpr double kStrength = 0.019;
constexpr double kStrengthPower = 0.7;
constexpr double kMostStrength = 1.33;

// The deviation of the mean of squares of so many Gaussian variables, relative to it.
double relative_error(double coefficients) { return std::sqrt(2 / coefficients); }

// The sums of the first bins that have at least so many blocks.
Energies flattest(const std::vector<Energies>& bins, double blocks) {
  Energies sum;
  for (const Energies& bin : bins) {
    if (sum.blocks >= blocks) {
      break;
    }
    sum.add(bin);
  }
  return sum;
}

double blocks_of(const std::vector<Energies>& bins) {
  double blocks = 0;
  for (const Energies& bin : bins) {
    blocks += bin.blocks;
  }
  return blocks;
}

// Of the flattest blocks of single frames, shading among it; without the DC's.
std::optional<Spectrum> flattest_spectrum(const ChannelStatistics& channel, double share,
                                          double least_blocks = kLeastSingleBlocks) {
  Spectrum spectrum{};
  for (int half = 0; half < 2; ++half) {
    const double all = blocks_of(channel.single[half]);
    const Energies sum = flattest(channel.single[half], std::max(share * all, least_blocks));
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

std::optional<Spectrum> single_spectrum(const ChannelStatistics& channel, bool luma,
                                        double share = kSingleShare) {
  std::optional<Spectrum> found = flattest_spectrum(channel, share);
  if (found) {
    Spectrum& spectrum = *found;
    spectrum[0] = std::max({spectrum[1], spectrum[kBlock], spectrum[kBlock + 1]});
    spectrum = without_shading(spectrum, luma);
  }
  return found;
}

// Of chroma in single frames.
std::optional<Spectrum> blotches_spectrum(const ChannelStatistics& chroma) {
  std::optional<Spectrum> spectrum = flattest_spectrum(chroma, kSingleShare);
  return spectrum ? std::optional(with_blotches(*spectrum)) : std::nullopt;
}

using Curve = decltype(NoiseShape::curve);

struct DifferenceNoise {
  Spectrum spectrum{};  // its mean is the mean variance of the picture's noise
  Curve curve{};
};

// The curve through the levels of classes, relative to `sigma`: linear over classes without one, and constant
// beyond the last.
Curve curve_of(std::array<double, kClasses> levels, double sigma) {
  int last = -1;  // with a level
  for (int c = 0; c < kClasses; ++c) {
    if (levels[c] == 0) {
      continue;
    }
    for (int gap = last + 1; gap < c; ++gap) {
      const double part = static_cast<double>(gap - last) / (c - last);
      levels[gap] = last < 0 ? levels[c] : levels[last] + part * (levels[c] - levels[last]);
    }
    last = c;
  }
  std::fill(levels.begin() + last + 1, levels.end(), levels[std::max(last, 0)]);
  Curve curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {  // points lie between classes
    const double below = levels[i > 0 ? i - 1 : 0];
    const double above = levels[std::min(i, levels.size() - 1)];
    curve[i] = static_cast<float>(std::clamp((below + above) / 2 / sigma, kLeastOfCurve, kMostOfCurve));
  }
  return curve;
}

// Of differences of frames.
std::optional<DifferenceNoise> difference_noise(const std::vector<Energies>& bins, bool luma, bool opponent) {
  struct Class {
    double all = 0;     // blocks
    double chosen = 0;  // blocks
    Spectrum spectrum{};
    double level = 0;  // deviation
  };
  std::array<Class, kClasses> classes;
  for (int c = 0; c < kClasses && !bins.empty(); ++c) {
    Energies sum;
    double all = 0;
    for (int a = 0; a < kActivities; ++a) {
      all += bins[c * kActivities + a].blocks;
    }
    const double least = std::max(kLeastBlocks, luma ? 0 : kChromaShare * all);
    double lowest = std::numeric_limits<double>::infinity();
    for (int a = 0; a < kActivities; ++a) {
      sum.add(bins[c * kActivities + a]);
      if (sum.blocks < least) {
        continue;
      }
      Spectrum spectrum = sum.energy;
      for (double& value : spectrum) {
        value /= sum.blocks;
      }
      const double variance = mean_of(spectrum);
      // Neighbouring coefficients of noise that isn't white tell the same: half of them count.
      const double bound = variance * (1 + kStandardErrors * relative_error(sum.blocks * kCoefficients / 2));
      if (bound < lowest) {
        lowest = bound;
        classes[c].chosen = sum.blocks;
        classes[c].spectrum = spectrum;
        classes[c].level = std::sqrt(variance);
      }
    }
    classes[c].all = all;
  }
  // Classes without flat places have texture in their differences: their neighbours limit them.
  const auto limit = [&](int c, int by, double rise) {
    if (classes[by].level > 0) {
      classes[c].level = std::min(classes[c].level, rise * classes[by].level);
    }
  };
  for (int c = 1; c < kClasses; ++c) {
    limit(c, c - 1, c <= 2 ? kRiseFromDarkest : kRiseToBrighter);
  }
  for (int c = kClasses - 2; c >= 0; --c) {
    limit(c, c + 1, kRiseToDarker);
  }
  Spectrum result{};
  double variance = 0;
  double all = 0;
  double weights = 0;
  for (const Class& each : classes) {
    if (each.level == 0) {
      continue;
    }
    variance += each.all * each.level * each.level;
    all += each.all;
    const double own = mean_of(each.spectrum);
    // Where the level had to be lowered, the spectrum is texture's, too.
    const double weight = each.chosen * std::pow(each.level * each.level / own, 2);
    weights += weight;
    for (int i = 0; i < kCoefficients; ++i) {
      result[i] += weight * each.spectrum[i] / own;
    }
  }
  if (weights == 0) {
    return std::nullopt;
  }
  DifferenceNoise noise;
  noise.spectrum = scaled(without_shading(result, luma), variance / all);
  std::array<double, kClasses> levels{};
  std::transform(classes.begin(), classes.end(), levels.begin(),
                 [](const Class& each) { return each.level; });
  noise.curve = luma || !opponent ? curve_of(levels, std::sqrt(variance / all)) : NoiseShape().curve;
  return noise;
}

PlaneNoise to_noise(const Spectrum& spectrum) {
  const double variance = mean_of(spectrum);
  PlaneNoise noise;
  noise.sigma = static_cast<float>(std::min(std::sqrt(variance), kGreatestSigma));
  for (int i = 0; i < kCoefficients; ++i) {
    noise.shape.spectrum[i] = static_cast<float>(std::max(spectrum[i] / variance, 1e-3));
  }
  return noise;
}

// Whether the flattest blocks of single frames are so much alike that they have noise rather than texture.
// `flat` is their spectrum.
bool is_even(const ChannelStatistics& channel, bool luma, const Spectrum& flat) {
  const std::optional<Spectrum> flattest = single_spectrum(channel, luma, kSingleShare / 6);
  return flattest && mean_of(*flattest, 3, 14) > kLeastEvenness * mean_of(flat, 3, 14);
}

// By how much greater deviations are in single frames than in differences: in repeating noise at all
// frequencies alike, in texture at some.
double repetition(const Spectrum& differences, const Spectrum& single) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [first, last] : {std::pair{3, 4}, std::pair{5, 6}, std::pair{7, 9}}) {
    least = std::min(least, mean_of(single, first, last) / mean_of(differences, first, last));
  }
  return std::sqrt(least);
}

// What is known of a channel before its noise.
struct Prior {
  bool luma = true;
  bool opponent = false;  // of RGB
  double white = 0;       // what noise_blocks.h finds
  double least = 0;       // single frames may tell no less
  double most = 0;        // and no more than these; 0: they tell nothing
};

// What the deviation of noise that a codec or a camera's own filter has worked on is, relative to that of its
// differences, which have too little of it where a part of the noise repeats from frame to frame.
double gain_of_repetition(double repetition) {
  const double repeated = std::clamp((repetition - 1) / kAllRepeated, 0.0, 1.0);
  return (kCodedGain + (kSingleGain - kCodedGain) * repeated) * std::max(repetition, 1.0);
}

// The noise of a channel whose differences have this spectrum; nothing if it is white and of the level
// Prior::white.
std::optional<PlaneNoise> noise_of_differences(const ChannelStatistics& channel, DifferenceNoise found,
                                               const Prior& prior) {
  const bool luma = prior.luma;
  const std::optional<Spectrum> single = single_spectrum(channel, luma);
  Spectrum& spectrum = found.spectrum;
  double variance = mean_of(spectrum);
  const double slope = slope_of(spectrum);
  if (single) {
    const double most = (luma ? 1 : 2) * kBrightnessSpread * kBrightnessSpread * mean_of(*single);
    variance = std::min(variance, most);
  }
  const bool is_white = slope > kWhiteRatio;
  double common = 0;
  if (is_white) {
    const auto [least, most] = std::minmax_element(found.curve.begin(), found.curve.end());
    const bool is_even = luma || double{*most} < kEvenCurve * double{*least};
    if (is_even && std::abs(std::sqrt(variance) - prior.white) < kSameWhite * prior.white) {
      return std::nullopt;
    }
    spectrum.fill(variance);
  } else if (luma) {
    if (slope < kCodedSlope) {
      const double gain =
          gain_of_repetition(single && is_even(channel, luma, *single) ? repetition(spectrum, *single) : 0);
      variance *= gain * gain;
      common = 1 - kCodedGain * kCodedGain / (gain * gain);
      // What codecs leave depends on more than brightness.
      found.curve = NoiseShape().curve;
    }
    const std::optional<Spectrum> flat = single_spectrum(channel, luma, kFlatShare);
    const std::optional<CodedNoise> coded = flat ? coded_noise(channel, mean_of(*flat)) : std::nullopt;
    if (coded && mean_of(coded->spectrum) > variance) {
      spectrum = coded->spectrum;
      variance = mean_of(spectrum);
      found.curve = NoiseShape().curve;
      common = coded->repetition;
    }
  }
  variance -= luma ? kResidualOfLuma : kResidualOfChroma;
  if (!luma && !prior.opponent) {
    variance *= kChromaGain * kChromaGain;
    for (float& deviation : found.curve) {
      deviation = std::sqrt(deviation);
    }
  }
  if (!(variance > 0)) {
    return PlaneNoise{};
  }
  PlaneNoise noise = to_noise(scaled(spectrum, variance));
  noise.shape.curve = found.curve;
  noise.shape.repetition = common < kLeastCommon ? 0 : static_cast<float>(std::min(common, kMostCommon));
  return noise;
}

// That of the flattest blocks of a single frame.
std::optional<PlaneNoise> noise_of_single(const ChannelStatistics& channel, const Prior& prior) {
  if (prior.most == 0) {
    return std::nullopt;
  }
  const std::optional<Spectrum> spectrum =
      prior.opponent && !prior.luma ? blotches_spectrum(channel) : single_spectrum(channel, prior.luma);
  if (!spectrum || !(mean_of(*spectrum) > 0)) {
    return std::nullopt;
  }
  const double sigma = std::max(kSingleGain * std::sqrt(mean_of(*spectrum)), prior.least);
  if (sigma <= std::max(prior.least > 0 ? 0 : kLeastSingleSigma, prior.white)) {
    return std::nullopt;
  }
  return to_noise(scaled(*spectrum, std::pow(std::min(sigma, prior.most), 2)));
}

// Whether a single frame's luma has noise that isn't white.
bool single_is_coloured(const ChannelStatistics& luma) {
  const std::optional<Spectrum> spectrum = single_spectrum(luma, true);
  return spectrum && slope_of(*spectrum) < kColouredRatio && is_even(luma, true, *spectrum);
}

// The noise of one channel; nothing where Prior::white tells it.
std::optional<PlaneNoise> noise_of(const ChannelStatistics& channel, const Prior& prior) {
  if (channel.copied <= kMostCopied * (channel.copied + blocks_of(channel.differences))) {
    if (const std::optional<DifferenceNoise> differences =
            difference_noise(channel.differences, prior.luma, prior.opponent)) {
      return noise_of_differences(channel, *differences, prior);
    }
  }
  return noise_of_single(channel, prior);
}

Spectrum spectrum_of(const std::optional<PlaneNoise>& noise) {
  Spectrum spectrum{};
  if (noise) {
    std::copy(noise->shape.spectrum.begin(), noise->shape.spectrum.end(), spectrum.begin());
  }
  return spectrum;
}

// NoiseModel::chroma_strength, given the noise's deviation in flat places, where it may be less than
// elsewhere: the less there is to see beside noise, the more of it should go.
float chroma_strength(const ChannelStatistics& channel, double sigma) {
  const std::optional<Spectrum> all = flattest_spectrum(channel, 1, 1);
  if (!all) {
    return 0;
  }
  const double everywhere = std::sqrt(mean_of(*all, kNoiseFrequency, 2 * (kBlock - 1)));
  // Samples may be anything, and what follows from them no numbers: then these are the second operands.
  const double uneven = std::max(1.0, std::min(kMostUneven, everywhere / sigma));
  const double texture =
      mean_of(*all, kTextureFrequency, kNoiseFrequency - 1) / std::pow(uneven * sigma, 2) - 1;
  const double strength = 1 + kStrength / std::pow(std::max(kLeastTexture, texture), kStrengthPower);
  return static_cast<float>(std::min(uneven * strength, kMostStrength));
}

}  // namespace

void Energies::add(const Energies& other) {
  blocks += other.blocks;
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
  copied += other.copied;
}

void NoiseStatistics::add(const NoiseStatistics& other) {
  rgb = rgb || other.rgb;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    channels[c].add(other.channels[c]);
  }
}

NoiseModel model_of(const NoiseStatistics& statistics, const NoiseModel& white) {
  NoiseModel model = white;
  std::array<std::optional<PlaneNoise>, 3> channels;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const ChannelStatistics& channel = statistics.channels[c];
    if (channel.empty()) {
      continue;
    }
    Prior prior{.luma = c == 0, .opponent = statistics.rgb};
    prior.white = statistics.rgb ? 0 : static_cast<double>(white.sigma[c]);
    if (prior.luma) {
      // In a single frame luma tells whether there is noise that isn't white.
      prior.most = single_is_coloured(channel) ? kGreatestSigma : 0;
    } else if (channels[0]) {
      const double sigma = static_cast<double>(channels[0]->sigma);
      prior.least = prior.opponent ? kLeastOpponentChroma * sigma : 0;
      prior.most = kMostChroma * sigma;
    }
    channels[c] = noise_of(channel, prior);
  }
  for (std::size_t c = 1; c < channels.size() && channels[0] && !statistics.rgb; ++c) {
    std::optional<PlaneNoise>& chroma = channels[c];
    const Spectrum shape = spectrum_of(chroma);
    if (chroma && chroma->sigma > 0 && slope_of(spectrum_of(channels[0])) < kCodedSlope) {
      chroma->sigma = std::max(chroma->sigma, static_cast<float>(kCodedChroma) * channels[0]->sigma);
      for (std::size_t i = 0; i < shape.size(); ++i) {
        chroma->shape.spectrum[i] = (chroma->shape.spectrum[i] + channels[0]->shape.spectrum[i]) / 2;
      }
      chroma->shape.repetition = channels[0]->shape.repetition;
      chroma->shape.curve = NoiseShape().curve;
    }
  }
  if (!statistics.rgb) {
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (channels[c]) {
        model.sigma[c] = channels[c]->sigma;
        model.shape[c] = channels[c]->shape;
      } else if (c > 0 && model.sigma[c] > 0) {
        model.chroma_strength[c] =
            chroma_strength(statistics.channels[c], static_cast<double>(model.sigma[c]));
      }
    }
    return model;
  }
  if (!channels[0]) {
    return model;
  }
  for (std::size_t c = 0; c < channels.size(); ++c) {
    model.opponent[c] = channels[c].value_or(PlaneNoise{});
  }
  // R = Y + U + 2 V / 3, G = Y - 4 V / 3, B = Y - U + 2 V / 3.
  const auto variance = [&](std::size_t c) { return model.opponent[c].sigma * model.opponent[c].sigma; };
  const float red = std::sqrt(variance(0) + variance(1) + variance(2) * 4 / 9);
  model.sigma = {red, std::sqrt(variance(0) + variance(2) * 16 / 9), red};
  return model;
}

}  // namespace limpid::noise
