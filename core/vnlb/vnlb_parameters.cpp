// SPDX-License-Identifier: MIT
#include "core/vnlb/vnlb_parameters.h"

#include <algorithm>
#include <string>

#include "core/parameters/parameter.h"

namespace limpid {
namespace {

using VnlbDescription = FilterDescription<VnlbParameters>;

constexpr Names<VnlbProfile, 4> kVnlbProfiles = {{{VnlbProfile::kFast, "fast"},
                                                  {VnlbProfile::kNp, "np"},
                                                  {VnlbProfile::kHigh, "high"},
                                                  {VnlbProfile::kBest, "best"}}};

constexpr int kMostVnlbDelay = 2 * vbm4d::kMostReach;

// Describes the parameters of the step to which `step_of(parameters)` points.
template <typename StepOf>
void describe_vnlb_step(VnlbDescription& description, const StepOf& step_of, const StepText& text) {
  const auto number = numbers_of_step(description, step_of, text);
  const auto window = [](int side) { return side >= 1 && side <= vnlb::kMostSearchWindow && side % 2 == 1; };
  number("step", "step", "a step", "1 to 8", "Distance between reference patches, in samples",
         &VnlbStep::spacing, [](int spacing) { return spacing >= 1 && spacing <= vnlb::kPatch; });
  number("group-size", "group_size", "a group size", "2 to 64", "Number of patches in a group",
         &VnlbStep::group_size, [](int size) { return size >= 2 && size <= vnlb::kMostPatches; });
  number("search-window", "search_window", "a search window", "odd, 1 to 33",
         "Side of the search window, in samples", &VnlbStep::search_window, window);
  number("temporal-search-window", "temporal_search_window", "a search window", "odd, 1 to 33",
         "Side of the search window in neighboring frames", &VnlbStep::temporal_search_window, window);
  number("trajectory-threshold", "trajectory_threshold", "a trajectory threshold", "over 0, at most 1000",
         "Mean squared difference at which a trajectory ends, in units of sigma squared",
         &VnlbStep::trajectory_threshold, [](float distance) { return distance > 0 && distance <= 1000; });
}

VnlbDescription describe_vnlb() {
  VnlbDescription description;
  description.name = "vnlb";
  description.help =
      "VNLB: empirical Bayes on patches in space and time; slow; best quality with the profile best";
  description.reach = [](const VnlbParameters& parameters) { return reach_of(parameters); };
  for (const auto& [profile, name] : kVnlbProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) {
    return vnlb_profile(value_of(profile, "profile", kVnlbProfiles));
  };
  description.parameters = {steps_parameter("vnlb", "Number of steps: 1 or 2", &VnlbParameters::second),
                            reach_parameter<VnlbParameters>("vnlb", vnlb::kMostReach, 2 * vnlb::kMostReach),
                            delay_parameter<VnlbParameters>("vnlb", kMostVnlbDelay)};
  describe_vnlb_step(description, [](auto& parameters) { return &parameters.first; },
                     {"first", "first step", "", "Step 1"});
  describe_vnlb_step(description,
                     [](auto& parameters) { return parameters.second ? &*parameters.second : nullptr; },
                     {"second", "second step", "-2", "Step 2"});
  return description;
}

Vbm4dStep followed_like(const VnlbStep& step) {
  return {.spacing = step.spacing,
          .max_group_size = 1,
          .search_window = 1,
          .trajectory_threshold = step.trajectory_threshold,
          .kaiser_beta = 1};
}

}  // namespace

const VnlbDescription& VnlbParameters::description() {
  static const VnlbDescription all = describe_vnlb();
  return all;
}

void VnlbParameters::validate() const { check_parameters(description(), *this); }

Vbm4dParameters followed_like(const VnlbParameters& parameters) {
  Vbm4dParameters result;
  // Patches span two frames.
  result.before = parameters.before + 1;
  result.after = parameters.after + 1;
  result.delay = parameters.delay;
  result.hard_threshold = followed_like(parameters.first);
  result.wiener.reset();
  if (parameters.second) {
    result.wiener = followed_like(*parameters.second);
  }
  return result;
}

VnlbParameters mixed_vnlb(const Vbm4dParameters& parameters) {
  VnlbParameters result = vnlb_profile(VnlbProfile::kNp);
  result.before = std::min(vbm4d::kMixedReach, parameters.before);
  result.after = std::min(vbm4d::kMixedReach, parameters.after);
  result.delay = parameters.delay;
  result.second->spacing = 8;
  result.first.group_size = result.second->group_size = 32;
  if (!parameters.wiener) {
    result.second.reset();
  }
  return result;
}

Vbm4dParameters mixed_vbm4d(Vbm4dParameters parameters) {
  parameters.vnlb_share = 0;
  return parameters;
}

FrameFormat mixed_format(const FrameFormat& format) {
  FrameFormat mixed = format;
  mixed.has_alpha = false;
  if (mixed.color_model == ColorModel::kYuv) {
    mixed.color_model = ColorModel::kGray;
    mixed.chroma_shift_x = mixed.chroma_shift_y = 0;
  }
  return mixed;
}

Reach reach_of(const VnlbParameters& parameters) { return reach_of(followed_like(parameters)); }

// The values maximize the PSNR of seven clips at sigma 20 and 40 (bench/results.md). Reach gains
// most, denser reference patches gain little (in the first step, hardly anything), larger groups nothing.
// Small windows suffice if many frames are searched.
VnlbParameters vnlb_profile(VnlbProfile profile) {
  const auto make = [](int reach, int spacing, int second_group, int search_window = 7) {
    VnlbParameters parameters;
    parameters.before = parameters.after = reach;
    parameters.first.spacing = std::min(spacing + 2, 8);
    parameters.second->spacing = spacing;
    parameters.second->group_size = second_group;
    parameters.first.search_window = parameters.second->search_window = search_window;
    return parameters;
  };
  switch (profile) {
    case VnlbProfile::kFast:
      return make(2, 8, 32, 9);
    case VnlbProfile::kNp:
      return make(4, 6, 40);
    case VnlbProfile::kHigh:
      return make(6, 6, 48);
    case VnlbProfile::kBest:
      return make(7, 5, 48);
  }
  return {};
}

}  // namespace limpid
