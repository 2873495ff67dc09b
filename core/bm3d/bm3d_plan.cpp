// SPDX-License-Identifier: MIT
#include "core/bm3d/bm3d_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/bm3d/transforms.h"

namespace limpid {
namespace {

// Planes that are smaller than the patch of either step are not filtered.
int largest_patch(const Bm3dParameters& parameters) {
  return std::max(parameters.hard_threshold.patch_size,
                  parameters.wiener ? parameters.wiener->patch_size : 0);
}

bool is_rgb(const FrameFormat& format) { return format.color_model == ColorModel::kRgb; }

// The noise of (sum of factors[p] times plane p) / divisor, for independent noise of the planes.
PlaneNoise combined(const NoiseModel& noise, const std::array<float, 3>& factors, float divisor) {
  float total = 0;
  std::array<float, 3> variance{};
  for (std::size_t p = 0; p < variance.size(); ++p) {
    variance[p] = factors[p] * factors[p] * (noise.sigma[p] * noise.sigma[p]);
    total += variance[p];
  }
  PlaneNoise result;
  result.sigma = std::sqrt(total) / divisor;
  if (!(total > 0) || noise.shape == std::array<NoiseShape, 3>{}) {
    return result;
  }
  const auto mix = [&](auto& mixed, const auto& of_plane, float power) {
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      float sum = 0;
      for (std::size_t p = 0; p < variance.size(); ++p) {
        sum += variance[p] * std::pow(of_plane(noise.shape[p])[i], power);
      }
      mixed[i] = std::pow(sum / total, 1 / power);
    }
  };
  mix(
      result.shape.spectrum, [](const NoiseShape& shape) { return shape.spectrum; }, 1);
  mix(
      result.shape.curve, [](const NoiseShape& shape) { return shape.curve; }, 2);
  for (std::size_t p = 0; p < variance.size(); ++p) {
    result.shape.repetition += variance[p] / total * noise.shape[p].repetition;
  }
  return result;
}

// The share of the variance of noise of this shape that remains in a guide, relative to the share of white
// noise.
double remaining_variance(const NoiseShape& shape, bool smoothed, int shift_x, int shift_y) {
  const auto kernel = [smoothed](int shift) {
    std::vector<double> taps;
    for (const int tap :
         {smoothed ? kGuideKernelSide : 0, kGuideKernelCenter, smoothed ? kGuideKernelSide : 0}) {
      taps.insert(taps.end(), std::size_t{1} << shift, tap);
    }
    return taps;
  };
  const std::vector<double> horizontal = kernel(shift_x);
  const std::vector<double> vertical = kernel(shift_y);
  return filtered_variance(shape, horizontal, vertical) / filtered_variance({}, horizontal, vertical);
}

std::array<std::vector<float>, 2> variances_in_steps(const Bm3dParameters& parameters,
                                                     const NoiseShape& shape) {
  const auto variances = [&shape](const Bm3dStep& step) {
    return coefficient_variances(shape, transform_matrices(step.transform_2d, step.patch_size).forward);
  };
  return {variances(parameters.hard_threshold),
          parameters.wiener ? variances(*parameters.wiener) : std::vector<float>{}};
}

}  // namespace

std::array<PlaneNoise, 3> component_noise(const FrameFormat& format, const NoiseModel& noise) {
  if (!is_rgb(format)) {
    return {noise.plane(0), noise.plane(1), noise.plane(2)};
  }
  // Y = (R + G + B) / 3, U = (R - B) / 2, V = (R - 2 G + B) / 4.
  const std::array<PlaneNoise, 3> independent = {combined(noise, {1, 1, 1}, 3), combined(noise, {1, 0, 1}, 2),
                                                 combined(noise, {1, 2, 1}, 4)};
  std::array<PlaneNoise, 3> result;
  for (std::size_t c = 0; c < result.size(); ++c) {
    result[c] = noise.opponent[c].sigma > 0 ? noise.opponent[c] : independent[c];
  }
  return result;
}

