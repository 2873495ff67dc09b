// SPDX-License-Identifier: MIT
#include "core/vbm4d/vbm4d_parameters.h"

#include <algorithm>

#include "core/parameters/parameter.h"
#include "core/vbm4d/trajectories.h"

namespace limpid {
namespace {

using Vbm4dDescription = FilterDescription<Vbm4dParameters>;

constexpr Names<Vbm4dProfile, 5> kVbm4dProfiles = {{{Vbm4dProfile::kFast, "fast"},
                                                    {Vbm4dProfile::kLc, "lc"},
                                                    {Vbm4dProfile::kNp, "np"},
                                                    {Vbm4dProfile::kHigh, "high"},
                                                    {Vbm4dProfile::kBest, "best"}}};

constexpr int kMostDelay = 2 * vbm4d::kMostReach;

// Describes the parameters of the step to which `step_of(parameters)` points.
template <typename StepOf>
void describe_vbm4d_step(Vbm4dDescription& description, const StepOf& step_of, const StepText& text) {
  const auto number = numbers_of_step(description, step_of, text);
  number("step", "step", "a step", "1 to 8", "Distance between reference patches, in samples",
         &Vbm4dStep::spacing, [](int spacing) { return spacing >= 1 && spacing <= vbm4d::kPatch; });
  number("group-size", "group_size", "a group size", "1 to 16", "Maximum number of patches in a group",
         &Vbm4dStep::max_group_size, [](int size) { return size >= 1 && size <= vbm4d::kMostMembers; });
  number("search-window", "search_window", "a search window", "odd, 1 to 65",
         "Side of the search window, in samples", &Vbm4dStep::search_window,
         [](int side) { return side >= 1 && side <= 65 && side % 2 == 1; });
  number("tau", "tau", "a tau", "0 to 65025", "Largest mean squared difference of a match",
         &Vbm4dStep::max_distance, [](float tau) { return tau >= 0 && tau <= 65025; });
  number("trajectory-threshold", "trajectory_threshold", "a trajectory threshold", "over 0, at most 1000",
         "Mean squared difference at which a trajectory ends, in units of sigma squared",
         &Vbm4dStep::trajectory_threshold, [](float distance) { return distance > 0 && distance <= 1000; });
  const auto over_time = [&](const std::string& option, const std::string& name, const std::string& title,
                             const std::string& what, auto member) {
    number(option, name, title, "over 0, at most 10",
           "Threshold factor of coefficients that " + what + " over time", member,
           [](float factor) { return factor > 0 && factor <= 10; });
  };
  over_time("constant-threshold", "constant_threshold", "a constant threshold", "are constant",
            &Vbm4dStep::constant_threshold);
  over_time("changing-threshold", "changing_threshold", "a changing threshold", "change",
            &Vbm4dStep::changing_threshold);
  number("kaiser-beta", "kaiser_beta", "a Kaiser beta", "0 to 8",
         "Shape of the Kaiser window of the aggregation; 0: flat", &Vbm4dStep::kaiser_beta,
         [](float beta) { return beta >= 0 && beta <= 8; });
}

void describe_parameters(Vbm4dDescription& description) {
  description.parameters = {
      steps_parameter(description.name, "Number of steps: 1 (hard thresholding) or 2 (then Wiener filtering)",
                      &Vbm4dParameters::wiener),
      reach_parameter<Vbm4dParameters>(description.name, vbm4d::kMostReach, vbm4d::kMostReach),
      delay_parameter<Vbm4dParameters>(description.name, kMostDelay),
      number_parameter<Vbm4dParameters>(
          ParameterText{"vnlb", "", "vnlb", description.name, "a share of VNLB", "0 to 1",
                        "Greatest share of VNLB in luma, where the picture changes", "General"},
          [](auto& parameters) { return &parameters.vnlb_share; },
          [](float share) { return share >= 0 && share <= 1; })};
  const std::string first_group = "Step 1, hard thresholding";
  const std::string second_group = "Step 2, Wiener filtering";
  describe_vbm4d_step(description, [](auto& parameters) { return &parameters.hard_threshold; },
                      {"hard_threshold", "first step", "", first_group});
  description.parameters.push_back(number_parameter<Vbm4dParameters>(
      ParameterText{"lambda", "hard_threshold", "lambda", "first step", "a lambda", "over 0, at most 100",
                    "Threshold of the coefficients, as a multiple of sigma", first_group},
      [](auto& parameters) { return &parameters.lambda; },
      [](float lambda) { return lambda > 0 && lambda <= 100; }));
  describe_vbm4d_step(description,
                      [](auto& parameters) { return parameters.wiener ? &*parameters.wiener : nullptr; },
                      {"wiener", "second step", "-2", second_group});
  description.parameters.push_back(number_parameter<Vbm4dParameters>(
      ParameterText{"motion-precision-2", "wiener", "motion_precision", "second step", "a motion precision",
                    "1 or 4", "Precision of motion: 1 (whole samples) or 4 (quarter samples)", second_group},
      [](auto& parameters) { return parameters.wiener ? &parameters.motion_precision : nullptr; },
      [](int precision) { return precision == 1 || precision == vbm4d::kQuarters; }));
}

Vbm4dDescription describe_vbm4d() {
  Vbm4dDescription description;
  description.name = "vbm4d";
  description.help = "V-BM4D: groups of patches along motion; best for video at a given speed";
  description.reach = [](const Vbm4dParameters& parameters) { return reach_of(parameters); };
  for (const auto& [profile, name] : kVbm4dProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) {
    return vbm4d_profile(value_of(profile, "profile", kVbm4dProfiles));
  };
  description.make_live = [](const std::string& profile) {
    return vbm4d_live_profile(value_of(profile, "profile", kVbm4dProfiles));
  };
  describe_parameters(description);
  return description;
}

Vbm4dStep first_vbm4d_step(int spacing) {
  return {.spacing = spacing,
          .max_group_size = 16,
          .search_window = 19,
          .max_distance = 10000,
          .trajectory_threshold = 5,
          .constant_threshold = 0.87F,
          .changing_threshold = 1.06F,
          .kaiser_beta = 2};
}

Vbm4dStep second_vbm4d_step(int spacing) {
  return {.spacing = spacing,
          .max_group_size = 16,
          .search_window = 19,
          .max_distance = 800,
          .trajectory_threshold = 1.5F,
          .constant_threshold = 0.9F,
          .changing_threshold = 1.3F,
          .kaiser_beta = 2};
}

}  // namespace

const Vbm4dDescription& Vbm4dParameters::description() {
  static const Vbm4dDescription all = describe_vbm4d();
  return all;
}

void Vbm4dParameters::validate() const { check_parameters(description(), *this); }

TemporalSpan temporal_span(const Vbm4dParameters& parameters) {
  TemporalSpan span{parameters.before, parameters.after, parameters.before};
  if (parameters.delay) {
    // A step waits for the frames that its groups reach, and for the later groups that reach its frame. Both
    // share the delay of the step.
    const int of_step = *parameters.delay / (parameters.wiener ? 2 : 1);
    span.after = std::min(span.after, of_step / 2);
    span.spread = std::min(span.spread, of_step - span.after);
  }
  return span;
}

Reach reach_of(const Vbm4dParameters& parameters) {
  const TemporalSpan span = temporal_span(parameters);
  const int steps = parameters.wiener ? 2 : 1;
  const Reach own{.before = steps * (span.before + span.after), .after = steps * (span.after + span.spread)};
  if (parameters.vnlb_share == 0) {
    return own;
  }
  // The patches of VNLB span two frames, and its share depends on the result of the frame before.
  Vbm4dParameters mixed = parameters;
  mixed.vnlb_share = 0;
  mixed.before = std::min(parameters.before, vbm4d::kMixedReach) + 1;
  mixed.after = std::min(parameters.after, vbm4d::kMixedReach) + 1;
  Reach both = greater(own, reach_of(mixed));
  ++both.before;
  return both;
}

// The values maximize the PSNR of seven clips at sigma 20 and 40 (bench/results.md). Reach gains
// most, followed by the density of reference patches. Several trajectories in a group help only if
// trajectories are short. The constant and changing thresholds gain 0.2 dB and lose the faintest moving
// details (bench/tried.md). Quarters of a sample gain as much, mostly in moving texture, for a
// quarter of a GPU's time. References every 3 samples instead of 4 in np's first step gain 0.02 dB for an
// eighth more time, and every 2 instead of 3 in high's nothing for a sixth.
Vbm4dParameters vbm4d_profile(Vbm4dProfile profile) {
  const auto make = [](int reach, int first_spacing, int second_spacing, int motion_precision) {
    Vbm4dParameters parameters;
    parameters.motion_precision = motion_precision;
    parameters.before = parameters.after = reach;
    parameters.hard_threshold = first_vbm4d_step(first_spacing);
    parameters.wiener = second_vbm4d_step(second_spacing);
    return parameters;
  };
  switch (profile) {
    case Vbm4dProfile::kFast:
      return make(4, 8, 7, 1);
    case Vbm4dProfile::kLc:
      return make(4, 6, 5, 1);
    case Vbm4dProfile::kNp:
      return make(4, 4, 3, vbm4d::kQuarters);
    case Vbm4dProfile::kHigh:
      return make(8, 3, 2, vbm4d::kQuarters);
    case Vbm4dProfile::kBest: {
      Vbm4dParameters parameters = make(8, 3, 2, vbm4d::kQuarters);
      parameters.vnlb_share = 0.5F;
      return parameters;
    }
  }
  return {};
}

// Earlier frames replace later ones. The groups of other frames add nothing to a frame's estimate, so its own
// reference patches are denser. These values maximize PSNR, too (bench/tried.md).
Vbm4dParameters vbm4d_live_profile(Vbm4dProfile profile) {
  Vbm4dParameters parameters = vbm4d_profile(profile);
  parameters.delay = 0;
  parameters.after = 0;
  const auto make = [&](int reach, int first_spacing, int second_spacing) {
    parameters.before = reach;
    parameters.motion_precision = vbm4d::kQuarters;
    Vbm4dStep& first = parameters.hard_threshold;
    Vbm4dStep& second = *parameters.wiener;
    first.spacing = first_spacing;
    second.spacing = second_spacing;
    first.search_window = second.search_window = 33;
    second.max_distance = 400;
    second.trajectory_threshold = 1.3F;
    second.constant_threshold = 0.8F;
    second.changing_threshold = 1.6F;
    second.kaiser_beta = 1.5F;
    return parameters;
  };
  switch (profile) {
    case Vbm4dProfile::kFast:
      parameters.before = 8;
      return parameters;
    case Vbm4dProfile::kLc:
      return make(12, 4, 4);
    case Vbm4dProfile::kNp:
      return make(16, 2, 3);
    case Vbm4dProfile::kHigh:
    case Vbm4dProfile::kBest:
      return make(16, 2, 2);
  }
  return {};
}

}  // namespace limpid
