// SPDX-License-Identifier: MIT
#include "app/commands/quality_ladder.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace limpid::app {
namespace {

// Relative times per frame.
struct Cost {
  double on_gpu;
  double on_processors;

  double of(const LadderUse& use) const { return use.on_processors ? on_processors : on_gpu; }
};

struct Quality {
  std::string_view filter;
  std::string_view profile;
  Cost cost;
};

constexpr std::array<Quality, 7> kQualities = {{{"bilateral", "", {0.3, 0.33}},
                                                {"recursive", "fast", {1, 1}},
                                                {"recursive", "np", {1.5, 1.5}},
                                                {"vbm4d", "fast", {2, 7}},
                                                {"vbm4d", "lc", {3, 10}},
                                                {"vbm4d", "np", {5, 30}},
                                                {"vbm4d", "high", {17, 100}}}};
constexpr Cost kCostOfVnlb = {40, 150};

// The place of settings in the list; its size if they are better than all of it.
std::size_t place_of(const PlayerSettings& settings) {
  const auto place = std::ranges::find_if(kQualities, [&](const Quality& quality) {
    return quality.filter == settings.filter.name && quality.profile == settings.filter.profile;
  });
  return static_cast<std::size_t>(place - kQualities.begin());
}

}  // namespace

Filter filter_of(const PlayerSettings& settings, int delay) {
  return settings.looks_ahead ? offline_filter(settings) : live_filter(settings, delay);
}

QualityLadder make_ladder(const PlayerSettings& settings, const LadderUse& use) {
  const auto rung = [&](const PlayerSettings& of, double cost) {
    return QualityRung{.settings = of, .cost = cost, .reach = reach_of(filter_of(of, use.delay))};
  };
  const bool has_quicker = settings.filter.name == "vbm4d" || settings.filter.name == "vnlb";
  if (!settings.keeps_pace || !has_quicker) {
    return {.rungs = {rung(settings, 1)}, .first = 0};
  }
  QualityLadder ladder;
  const std::size_t last = place_of(settings);
  for (std::size_t i = 0; i < last; ++i) {
    const Quality& quality = kQualities[i];
    if (quality.profile == "lc" || (quality.filter == "recursive" && !use.unbounded)) {
      continue;  // hardly better than the rung before
    }
    PlayerSettings of = settings;
    of.filter.name = quality.filter;
    of.filter.profile = quality.profile;
    of.looks_ahead = !use.live && quality.filter == "vbm4d";
    ladder.rungs.push_back(rung(of, quality.cost.of(use)));
  }
  PlayerSettings best = settings;
  best.looks_ahead = !use.live;
  ladder.rungs.push_back(
      rung(best, (last < kQualities.size() ? kQualities[last].cost : kCostOfVnlb).of(use)));
  // bilateral, recursive fast, recursive np: a GPU does the last one in any case.
  ladder.first = !use.unbounded ? 0 : use.on_processors ? 1 : 2;
  return ladder;
}

}  // namespace limpid::app
