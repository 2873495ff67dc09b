// SPDX-License-Identifier: MIT
#include "core/bm3d/bm3d_parameters.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/parameters/parameter.h"

namespace limpid {
namespace {

using Description = FilterDescription<Bm3dParameters>;

constexpr Names<Profile, 4> kProfiles = {
    {{Profile::kFast, "fast"}, {Profile::kLc, "lc"}, {Profile::kNp, "np"}, {Profile::kHigh, "high"}}};
constexpr Names<Transform2d, 4> kTransforms2d = {{{Transform2d::kDct, "dct"},
                                                  {Transform2d::kBior15, "bior1.5"},
                                                  {Transform2d::kWalshHadamard, "walsh-hadamard"},
                                                  {Transform2d::kHaar, "haar"}}};
constexpr Names<Transform1d, 2> kTransforms1d = {
    {{Transform1d::kWalshHadamard, "walsh-hadamard"}, {Transform1d::kHaar, "haar"}}};

constexpr Names<Matching, 2> kMatchings = {
    {{Matching::kNearest, "nearest"}, {Matching::kStatistical, "statistical"}}};

Bm3dStep make_step(Transform2d transform, int spacing, int group_size, int search_window, float tau,
                   float beta) {
  return {.patch_size = 8,
          .spacing = spacing,
          .max_group_size = group_size,
          .search_window = search_window,
          .max_distance = tau,
          .kaiser_beta = beta,
          .transform_2d = transform,
          .transform_1d = Transform1d::kHaar};
}

// Describes the parameters of the step to which `step_of(parameters)` points (null if the step is left out).
// `suffix` ends the names of the options.
template <typename StepOf>
void describe_step(Description& description, const StepOf& step_of, const std::string& section,
                   const std::string& where, const std::string& suffix, const std::string& group) {
  const auto text = [&](const std::string& option, const std::string& name, const std::string& title,
                        const std::string& range, const std::string& help) {
    return ParameterText{option + suffix, section, name, where, title, range, help, group};
  };
  const auto member = [&](auto pointer) {
    return [=](auto& parameters) {
      auto* const step = step_of(parameters);
      return step == nullptr ? nullptr : &(step->*pointer);
    };
  };
  const auto number = [&](const ParameterText& each, auto pointer, const auto& legal) {
    description.parameters.push_back(number_parameter<Bm3dParameters>(each, member(pointer), legal));
  };
  number(text("patch-size", "patch_size", "a patch size", "2 to 16", "Side of a patch, in samples"),
         &Bm3dStep::patch_size, [](int side) { return side >= 2 && side <= 16; });
  number(
      text("step", "step", "a step", "1 to the patch size", "Distance between reference patches, in samples"),
      &Bm3dStep::spacing, [](int spacing) { return spacing >= 1 && spacing <= 16; });
  number(text("group-size", "group_size", "a group size", "1 to 64", "Maximum number of patches in a group"),
         &Bm3dStep::max_group_size, [](int size) { return size >= 1 && size <= 64; });
  number(text("search-window", "search_window", "a search window", "odd, 1 to 129",
              "Side of the search window, in samples"),
         &Bm3dStep::search_window, [](int side) { return side >= 1 && side <= 129 && side % 2 == 1; });
  number(text("tau", "tau", "a tau", "0 to 65025", "Largest mean squared difference of a match"),
         &Bm3dStep::max_distance, [](float tau) { return tau >= 0 && tau <= 65025; });
  number(text("kaiser-beta", "kaiser_beta", "a Kaiser beta", "0 to 8",
              "Shape of the Kaiser window of the aggregation; 0: flat"),
         &Bm3dStep::kaiser_beta, [](float beta) { return beta >= 0 && beta <= 8; });
  description.parameters.push_back(
      name_parameter<Bm3dParameters>(text("transform-2d", "transform_2d", "2D transform", "",
                                          "Transform of a patch: " + list_of(kTransforms2d)),
                                     member(&Bm3dStep::transform_2d), kTransforms2d));
  description.parameters.push_back(
      name_parameter<Bm3dParameters>(text("transform-1d", "transform_1d", "group transform", "",
                                          "Transform across a group: " + list_of(kTransforms1d)),
                                     member(&Bm3dStep::transform_1d), kTransforms1d));
}

void check_step(const Bm3dStep& step, const std::string& where) {
  const auto complain = [&](const char* title, int value, const char* range) {
    throw UsageError(where + ": " + title + " of " + std::to_string(value) + " is not possible (" + range +
                     ")");
  };
  if (step.transform_2d != Transform2d::kDct &&
      !std::has_single_bit(static_cast<unsigned>(step.patch_size))) {
    complain("a patch size", step.patch_size, "a power of two unless the 2D transform is the DCT");
  }
  if (step.spacing > step.patch_size) {
    complain("a step", step.spacing, "1 to the patch size");
  }
}

Description describe() {
  Description description;
  description.name = "bm3d";
  description.help = "BM3D: groups of similar patches of one frame; best for pictures";
  for (const auto& [profile, name] : kProfiles) {
    description.profiles.emplace_back(name);
  }
  description.default_profile = "np";
  description.make = [](const std::string& profile) { return bm3d_profile(parse_profile(profile)); };

  const auto text = [](const std::string& option, const std::string& title, const std::string& range,
                       const std::string& help) {
    return ParameterText{option, "", option, "bm3d", title, range, help, "General"};
  };
  description.parameters = {
      steps_parameter("bm3d", "Number of steps: 1 (hard thresholding) or 2 (then Wiener filtering)",
                      &Bm3dParameters::wiener),
      name_parameter<Bm3dParameters>(
          text("matching", "matching", "",
               "Choice of patches: nearest (as in the paper; experimental) or statistical (most likely to "
               "differ by "
               "noise alone)"),
          [](auto& parameters) { return &parameters.matching; }, kMatchings)};
  const std::string first_group = "Step 1, hard thresholding";
  describe_step(
      description, [](auto& parameters) { return &parameters.hard_threshold; }, "hard_threshold",
      "first step", "", first_group);
  description.parameters.push_back(number_parameter<Bm3dParameters>(
      ParameterText{"lambda", "", "lambda", "first step", "a lambda", "over 0, at most 100",
                    "Threshold of the coefficients, as a multiple of sigma", first_group},
      [](auto& parameters) { return &parameters.lambda; },
      [](float lambda) { return lambda > 0 && lambda <= 100; }));
  describe_step(
      description, [](auto& parameters) { return parameters.wiener ? &*parameters.wiener : nullptr; },
      "wiener", "second step", "-2", "Step 2, Wiener filtering");
  description.check_together = [](const Bm3dParameters& parameters) {
    check_step(parameters.hard_threshold, "first step");
    if (parameters.wiener) {
      check_step(*parameters.wiener, "second step");
    }
  };
  return description;
}

}  // namespace

const Description& Bm3dParameters::description() {
  static const Description all = describe();
  return all;
}

void Bm3dParameters::validate() const { check_parameters(description(), *this); }

// Steps, groups, windows and transforms are those of Dabov et al. 2007, Table I, and of its authors' later
// software. Bior1.5 in the first step gains 0.1 dB over DCT and Walsh-Hadamard on the images of the
// literature, Haar 0.04 dB. Tau and lambda have the greatest PSNR on fourteen pictures at sigma 5 to 75, with
// plain noise and with noise clipped to 8 bits. Taus above the distance that strong noise causes
// (core/bm3d/bm3d_parameters.h) gain up to 0.1 dB at weak noise and 1 dB at sigma 75, so one tau serves all
// levels.
Bm3dParameters bm3d_profile(Profile profile) {
  constexpr Transform2d kFirst = Transform2d::kBior15;
  constexpr Transform2d kSecond = Transform2d::kDct;
  switch (profile) {
    case Profile::kFast:
      return {make_step(kFirst, 8, 8, 19, 20000, 2), 2.8F, make_step(kSecond, 7, 8, 19, 1500, 2)};
    case Profile::kLc:
      return {make_step(kFirst, 6, 16, 25, 20000, 2), 2.7F, make_step(kSecond, 5, 16, 25, 1500, 2)};
    case Profile::kNp:
      return {make_step(kFirst, 3, 16, 39, 10000, 2), 2.65F, make_step(kSecond, 3, 32, 39, 800, 2)};
    case Profile::kHigh:
      return {make_step(kFirst, 2, 16, 39, 10000, 2), 2.57F, make_step(kSecond, 2, 32, 39, 800, 2)};
  }
  return {};
}

std::string_view to_string(Profile profile) { return name_of(profile, "profile", kProfiles); }
std::string_view to_string(Transform2d transform) {
  return name_of(transform, "2D transform", kTransforms2d);
}
std::string_view to_string(Transform1d transform) {
  return name_of(transform, "group transform", kTransforms1d);
}
std::string_view to_string(Matching matching) { return name_of(matching, "matching", kMatchings); }

Profile parse_profile(std::string_view name) { return value_of(name, "profile", kProfiles); }

MatchingScale matching_scale(bool whole_code_values) {
  return whole_code_values ? MatchingScale{true, 1, 128} : MatchingScale{false, 4, 1023};
}

MatchingDistances matching_distances(Matching matching, bool second_step, const Bm3dStep& step,
                                     const MatchingScale& scale, double guide_sigma) {
  // The share of white noise's variance that the kernel leaves.
  constexpr double kSide = static_cast<double>(kGuideKernelSide) / kGuideKernelSum;
  constexpr double kCenter = static_cast<double>(kGuideKernelCenter) / kGuideKernelSum;
  constexpr double kEnergy = 2 * kSide * kSide + kCenter * kCenter;
  constexpr double kFirstStep = 0.9 * 2 * kEnergy * kEnergy;
  // The noise that remains in the basic estimate: a tenth of the noise level, and at most 2.5 because
  // clipping weakens strong noise in dark and bright areas.
  constexpr double kResidual = 0.1;
  constexpr double kStrongNoise = 25;

  const auto tau = static_cast<double>(step.max_distance);
  const double residual = kResidual * std::min(guide_sigma, kStrongNoise);
  const double noise = matching == Matching::kNearest ? 0
                       : second_step                  ? 2 * residual * residual
                                                      : kFirstStep * guide_sigma * guide_sigma;
  const double unit = static_cast<double>(step.patch_size) * step.patch_size * scale.scale * scale.scale;
  constexpr double kMost = std::numeric_limits<std::int32_t>::max() - 1;
  const double limit = std::min(std::floor(tau * unit), kMost);
  const double expected = std::floor(std::min(noise * unit, limit / 2));
  return {static_cast<std::int32_t>(expected), static_cast<std::int32_t>(limit - expected)};
}

}  // namespace limpid
