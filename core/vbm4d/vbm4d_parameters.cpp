#include "core/vbm4d/vbm4d_parameters.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/parameters/filter_description.h"
#include "core/parameters/names.h"
#include "core/parameters/reach_parameter.h"
#include "core/vbm4d/trajectories.h"

namespace limpid {
namespace {

using Vbm4dDescription = FilterDescription<Vbm4dParameters>;

constexpr Names<Vbm4dProfile, 4> kVbm4dProfiles = {{{Vbm4dProfile::kFast, "fast"},
                                                    {Vbm4dProfile::kLc, "lc"},
                                                    {Vbm4dProfile::kNp, "np"},
                                                    {Vbm4dProfile::kHigh, "high"}}};

constexpr int kMostDelay = 4 * vbm4d::kMostReach;

// The parameters of one step, which `step_of(parameters)` is; null if it is left out. Of the second the
// options end in -2.
template <typename StepOf>
void describe_vbm4d_step(Vbm4dDescription& description, const StepOf& step_of, const std::string& section,
                         const std::string& where, const std::string& suffix, const std::string& group) {
  const auto number = [&](const std::string& option, const std::string& name, const std::string& title,
                          const std::string& range, const std::string& help, auto member, const auto& legal) {
    description.parameters.push_back(number_parameter<Vbm4dParameters>(
        ParameterText{option + suffix, section, name, where, title, range, help, group},
        [=](auto& parameters) {
          auto* const step = step_of(parameters);
          return step == nullptr ? nullptr : &(step->*member);
        },
        legal));
  };
  number("step", "step", "a step", "1 to 8", "Distance between reference patches", &Vbm4dStep::spacing,
         [](int spacing) { return spacing >= 1 && spacing <= vbm4d::kPatch; });
  number("group-size", "group_size", "a group size", "1 to 16", "Most patches in a group",
         &Vbm4dStep::max_group_size, [](int size) { return size >= 1 && size <= vbm4d::kMostMembers; });
  number("search-window", "search_window", "a search window", "odd, 1 to 65",
         "Side of the window searched for patches", &Vbm4dStep::search_window,
         [](int side) { return side >= 1 && side <= 65 && side % 2 == 1; });
  number("tau", "tau", "a tau", "0 to 65025", "Greatest mean squared difference of a match",
         &Vbm4dStep::max_distance, [](float tau) { return tau >= 0 && tau <= 65025; });
  number("end-distance", "end_distance", "an end distance", "over 0, at most 1000",
         "Mean squared difference, by sigma squared, at which a patch is followed no further",
         &Vbm4dStep::end_distance, [](float distance) { return distance > 0 && distance <= 1000; });
  number("kaiser-beta", "kaiser_beta", "a Kaiser beta", "0 to 8",
         "Shape of the aggregation window, flat at 0", &Vbm4dStep::kaiser_beta,
         [](float beta) { return beta >= 0 && beta <= 8; });
}

Vbm4dDescription describe_vbm4d() {
  Vbm4dDescription description;
  description.name = "vbm4d";
  description.help = "filters along motion, for video";
  for (const auto& [profile, name] : kVbm4dProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) {
    return vbm4d_profile(value_of(profile, "profile", kVbm4dProfiles));
  };

  description.live = [](Vbm4dParameters parameters) {
    if (!parameters.delay) {
      // More earlier frames make up for the later ones.
      parameters.delay = 0;
      parameters.before = std::min(parameters.before + parameters.after, vbm4d::kMostReach);
    }
    return parameters;
  };

  Parameter<Vbm4dParameters> steps;
  steps.text = {"steps",
                "",
                "steps",
                "vbm4d",
                "a number of steps",
                "",
                "1: hard thresholding alone; 2: and a Wiener step [2]",
                "Denoising"};
  steps.get = [](const Vbm4dParameters& parameters) { return ParameterValue(parameters.wiener ? 2 : 1); };
  steps.set = [](Vbm4dParameters& parameters, const ParameterValue& value) {
    if (value == ParameterValue(1)) {
      parameters.wiener.reset();
    } else if (value != ParameterValue(2)) {
      throw UsageError("vbm4d: steps are 1 or 2");
    }
  };
  steps.check = [](const Vbm4dParameters&) {};
  description.parameters = {
      steps, reach_parameter<Vbm4dParameters>("vbm4d", vbm4d::kMostReach),
      number_parameter<Vbm4dParameters>(
          ParameterText{
              "delay", "", "delay", "vbm4d", "a delay", "0 to 32",
              "Most later frames that a result may wait for; 0: live [as many as help; 0 in windows]",
              "Denoising"},
          [](auto& parameters) { return &parameters.delay; },
          [](int delay) { return delay >= 0 && delay <= kMostDelay; })};
  const std::string first_group = "Step 1, hard thresholding, in place of the profile's values";
  describe_vbm4d_step(
      description, [](auto& parameters) { return &parameters.hard_threshold; }, "hard_threshold",
      "first step", "", first_group);
  description.parameters.push_back(number_parameter<Vbm4dParameters>(
      ParameterText{"lambda", "hard_threshold", "lambda", "first step", "a lambda", "over 0, at most 100",
                    "Coefficients up to lambda x sigma are zeroed", first_group},
      [](auto& parameters) { return &parameters.lambda; },
      [](float lambda) { return lambda > 0 && lambda <= 100; }));
  describe_vbm4d_step(
      description, [](auto& parameters) { return parameters.wiener ? &*parameters.wiener : nullptr; },
      "wiener", "second step", "-2", "Step 2, Wiener filtering, in place of the profile's values");
  return description;
}

Vbm4dStep make_vbm4d_step(int spacing, float tau, float end_distance) {
  return {.spacing = spacing,
          .max_group_size = 16,
          .search_window = 19,
          .max_distance = tau,
          .end_distance = end_distance,
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
    // A step waits for the frames that its groups reach, and for the later groups that reach its frame: the
    // two share what may be waited for.
    const int of_step = *parameters.delay / (parameters.wiener ? 2 : 1);
    span.after = std::min(span.after, of_step / 2);
    span.spread = std::min(span.spread, of_step - span.after);
  }
  return span;
}

Reach reach_of(const Vbm4dParameters& parameters) {
  const TemporalSpan span = temporal_span(parameters);
  const int steps = parameters.wiener ? 2 : 1;
  return {.before = steps * (span.before + span.after), .after = steps * (span.after + span.spread)};
}

// Found by greatest PSNR on seven clips at sigma 20 and 40 (tests/benchmarks/results.md): reach gains most,
// then density of references. That a group has more than one trajectory pays only where they are short.
Vbm4dParameters vbm4d_profile(Vbm4dProfile profile) {
  const auto make = [](int reach, int first_spacing, int second_spacing) {
    Vbm4dParameters parameters;
    parameters.before = parameters.after = reach;
    parameters.hard_threshold = make_vbm4d_step(first_spacing, 10000, 5);
    parameters.wiener = make_vbm4d_step(second_spacing, 800, 1.5F);
    return parameters;
  };
  switch (profile) {
    case Vbm4dProfile::kFast:
      return make(4, 8, 7);
    case Vbm4dProfile::kLc:
      return make(4, 6, 5);
    case Vbm4dProfile::kNp:
      return make(4, 3, 3);
    case Vbm4dProfile::kHigh:
      return make(8, 2, 2);
  }
  return {};
}

}  // namespace limpid
