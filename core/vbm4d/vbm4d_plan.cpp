// SPDX-License-Identifier: MIT
#include "core/vbm4d/vbm4d_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/transforms.h"
#include "core/motion/motion_blocks.h"

namespace limpid {
namespace {

Bm3dStep bm3d_step(const Vbm4dStep& step) {
  return {.patch_size = vbm4d::kPatch,
          .spacing = step.spacing,
          .max_group_size = step.max_group_size,
          .search_window = step.search_window,
          .max_distance = step.max_distance,
          .kaiser_beta = step.kaiser_beta,
          .transform_2d = Transform2d::kDct,
          .transform_1d = Transform1d::kHaar};
}

// Cost per sample of distance from the predicted position, in units of sigma^2 per sample of a patch. Found
// by trial on seven clips: with less, noise displaces patches in still areas; with more, moving textures are
// lost.
constexpr double kSampleCost = 0.2;
// The variance of the noise in the basic estimate is a tenth of the original's.
constexpr double kSampleCostOfBasic = 0.02;

// Mean squared difference, in addition to the noise's, at which a trajectory ends for any noise level:
// unrelated parts of a picture differ no more in strong noise than in weak. Found by trial, with no loss on
// any clip; half of it gains more on clips of little contrast.
constexpr double kGreatestContrast = 2000;
constexpr double kGreatestContrastOfBasic = 800;

// Limit of patches in a group whose trajectory was lost, for references at this spacing or denser. Found by
// trial: the mean loss is 0.03 dB on clips of fast motion and 0.01 dB on others; with a spacing of 8, 0.08 dB
// (bench/tried.md).
constexpr int kDenseSpacing = 4;
constexpr int kMostOfLost = 8;
constexpr int kMostOfLostOfBasic = 10;

// The variance of the first coefficient of an orthonormal DCT of `count` values of variance 1, where values
// at a distance of k have the correlation repetition^k.
double variance_of_constant(int count, double repetition) {
  double sum = 1;
  double correlation = 1;
  for (int k = 1; k < count; ++k) {
    correlation *= repetition;
    sum += 2 * (1 - static_cast<double>(k) / count) * correlation;
  }
  return sum;
}

std::int32_t bounded(double value) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max() / 4.0;
  return static_cast<std::int32_t>(std::floor(std::min(value, kMost)));
}

// The standard deviation of a patch's squared differences, relative to that of white noise of the same
// variance: coarse noise has fewer independent values in a patch, and its differences scatter more.
double scatter_of(const NoiseShape& shape) {
  double squares = 0;
  for (const float variance : shape.spectrum) {
    squares += static_cast<double>(variance) * static_cast<double>(variance);
  }
  return std::sqrt(squares / static_cast<double>(shape.spectrum.size()));
}

// The mean squared difference at which a trajectory ends, in units of sigma^2. Patches of equal content
// differ by 2 sigma^2 in the mean, except in the basic estimate, which is almost free of noise.
double trajectory_end(const Vbm4dStep& step, bool second_step, double scatter) {
  const double expected = second_step ? 0 : 2;
  const auto end = static_cast<double>(step.trajectory_threshold);
  return end + std::max(end - expected, 0.0) * (scatter - 1);
}

// The limits for a guide with noise of standard deviation `guide_sigma`, which is the noisy guide's in both
// steps, and of the given scatter.
vbm4d::TrajectoryBounds bounds_of(const Vbm4dStep& step, bool second_step, double guide_sigma,
                                  double scatter) {
  constexpr double kUnit =
      vbm4d::kPatch * vbm4d::kPatch * vbm4d::kGuideScale.scale * vbm4d::kGuideScale.scale;
  const double variance = guide_sigma * guide_sigma * kUnit;
  vbm4d::TrajectoryBounds bounds;
  const double of_contrast =
      second_step ? kGreatestContrastOfBasic * kUnit : 2 * variance + kGreatestContrast * kUnit;
  bounds.greatest = bounded(std::min(trajectory_end(step, second_step, scatter) * variance, of_contrast));
  constexpr std::int32_t kMoreThanAnyDistance = 1 << 22;
  bounds.sample_cost =
      std::min(bounded((second_step ? kSampleCostOfBasic : kSampleCost) * variance), kMoreThanAnyDistance);
  bounds.most_of_lost = step.spacing > kDenseSpacing ? step.max_group_size
                        : second_step                ? kMostOfLostOfBasic
                                                     : kMostOfLost;
  // Patches of equal content differ by their noise (core/bm3d/bm3d_parameters.h), except in the basic
  // estimate, which is almost free of noise.
  const double limit = static_cast<double>(bounded(static_cast<double>(step.max_distance) * kUnit));
  const double expected = second_step ? 0 : std::floor(std::min(2 * variance, limit / 2));
  bounds.similar = {static_cast<std::int32_t>(expected), static_cast<std::int32_t>(limit - expected)};
  return bounds;
}

// The remaining variance of a plane's noise in the guide of block motion, from the response of [1 2 1] / 4 to
// the noise's frequencies, at the brightness with the strongest noise.
double motion_guide_variance(const PlaneNoise& noise) {
  double left = 0;
  double of_white = 0;
  constexpr int kCount = NoiseShape::kFrequencies;
  const auto response = [](int frequency) {
    return std::pow((1 + std::cos(std::numbers::pi * frequency / kCount)) / 2, 2);
  };
  for (int v = 0; v < kCount; ++v) {
    for (int u = 0; u < kCount; ++u) {
      const double both = response(u) * response(v);
      left += both * static_cast<double>(noise.shape.spectrum[kCount * v + u]);
      of_white += both;
    }
  }
  const auto greatest = static_cast<double>(std::ranges::max(noise.shape.curve));
  const double deviation = motion::kGuideNoiseGain * static_cast<double>(noise.sigma) * greatest;
  return deviation * deviation * left / of_white;
}

std::int32_t motion_noise_of(const FrameFormat& format, const NoiseModel& noise) {
  double variance = motion_guide_variance(noise.plane(0));
  if (format.color_model == ColorModel::kRgb) {
    variance =
        (variance + 4 * motion_guide_variance(noise.plane(1)) + motion_guide_variance(noise.plane(2))) / 16;
  }
  constexpr std::int32_t kMoreThanAny = 1 << 20;
  return variance > 0 ? static_cast<std::int32_t>(
                            motion::difference_of_noise(std::sqrt(variance) / motion::kGuideNoiseGain))
                      : kMoreThanAny;
}

}  // namespace