Bm3dGuide make_guide(const Bm3dParameters& parameters, const FrameFormat& format, bool second_step,
                     int shift_x, int shift_y, const PlaneNoise& luma) {
  const bool bytes = !second_step && shift_x == 0 && shift_y == 0 && !is_rgb(format) &&
                     format.sample_type == SampleType::kUint8;
  Bm3dGuide guide;
  guide.basic_estimate = second_step && luma.sigma > 0;
  guide.smoothed = parameters.matching == Matching::kStatistical && !second_step && luma.sigma > 0;
  guide.scale = matching_scale(bytes);
  guide.distances = matching_distances(parameters.matching, second_step,
                                       second_step ? *parameters.wiener : parameters.hard_threshold,
                                       guide.scale, guide_deviation(luma, guide.smoothed, shift_x, shift_y));
  return guide;
}

double guide_deviation(const PlaneNoise& luma, bool smoothed, int shift_x, int shift_y) {
  // Each sample of the guide is the mean of 2^(shift_x + shift_y) samples.
  return static_cast<double>(luma.sigma) / std::sqrt(1 << (shift_x + shift_y)) *
         std::sqrt(remaining_variance(luma.shape, smoothed, shift_x, shift_y));
}

Bm3dPlan make_plan(const Bm3dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                   const PlaneHeights& heights) {
  const int colors = format.color_plane_count();
  const int patch = largest_patch(parameters);
  const std::array<PlaneNoise, 3> component = component_noise(format, noise);
  Bm3dPlan plan;
  plan.noise = noise;
  plan.heights = heights;
  plan.opponent = is_rgb(format);
  Bm3dComponentSet full;
  Bm3dComponentSet chroma;
  chroma.shift_x = format.chroma_shift_x;
  chroma.shift_y = format.chroma_shift_y;
  for (int c = 0; c < colors; ++c) {
    const int width = format.plane_width(c);
    const int height = heights[c];
    const bool filtered = width >= patch && height >= patch && component[c].sigma > 0;
    plan.components[c] = {width, height, filtered ? component[c].sigma : 0, {}, {}, false, 0};
    if (filtered) {
      if (component[c].shape.curve != NoiseShape().curve && !(plan.opponent && c > 0)) {
        plan.components[c].curve = component[c].shape.curve;
        plan.components[c].curve_by_guide = c > 0;
      }
      plan.components[c].repetition = component[c].shape.repetition;
      plan.components[c].coefficient_variances = variances_in_steps(parameters, component[c].shape);
      Bm3dComponentSet& set = c > 0 && chroma.subsampled() ? chroma : full;
      set.components.push_back(c);
      set.width = width;
      set.height = height;
    }
  }
  for (Bm3dComponentSet* set : {&full, &chroma}) {
    if (set->components.empty()) {
      continue;
    }
    for (int step = 0; step < (parameters.wiener ? 2 : 1); ++step) {
      set->guides[step] = make_guide(parameters, format, step == 1, set->shift_x, set->shift_y,
                                     {plan.components[0].sigma, component[0].shape});
    }
    plan.sets.push_back(std::move(*set));
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    // A plane of RGB is part of all components: if it has noise, it is filtered if any component is.
    const bool filtered = p < colors && (plan.opponent ? noise.sigma[p] > 0 : plan.components[p].sigma > 0);
    plan.copied[p] = plan.sets.empty() || !filtered;
  }
  return plan;
}

std::vector<std::string> warnings_of_small_planes(const Bm3dParameters& parameters,
                                                  const FrameFormat& format) {
  const int patch = largest_patch(parameters);
  std::vector<std::string> warnings;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    if (width < patch || height < patch) {
      warnings.push_back("plane " + std::to_string(p) + " (" + std::to_string(width) + "x" +
                         std::to_string(height) + ") is smaller than a patch of " + std::to_string(patch) +
                         "x" + std::to_string(patch) + " and passes through unchanged");
    }
  }
  return warnings;
}

}  // namespace limpid
