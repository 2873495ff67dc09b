// SPDX-License-Identifier: MIT
#include "core/vbm3d/vbm3d_parameters.h"

#include <utility>

#include "core/parameters/filter_description.h"
#include "core/parameters/names.h"
#include "core/vbm4d/temporal_description.h"

namespace limpid {
namespace {

using Vbm3dDescription = FilterDescription<Vbm3dParameters>;

constexpr Names<Vbm3dProfile, 3> kVbm3dProfiles = {
    {{Vbm3dProfile::kFast, "fast"}, {Vbm3dProfile::kNp, "np"}, {Vbm3dProfile::kHigh, "high"}}};

Vbm3dDescription describe_vbm3d() {
  Vbm3dDescription description;
  description.name = "vbm3d";
  description.help = "V-BM3D: groups of patches of several frames; for comparisons";
  description.reach = [](const Vbm3dParameters& parameters) { return reach_of(parameters); };
  description.is_experimental = true;
  for (const auto& [profile, name] : kVbm3dProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) {
    return vbm3d_profile(value_of(profile, "profile", kVbm3dProfiles));
  };
  description.make_live = [make = description.make](const std::string& profile) {
    Vbm3dParameters parameters = make(profile);
    parameters.before += std::exchange(parameters.after, 0);  // earlier frames replace later ones
    parameters.delay = 0;
    return parameters;
  };
  const auto describe_own = [](const auto& number) {
    number("predictive-window", "predictive_window", "a predictive window", "odd, 1 to 33",
           "Side of the search windows in other frames, in samples", &Vbm3dStep::predictive_window,
           [](int side) { return side >= 1 && side <= 33 && side % 2 == 1; });
    number("predictive-count", "predictive_count", "a predictive count", "1 to 4",
           "Number of search windows in each other frame", &Vbm3dStep::best,
           [](int best) { return best >= 1 && best <= vbm4d::kMostBest; });
    number("position-bonus", "position_bonus", "a position bonus", "0 to 100",
           "Bonus of patches at the same position in other frames, in units of sigma squared",
           &Vbm3dStep::position_bonus, [](float bonus) { return bonus >= 0 && bonus <= 100; });
  };
  describe_temporal_filter<Vbm3dStep>(description, describe_own);
  return description;
}

Vbm4dStep vbm4d_step_of(const Vbm3dStep& step) {
  Vbm4dStep result;
  result.spacing = step.spacing;
  result.max_group_size = step.max_group_size;
  result.max_distance = step.max_distance;
  result.kaiser_beta = step.kaiser_beta;
  result.predictive = {step.search_window, step.predictive_window, step.best, step.position_bonus};
  return result;
}

}  // namespace

const Vbm3dDescription& Vbm3dParameters::description() {
  static const Vbm3dDescription all = describe_vbm3d();
  return all;
}

void Vbm3dParameters::validate() const { check_parameters(description(), *this); }

Vbm4dParameters vbm4d_of(const Vbm3dParameters& parameters) {
  Vbm4dParameters result;
  result.before = parameters.before;
  result.after = parameters.after;
  result.delay = parameters.delay;
  result.hard_threshold = vbm4d_step_of(parameters.hard_threshold);
  result.lambda = parameters.lambda;
  result.wiener.reset();
  if (parameters.wiener) {
    result.wiener = vbm4d_step_of(*parameters.wiener);
  }
  return result;
}

Reach reach_of(const Vbm3dParameters& parameters) { return reach_of(vbm4d_of(parameters)); }

// Windows, group size and taus are from Dabov et al., whose second step has patches of 7x7 samples.
Vbm3dParameters vbm3d_profile(Vbm3dProfile profile) {
  const auto make = [](int reach, int first_spacing, int second_spacing, int window, int predictive_window) {
    Vbm3dParameters parameters;
    parameters.before = parameters.after = reach;
    parameters.hard_threshold.spacing = first_spacing;
    parameters.wiener->spacing = second_spacing;
    for (Vbm3dStep* const step : {&parameters.hard_threshold, &*parameters.wiener}) {
      step->search_window = window;
      step->predictive_window = predictive_window;
    }
    parameters.wiener->max_distance = 1500;
    return parameters;
  };
  switch (profile) {
    case Vbm3dProfile::kFast:
      return make(2, 8, 7, 19, 9);
    case Vbm3dProfile::kNp:
      return make(4, 6, 4, 7, 5);
    case Vbm3dProfile::kHigh:
      return make(4, 3, 3, 7, 5);
  }
  return {};
}

}  // namespace limpid
