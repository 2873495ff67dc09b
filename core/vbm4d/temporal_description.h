// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "core/parameters/filter_description.h"
#include "core/parameters/shared_parameters.h"
#include "core/vbm4d/trajectories.h"

// Parameters of both V-BM4D and V-BM3D.

namespace limpid {

namespace temporal_details {

inline constexpr int kMostDelay = 2 * vbm4d::kMostReach;

// Describes the parameters of the step to which `step_of(parameters)` points.
template <typename Step, typename Parameters, typename StepOf, typename DescribeOwn>
void describe_temporal_step(FilterDescription<Parameters>& description, const StepOf& step_of,
                            const StepText& text, const DescribeOwn& describe_own) {
  const auto number = numbers_of_step(description, step_of, text);
  number("step", "step", "a step", "1 to 8", "Distance between reference patches, in samples", &Step::spacing,
         [](int spacing) { return spacing >= 1 && spacing <= vbm4d::kPatch; });
  number("group-size", "group_size", "a group size", "1 to 16", "Maximum number of patches in a group",
         &Step::max_group_size, [](int size) { return size >= 1 && size <= vbm4d::kMostMembers; });
  number("search-window", "search_window", "a search window", "odd, 1 to 65",
         "Side of the search window, in samples", &Step::search_window,
         [](int side) { return side >= 1 && side <= 65 && side % 2 == 1; });
  number("tau", "tau", "a tau", "0 to 65025", "Largest mean squared difference of a match",
         &Step::max_distance, [](float tau) { return tau >= 0 && tau <= 65025; });
  describe_own(number);
  number("kaiser-beta", "kaiser_beta", "a Kaiser beta", "0 to 8",
         "Shape of the Kaiser window of the aggregation; 0: flat", &Step::kaiser_beta,
         [](float beta) { return beta >= 0 && beta <= 8; });
}

}  // namespace temporal_details

/// Adds the parameters to `description`, which has a name. `describe_own(number)` adds the parameters that
/// belong to this filter's steps only.
template <typename Step, typename Parameters, typename DescribeOwn>
void describe_temporal_filter(FilterDescription<Parameters>& description, const DescribeOwn& describe_own) {
  using namespace temporal_details;
  description.parameters = {
      steps_parameter(description.name, "Number of steps: 1 (hard thresholding) or 2 (then Wiener filtering)",
                      &Parameters::wiener),
      reach_parameter<Parameters>(description.name, vbm4d::kMostReach, vbm4d::kMostReach),
      delay_parameter<Parameters>(description.name, kMostDelay)};
  const std::string first_group = "Step 1, hard thresholding";
  describe_temporal_step<Step>(
      description, [](auto& parameters) { return &parameters.hard_threshold; },
      {"hard_threshold", "first step", "", first_group}, describe_own);
  description.parameters.push_back(number_parameter<Parameters>(
      ParameterText{"lambda", "hard_threshold", "lambda", "first step", "a lambda", "over 0, at most 100",
                    "Threshold of the coefficients, as a multiple of sigma", first_group},
      [](auto& parameters) { return &parameters.lambda; },
      [](float lambda) { return lambda > 0 && lambda <= 100; }));
  describe_temporal_step<Step>(
      description, [](auto& parameters) { return parameters.wiener ? &*parameters.wiener : nullptr; },
      {"wiener", "second step", "-2", "Step 2, Wiener filtering"}, describe_own);
}

}  // namespace limpid
