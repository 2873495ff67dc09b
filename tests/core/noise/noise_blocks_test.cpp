// SPDX-License-Identifier: MIT
#include "core/noise/noise_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "core/noise/clipping.h"

namespace limpid::noise {
namespace {

BlockSamples random_block(unsigned seed) {
  std::mt19937 generator(seed);
  BlockSamples samples;
  for (auto& row : samples) {
    for (float& sample : row) {
      sample = static_cast<float>(generator() % 256);
    }
  }
  return samples;
}

TEST(NoiseBlocks, AnalyzeAgreesWithAPlainDct) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const BlockSamples samples = random_block(seed);
    double texture = 0;
    std::vector<double> spectrum;
    for (int v = 0; v < kBlock; ++v) {
      for (int u = 0; u < kBlock; ++u) {
        double sum = 0;
        for (int y = 0; y < kBlock; ++y) {
          for (int x = 0; x < kBlock; ++x) {
            // The spectrum is the transpose of the block's.
            sum += double{samples[y][x]} * std::cos((2 * y + 1) * u * std::numbers::pi / 16) *
                   std::cos((2 * x + 1) * v * std::numbers::pi / 16);
          }
        }
        const double energy = sum * sum * (u == 0 ? 0.125 : 0.25) * (v == 0 ? 0.125 : 0.25);
        if (u + v > kHighestTextureFrequency) {
          spectrum.push_back(energy);
        } else if (u + v > 0) {
          texture += energy;
        }
      }
    }
    double mean = 0;
    float least = samples[0][0];
    float greatest = samples[0][0];
    for (const auto& row : samples) {
      for (const float sample : row) {
        mean += double{sample} / 64;
        least = std::min(least, sample);
        greatest = std::max(greatest, sample);
      }
    }
    const Block block = analyze(samples, half_dct_matrix());
    EXPECT_NEAR(double{block.mean}, mean, 1e-4);
    EXPECT_NEAR(double{block.texture}, texture, 1e-5 * texture);
    EXPECT_EQ(block.least, least);
    EXPECT_EQ(block.greatest, greatest);
    EXPECT_FALSE(block.is_constant());
    ASSERT_EQ(spectrum.size(), block.spectrum.size());
    double noise = 0;
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      EXPECT_NEAR(double{block.spectrum[i]}, spectrum[i], 1e-5 * spectrum[i] + 0.05) << i;
      noise += spectrum[i];
    }
    EXPECT_NEAR(double{block.noise}, noise, 1e-5 * noise);
  }
}

TEST(NoiseBlocks, ABlocksOwnNoiseIsNotItsTexture) {
  EXPECT_NEAR(texture_with_neighbors(100, 20, {10, 20, 30, 40}), 100 + 0.3 * (10 + 30 + 40), 1e-4);
}

TEST(NoiseBlocks, CellsFillThePlaneWithoutBeingTooMany) {
  for (const auto& [width, height] : {std::pair{16, 16}, {17, 40}, {512, 512}, {1920, 1080}, {7680, 4320}}) {
    const BlockGrid grid = cell_grid(width, height);
    EXPECT_GT(grid.blocks(), 0);
    EXPECT_LE(grid.blocks(), kMaxBlocks);
    const auto left_over = [&](int side, int count) { return side - kCell - (count - 1) * grid.spacing; };
    for (const int left : {left_over(width, grid.columns), left_over(height, grid.rows)}) {
      EXPECT_GE(left, 0);
      EXPECT_LT(left, grid.spacing);
    }
  }
  EXPECT_EQ(cell_grid(15, 300).blocks(), 0);
  EXPECT_EQ(cell_grid(300, 15).blocks(), 0);
}

TEST(NoiseBlocks, SharesGrowToAllOfTheBlocks) {
  for (const int blocks : {0, 1, 7, 8, 9, 100, 3200, 3201, 16384}) {
    std::vector<int> sizes;
    Shares shares(blocks);
    while (const int size = shares.next()) {
      sizes.push_back(size);
    }
    EXPECT_EQ(shares.next(), 0);
    // Every count from the first on is tried; counts that exceed the growing bound are expected.
    std::vector<int> expected;
    double next = std::max(8.0, blocks / 400.0);
    for (int n = 1; n <= blocks; ++n) {
      if (n >= next || n == blocks) {
        expected.push_back(n);
        next *= 1.15;
      }
    }
    EXPECT_EQ(sizes, expected) << blocks;
  }
}

TEST(NoiseBlocks, GainsAreThoseOfClippedNoise) {
  const Censoring censoring;
  for (const double sigma : {5.0, 20.0}) {
    for (const double level : {-10.0, 0.0, 3.0, 20.0, 128.0, 250.0}) {
      // Moments of the noise clipped at the ends of the range, by plain summation.
      double mean = 0;
      double square = 0;
      constexpr double kStep = 1e-3;
      for (double x = -8; x < 8; x += kStep) {
        const double value = std::clamp(level + sigma * x, 0.0, 255.0);
        const double weight = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi) * kStep;
        mean += weight * value;
        square += weight * value * value;
      }
      const auto gain_at = [&](double remaining_mean) {
        return double{censoring.gain(static_cast<float>(remaining_mean), static_cast<float>(sigma), 255)};
      };
      // Means below that of a plane at the very end get that plane's variance.
      const double expected = level < 0 ? gain_at(0) : (square - mean * mean) / (sigma * sigma);
      EXPECT_NEAR(gain_at(mean), expected, 0.02) << "sigma " << sigma << " at " << level;
    }
  }
  EXPECT_EQ(censoring.gain(0, 0, 255), 1);
}

}  // namespace
}  // namespace limpid::noise
