// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/noise/noise_features.h"

namespace limpid::noise {
namespace {

std::vector<const Forest*> all_forests() {
  return {&forests().luma, &forests().single_luma, &forests().chroma};
}

TEST(NoiseDecision, TreesLeadFromEachRootToLeaves) {
  for (const Forest* forest : all_forests()) {
    ASSERT_FALSE(forest->roots.empty());
    const auto nodes = static_cast<int>(forest->nodes.size());
    const auto leaves = static_cast<int>(forest->leaves.size());
    for (int i = 0; i < nodes; ++i) {
      const ForestNode& node = forest->nodes[i];
      EXPECT_LT(node.feature, kFeatures);
      for (const int child : {int{node.below}, int{node.above}}) {
        EXPECT_GT(child >= 0 ? child : i + 1, i) << "a tree has no cycle";
        EXPECT_LT(child, nodes);
        EXPECT_LT(child < 0 ? ~child : 0, leaves);
      }
    }
    for (const std::string_view leaf : forest->leaves) {
      EXPECT_EQ(leaf.size(), forest->candidates.size() + 1);
      for (const char letter : leaf) {
        EXPECT_GE(number_of_letter(letter), 0);
        EXPECT_LE(number_of_letter(letter), 51);
      }
    }
  }
}

TEST(NoiseDecision, CandidatesOfAnAnchorAreInOrder) {
  for (const Forest& forest : {forests().luma, forests().single_luma, forests().chroma}) {
    for (std::size_t i = 1; i < forest.candidates.size(); ++i) {
      if (forest.candidates[i].anchor == forest.candidates[i - 1].anchor) {
        EXPECT_EQ(forest.candidates[i].thirds, forest.candidates[i - 1].thirds + 1);
      }
    }
  }
}

TEST(NoiseDecision, NoMeasurementIsNoNoise) {
  Features features;
  features.fill(kUnknown);
  EXPECT_EQ(decide_noise(features, {}).sigma, 0);
}

// Luma of a clip with noise of sigma 8 behind x264 at CRF 28: no noise has the least expected loss, which is
// high.
TEST(NoiseDecision, UnevenNoiseIsFilteredWhereMuchWouldBeLeft) {
  const Features features = {-110, -110, 32,  114, -179, 7,  -13,  268, -104, 36, 64, 144,
                             -103, -110, -26, 30,  40,   0,  62,   63,  4,    29, 41, 15,
                             -6,   19,   141, 74,  13,   17, -274, 54,  92,   8,  10};
  ChannelNoise noise;
  noise.base = 0.3;
  noise.differences.emplace().spectrum.fill(0.1);
  noise.differences->reliability = 0;
  EXPECT_NEAR(decide_noise(features, noise).sigma, 2.4, 0.1);
  noise.differences->reliability = 0.2;
  EXPECT_EQ(decide_noise(features, noise).sigma, 0);
}

// Film grain and cameras' noise behind x264: unreliable differences, smooth noise.
TEST(NoiseDecision, SmoothNoiseOfLumaKeepsItsSpectrumUnlessBlocksOfACodecShow) {
  ChannelNoise noise;
  noise.differences.emplace().reliability = 0.5;
  const auto with_slope = [&](double slope) {
    for (int i = 0; i < 64; ++i) {
      noise.differences->spectrum[i] = 16 * std::pow(slope, (i / 8 + i % 8) / 4.0);
    }
  };
  with_slope(0.3);
  const PlaneNoise smooth = shaped_noise(noise, 4, false);
  EXPECT_GT(smooth.shape.spectrum.front(), 10 * smooth.shape.spectrum.back());
  EXPECT_EQ(smooth.shape.curve, NoiseShape().curve);
  EXPECT_EQ(shaped_noise(noise, 4, true).shape, NoiseShape());
  with_slope(0.7);
  EXPECT_EQ(shaped_noise(noise, 4, false).shape, NoiseShape());
}

}  // namespace
}  // namespace limpid::noise
