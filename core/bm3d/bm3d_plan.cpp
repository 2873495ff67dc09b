#include "core/bm3d/bm3d_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limpid {
namespace {

// Planes must hold a patch of either step.
int largest_patch(const Bm3dParameters& parameters) {
  return std::max(parameters.hard_threshold.patch_size,
                  parameters.wiener ? parameters.wiener->patch_size : 0);
}

bool is_rgb(const FrameFormat& format) { return format.color_model == ColorModel::kRgb; }

}  // namespace

std::array<float, 3> component_sigma(const FrameFormat& format, const NoiseModel& noise) {
  if (!is_rgb(format)) {
    return noise.sigma;
  }
  // Y = (R + G + B) / 3, U = (R - B) / 2, V = (R - 2 G + B) / 4.
  const float r = noise.sigma[0] * noise.sigma[0];
  const float g = noise.sigma[1] * noise.sigma[1];
  const float b = noise.sigma[2] * noise.sigma[2];
  return {std::sqrt(r + g + b) / 3, std::sqrt(r + b) / 2, std::sqrt(r + 4 * g + b) / 4};
}

Bm3dGuide make_guide(const Bm3dParameters& parameters, const FrameFormat& format, bool second_step,
                     int shift_x, int shift_y, float luma_sigma) {
  // Each of the guide's samples is the mean of so many.
  const double sigma = static_cast<double>(luma_sigma) / std::sqrt(1 << (shift_x + shift_y));
  const bool bytes = !second_step && shift_x == 0 && shift_y == 0 && !is_rgb(format) &&
                     format.sample_type == SampleType::kUint8;
  Bm3dGuide guide;
  guide.basic_estimate = second_step && luma_sigma > 0;
  guide.smoothed = parameters.matching == Matching::kStatistical && !second_step && sigma > 0;
  guide.scale = matching_scale(bytes);
  guide.distances =
      matching_distances(parameters.matching, second_step,
                         second_step ? *parameters.wiener : parameters.hard_threshold, guide.scale, sigma);
  return guide;
}

Bm3dPlan make_plan(const Bm3dParameters& parameters, const FrameFormat& format, const NoiseModel& noise,
                   const PlaneHeights& heights) {
  const int colors = format.color_plane_count();
  const int patch = largest_patch(parameters);
  const std::array<float, 3> sigma = component_sigma(format, noise);
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
    const bool filtered = width >= patch && height >= patch && sigma[c] > 0;
    plan.components[c] = {width, height, filtered ? sigma[c] : 0};
    if (filtered) {
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
      set->guides[step] =
          make_guide(parameters, format, step == 1, set->shift_x, set->shift_y, plan.components[0].sigma);
    }
    plan.sets.push_back(std::move(*set));
  }
  for (int p = 0; p < format.plane_count(); ++p) {
    // A plane of RGB is part of all components: with noise it is filtered if any component is.
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
