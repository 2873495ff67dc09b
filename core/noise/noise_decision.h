// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/noise/noise_features.h"

// The choice of a channel's noise level from its features. A forest of decision trees, fitted to clips with
// known noise, predicts the loss in dB of the filter's result for each of several candidate levels; the level
// with the least loss is chosen. bench/support/noise_zoo fits the trees and writes
// noise_forests.cpp. Sums of losses are integers.

namespace limpid::noise {

/// The measurements that candidate levels are relative to.
enum class Anchor : std::uint8_t {
  kBase,      ///< ChannelNoise::base
  kLowest,    ///< Feature::kLowestLevel
  kWhite,     ///< Feature::kWhite
  kFlattest,  ///< Feature::kFlattest
  kUnit,      ///< one code value: a codec can remove noise from all measurements
};

/// The level of the anchor times 2^(thirds / 3). Candidates of one anchor are adjacent, in ascending order.
struct Candidate {
  Anchor anchor;
  std::int8_t thirds;
};

/// Features up to the threshold lead to `below`, others to `above`: the number of a node or, if negative, the
/// complement of the number of a leaf.
struct ForestNode {
  std::uint8_t feature;
  std::int16_t threshold;
  std::int16_t below;
  std::int16_t above;
};

/// Each leaf has one letter for the loss without filtering, then one letter for the loss of each candidate.
struct Forest {
  std::span<const ForestNode> nodes;
  std::span<const std::int16_t> roots;  ///< nodes
  std::span<const std::string_view> leaves;
  std::span<const Candidate> candidates;
};

/// The digits, the letters A to W, and a to s stand for n from 0 to 51, and for losses of n^2 units.
constexpr int number_of_letter(char letter) {
  return letter <= '9' ? letter - '0' : letter <= 'W' ? letter - 'A' + 10 : letter - 'a' + 33;
}
inline constexpr double kLossUnit = 16.0 / (51 * 51);  ///< in dB

/// The forests for luma (also gray, and the opponent channel Y) with differences of frames, for luma of
/// single frames, and for the other channels.
struct Forests {
  Forest luma;
  Forest single_luma;
  Forest chroma;
};
const Forests& forests();

struct NoiseDecision {
  double sigma = 0;  ///< standard deviation in 8-bit code values; 0: no noise
  double loss = 0;   ///< expected loss against the best level, in dB
};

/// The decision for a channel with these features, which are those of `noise`.
NoiseDecision decide_noise(const Features& features, const ChannelNoise& noise);

}  // namespace limpid::noise