Bm3dParameters bm3d_of(const Vbm4dParameters& parameters) {
  Bm3dParameters result;
  result.hard_threshold = bm3d_step(parameters.hard_threshold);
  result.lambda = parameters.lambda;
  if (parameters.wiener) {
    result.wiener = bm3d_step(*parameters.wiener);
  }
  // Guides are not smoothed.
  result.matching = Matching::kNearest;
  return result;
}

Vbm4dPlan make_plan(const Vbm4dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                    const PlaneHeights& heights) {
  Vbm4dPlan plan;
  plan.planes = make_plan(bm3d_of(parameters), format, noise, heights);
  plan.motion_noise = motion_noise_of(format, noise);
  for (std::size_t s = 0; s < plan.planes.sets.size(); ++s) {
    const Bm3dComponentSet& set = plan.planes.sets[s];
    const NoiseShape shape = component_noise(format, noise)[0].shape;
    const double sigma =
        guide_deviation({plan.planes.components[0].sigma, shape}, false, set.shift_x, set.shift_y);
    // A folded guide does not tell the brightness that curves of chroma need.
    const bool tells_brightness =
        std::ranges::any_of(set.components, [&](int c) { return plan.planes.components[c].curve_by_guide; });
    int& scale = plan.guide_scales[set.subsampled() ? 1 : 0];
    if (format.bit_depth > 8 && !tells_brightness) {
      scale = vbm4d::guide_scale(sigma * static_cast<double>(std::ranges::min(shape.curve)));
    }
    const double guide_sigma = sigma * scale;
    const double scatter = scatter_of(shape);
    plan.bounds[s][0] = bounds_of(parameters.hard_threshold, false, guide_sigma, scatter);
    if (parameters.wiener) {
      const bool clean = set.guides[1].basic_estimate;
      plan.bounds[s][1] = bounds_of(*parameters.wiener, clean, guide_sigma, scatter);
      // In noisy guides, interpolated patches have less noise and would look more similar than others.
      plan.bounds[s][1].quarters = clean && parameters.motion_precision == vbm4d::kQuarters;
    }
  }
  return plan;
}

float vnlb_share(const Vbm4dParameters& parameters, const NoiseModel& noise) {
  constexpr float kCoarse = 4;
  constexpr int kRow = NoiseShape::kFrequencies;
  const auto& spectrum = noise.shape[0].spectrum;
  const float lowest = (spectrum[0] + spectrum[1] + spectrum[kRow] + spectrum[kRow + 1]) / 4;
  return parameters.vnlb_share * std::clamp(kCoarse - lowest, 0.0F, 1.0F);
}

vbm4d::NoiseOverTime noise_over_time(const Vbm4dParameters& parameters, bool second_step, float repetition) {
  const Vbm4dStep& step = second_step ? *parameters.wiener : parameters.hard_threshold;
  const auto squared_if_second = [&](float deviation) {
    return second_step ? deviation * deviation : deviation;
  };
  vbm4d::NoiseOverTime result{};
  result.changing = squared_if_second(step.changing_threshold);
  for (int frames = 1; frames <= vbm4d::kMostFrames; ++frames) {
    const auto gain = static_cast<float>(std::sqrt(variance_of_constant(frames, double{repetition})));
    result.constant[frames] = squared_if_second(gain * step.constant_threshold);
  }
  return result;
}

std::vector<double> group_transform(int frames, int members) {
  const std::vector<double> over_time = transform_matrices(Transform2d::kDct, frames).forward;
  const std::vector<double> across = transform_matrices(Transform1d::kHaar, members).forward;
  const int size = frames * members;
  std::vector<double> result(static_cast<std::size_t>(size) * size);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      result[static_cast<std::size_t>(row) * size + column] =
          over_time[static_cast<std::size_t>(row / members) * frames + column / members] *
          across[static_cast<std::size_t>(row % members) * members + column % members];
    }
  }
  return result;
}

}  // namespace limpid
