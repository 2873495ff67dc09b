// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "core/filter/filter.h"

namespace limpid {

/// Filters with one illegal parameter each, and the parameter's name in messages: every parameter below and
/// above its range, far outside it, and NaN.
struct IllegalFilter {
  std::string named;
  Filter filter;
};

inline std::vector<IllegalFilter> illegal_filters() {
  std::vector<IllegalFilter> all;
  constexpr int kLeast = std::numeric_limits<int>::min();
  constexpr int kMost = std::numeric_limits<int>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto spoil = [&](const auto& legal, const std::string& named, const auto& field, const auto& values) {
    for (const auto value : values) {
      auto parameters = legal;
      field(parameters) = value;
      all.push_back({named, parameters});
    }
  };
  const auto integer = [&](const auto& legal, const char* named, const auto& field, std::vector<int> values) {
    values.insert(values.end(), {kLeast, -1, kMost - 1, kMost});
    spoil(legal, named, field, values);
  };
  const auto number = [&](const auto& legal, const char* named, const auto& field,
                          std::vector<float> values) {
    values.insert(values.end(), {-1, -kInfinity, kInfinity, std::numeric_limits<float>::quiet_NaN()});
    spoil(legal, named, field, values);
  };
  const auto choice = [&](const auto& legal, const char* named, const auto& field) {
    auto parameters = legal;
    using Choice = std::decay_t<decltype(field(parameters))>;
    spoil(legal, named, field, std::vector{static_cast<Choice>(100), static_cast<Choice>(255)});
  };

  const Bm3dParameters bm3d = bm3d_profile(Profile::kNp);
  for (const bool second : {false, true}) {
    const auto of_step = [second](auto member) {
      return [=](Bm3dParameters & parameters) -> auto& {
        Bm3dStep& step = second ? *parameters.wiener : parameters.hard_threshold;
        return step.*member;
      };
    };
    integer(bm3d, "patch size", of_step(&Bm3dStep::patch_size), {0, 1, 17});
    Bm3dParameters haar = bm3d;
    of_step (&Bm3dStep::transform_2d)(haar) = Transform2d::kHaar;
    spoil(haar, "patch size", of_step(&Bm3dStep::patch_size), std::vector{7, 12});
    integer(bm3d, "step", of_step(&Bm3dStep::spacing), {0, 9});
    integer(bm3d, "group size", of_step(&Bm3dStep::max_group_size), {0, 65});
    integer(bm3d, "search window", of_step(&Bm3dStep::search_window), {0, 20, 130, 131});
    number(bm3d, "tau", of_step(&Bm3dStep::max_distance), {65026});
    number(bm3d, "beta", of_step(&Bm3dStep::kaiser_beta), {8.1F});
    choice(bm3d, "2D transform", of_step(&Bm3dStep::transform_2d));
    choice(bm3d, "group transform", of_step(&Bm3dStep::transform_1d));
  }
  number(bm3d, "lambda", [](Bm3dParameters & p) -> auto& { return p.lambda; }, {0, 100.1F});
  choice(
      bm3d, "matching", [](Bm3dParameters & p) -> auto& { return p.matching; });

  const VnlbParameters vnlb;
  for (const bool second : {false, true}) {
    const auto of_step = [second](auto member) {
      return [=](VnlbParameters & parameters) -> auto& {
        VnlbStep& step = second ? *parameters.second : parameters.first;
        return step.*member;
      };
    };
    integer(vnlb, "step", of_step(&VnlbStep::spacing), {0, 9});
    integer(vnlb, "group size", of_step(&VnlbStep::group_size), {0, 1, 65});
    integer(vnlb, "search window", of_step(&VnlbStep::search_window), {0, 4, 35});
    integer(vnlb, "search window", of_step(&VnlbStep::temporal_search_window), {0, 4, 35});
    number(vnlb, "trajectory threshold", of_step(&VnlbStep::trajectory_threshold), {0, 1001});
  }
  integer(vnlb, "reach", [](auto& p) -> auto& { return p.before; }, {8});
  integer(vnlb, "reach", [](auto& p) -> auto& { return p.after; }, {8});

  const RecursiveParameters recursive;
  integer(recursive, "step", [](auto& p) -> auto& { return p.spacing; }, {0, 9});
  integer(recursive, "step", [](auto& p) -> auto& { return p.second_spacing; }, {0, 9});
  integer(recursive, "motion searches", [](auto& p) -> auto& { return p.motion_searches; }, {0, 3});
  number(recursive, "lambda", [](auto& p) -> auto& { return p.lambda; }, {0, 101});

  const auto bilateral = [&](const auto& legal) {
    integer(legal, "radius", [](auto& p) -> auto& { return p.radius; }, {0, 65});
    number(legal, "spatial sigma", [](auto& p) -> auto& { return p.spatial_sigma; }, {0, 0.09F, 1001});
    number(legal, "range sigma", [](auto& p) -> auto& { return p.range_sigma; }, {0, 0.009F, 1001});
  };
  bilateral(BilateralParameters());
  bilateral(AdaptiveBilateralParameters());
  const AdaptiveBilateralParameters adaptive;
  number(adaptive, "kappa", [](auto& p) -> auto& { return p.kappa; }, {0, 0.009F, 101});
  number(adaptive, "epsilon", [](auto& p) -> auto& { return p.epsilon; }, {0, 10001});

  const NlmParameters nlm;
  integer(nlm, "patch size", [](auto& p) -> auto& { return p.patch_size; }, {0, 4, 22, 23});
  integer(nlm, "search window", [](auto& p) -> auto& { return p.search_window; }, {0, 2, 258, 259});
  number(nlm, "an h", [](auto& p) -> auto& { return p.h; }, {0, 0.009F, 1001});

  const NlmBilateralParameters nlm_bilateral;
  integer(nlm_bilateral, "patch size", [](auto& p) -> auto& { return p.patch_size; }, {0, 4, 22, 23});
  integer(nlm_bilateral, "search window", [](auto& p) -> auto& { return p.search_window; }, {2, 258, 259});
  number(nlm_bilateral, "patch sigma", [](auto& p) -> auto& { return p.patch_sigma; }, {0, 1001});
  number(nlm_bilateral, "range sigma", [](auto& p) -> auto& { return p.range_sigma; }, {0, 1001});
  number(nlm_bilateral, "spatial sigma", [](auto& p) -> auto& { return p.spatial_sigma; }, {0, 1001});
  return all;
}

}  // namespace limpid
