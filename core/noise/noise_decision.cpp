// SPDX-License-Identifier: MIT
#include "core/noise/noise_decision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace limpid::noise {
namespace {

/// Sums over the trees: of no noise, then of the candidates.
using Losses = std::vector<std::int32_t>;

Losses losses_of(const Forest& forest, const Features& features) {
  Losses losses(forest.candidates.size() + 1);
  for (const std::int16_t root : forest.roots) {
    std::int16_t at = root;
    while (at >= 0) {
      const ForestNode& node = forest.nodes[at];
      at = features[node.feature] <= node.threshold ? node.below : node.above;
    }
    const std::string_view leaf = forest.leaves[~at];
    std::transform(losses.begin(), losses.end(), leaf.begin(), losses.begin(),
                   [](std::int32_t sum, char letter) {
                     const std::int32_t root_of_loss = number_of_letter(letter);
                     return sum + root_of_loss * root_of_loss;
                   });
  }
  return losses;
}

/// The logarithm of an anchor's level relative to the base; nothing if it was not measured.
std::optional<double> anchor_of(Anchor anchor, const Features& features, double base) {
  const auto level = [&](Feature feature) -> std::optional<double> {
    const std::int16_t value = features[static_cast<int>(feature)];
    return value == kUnknown ? std::nullopt : std::optional(value * kFeatureUnit);
  };
  switch (anchor) {
    case Anchor::kLowest:
      return level(Feature::kLowestLevel);
    case Anchor::kWhite:
      return level(Feature::kWhite);
    case Anchor::kFlattest:
      return level(Feature::kFlattest);
    case Anchor::kUnit:
      return -std::log2(base);
    case Anchor::kBase:
      break;
  }
  return 0;
}

/// The vertex of the parabola through the losses of candidate `i` and its neighbors, in steps from `i`.
double vertex(std::span<const Candidate> all, const Losses& losses, std::size_t i) {
  const bool first = i == 0 || all[i - 1].anchor != all[i].anchor;
  const bool last = i + 1 == all.size() || all[i + 1].anchor != all[i].anchor;
  if (first || last) {
    return 0;
  }
  const double below = losses[i];
  const double own = losses[i + 1];
  const double above = losses[i + 2];
  const double bend = below - 2 * own + above;
  return bend > 0 ? std::clamp((below - above) / (2 * bend), -0.5, 0.5) : 0;
}

}  // namespace

NoiseDecision decide_noise(const Features& features, const ChannelNoise& noise) {
  if (!noise.differences && !noise.single) {
    return {};  // nothing was measured
  }
  const Forest& forest = noise.kind != ChannelKind::kLuma ? forests().chroma
                         : noise.differences              ? forests().luma
                                                          : forests().single_luma;
  const Losses losses = losses_of(forest, features);
  std::size_t best = 0;
  for (std::size_t i = 0; i < forest.candidates.size(); ++i) {
    if (anchor_of(forest.candidates[i].anchor, features, noise.base) && losses[i + 1] < losses[best]) {
      best = i + 1;
    }
  }
  NoiseDecision decision;
  decision.loss = losses[best] * kLossUnit / static_cast<double>(forest.roots.size());
  if (best > 0) {
    const Candidate& chosen = forest.candidates[best - 1];
    const double octaves = *anchor_of(chosen.anchor, features, noise.base) +
                           (chosen.thirds + vertex(forest.candidates, losses, best - 1)) / 3;
    decision.sigma = noise.base * std::exp2(octaves);
  }
  return decision;
}

}  // namespace limpid::noise
