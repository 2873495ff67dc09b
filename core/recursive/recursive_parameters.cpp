// SPDX-License-Identifier: MIT
#include "core/recursive/recursive_parameters.h"

#include <cmath>
#include <numbers>
#include <string>

#include "core/parameters/parameter.h"

namespace limpid {
namespace {

using RecursiveDescription = FilterDescription<RecursiveParameters>;

constexpr Names<RecursiveProfile, 2> kRecursiveProfiles = {
    {{RecursiveProfile::kFast, "fast"}, {RecursiveProfile::kNp, "np"}}};

template <typename Member, typename Legal>
Parameter<RecursiveParameters> recursive_number(const ParameterText& text, Member member,
                                                const Legal& legal) {
  return number_parameter<RecursiveParameters>(
      text, [member](auto& parameters) { return &(parameters.*member); }, legal);
}

RecursiveDescription describe_recursive() {
  RecursiveDescription description;
  description.name = "recursive";
  description.help = "Recursive Kalman filter along motion; for live video: no delay, little time";
  description.reach = [](const RecursiveParameters& parameters) { return reach_of(parameters); };
  for (const auto& [profile, name] : kRecursiveProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) {
    return recursive_profile(value_of(profile, "profile", kRecursiveProfiles));
  };
  const auto spacing_text = [](const std::string& suffix, const std::string& section,
                               const std::string& where, const std::string& group) {
    return ParameterText{"step" + suffix,
                         section,
                         "step",
                         where,
                         "a step",
                         "1 to 8",
                         "Distance between patches, in samples",
                         group};
  };
  const auto legal_spacing = [](int spacing) { return spacing >= 1 && spacing <= recursive::kPatch; };
  description.parameters = {
      recursive_number(
          {"motion-searches", "", "motion_searches", "recursive", "a number of motion searches", "1 or 2",
           "Number of motion searches: 1 (noisy frame) or 2 (first estimate, too)", "General"},
          &RecursiveParameters::motion_searches, [](int searches) { return searches == 1 || searches == 2; }),
      recursive_number(spacing_text("", "first", "first step", "Step 1, merge"),
                       &RecursiveParameters::spacing, legal_spacing),
      recursive_number({"lambda", "first", "lambda", "first step", "a lambda", "over 0, at most 100",
                        "Threshold of the coefficients, as a multiple of sigma", "Step 1, merge"},
                       &RecursiveParameters::lambda,
                       [](float lambda) { return lambda > 0 && lambda <= 100; }),
      recursive_number(spacing_text("-2", "second", "second step", "Step 2, merge by the first estimate"),
                       &RecursiveParameters::second_spacing, legal_spacing)};
  return description;
}

}  // namespace

const RecursiveDescription& RecursiveParameters::description() {
  static const RecursiveDescription all = describe_recursive();
  return all;
}

void RecursiveParameters::validate() const { check_parameters(description(), *this); }

Reach reach_of(const RecursiveParameters& /*parameters*/) {
  return {.before = recursive::kFramesToSettle, .after = 0, .unbounded = true};
}

RecursiveParameters recursive_profile(RecursiveProfile profile) {
  switch (profile) {
    case RecursiveProfile::kFast:
      return {.spacing = 6, .second_spacing = 4, .motion_searches = 1};
    case RecursiveProfile::kNp:
      return {};
  }
  return {};
}

}  // namespace limpid

namespace limpid::recursive {

std::array<std::array<float, kTaps>, kEighths> interpolation_weights() {
  const auto sinc = [](double x) {
    return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
  };
  std::array<std::array<float, kTaps>, kEighths> weights{};
  for (int eighths = 0; eighths < kEighths; ++eighths) {
    std::array<double, kTaps> line{};
    double sum = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
      const double distance = tap - kTapsBefore - eighths / static_cast<double>(kEighths);
      const double lobes = kTaps / 2.0;
      line[tap] = std::abs(distance) < lobes ? sinc(distance) * sinc(distance / lobes) : 0;
      sum += line[tap];
    }
    for (int tap = 0; tap < kTaps; ++tap) {
      weights[eighths][tap] = static_cast<float>(line[tap] / sum);
    }
  }
  return weights;
}

}  // namespace limpid::recursive
