// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "cpu/bm3d/tile.h"
#include "tests/cpu/simd_level.h"

// Block matching of the CPU engine compared with a plain search, for every instruction set of this machine:
// equal groups in equal order for any content.

namespace limpid::cpu {
namespace {

enum class Content { kFlat, kStripes, kNoise, kFewValues, kRamp };

struct Case {
  int width = 0;
  int height = 0;
  Bm3dStep step;
  bool bytes = false;
  double sigma = 0;  // of the guide
  Content content = Content::kNoise;
};

std::vector<std::int16_t> make_samples(const Case& c, const MatchingScale& scale, std::mt19937& random) {
  const int greatest = c.bytes ? 127 : scale.limit;
  std::vector<std::int16_t> samples;
  for (int y = 0; y < c.height; ++y) {
    for (int x = 0; x < c.width; ++x) {
      int value = 5;
      if (c.content == Content::kStripes) {
        value = x / 3 % 2 * 100 - 50;
      } else if (c.content == Content::kNoise) {
        value = std::uniform_int_distribution<int>(-scale.limit, greatest)(random);
      } else if (c.content == Content::kFewValues) {
        value = std::uniform_int_distribution<int>(0, 2)(random);
      } else if (c.content == Content::kRamp) {
        value = (2 * x + y) / 8;
      }
      samples.push_back(static_cast<std::int16_t>(value));
    }
  }
  return samples;
}

std::vector<int> make_grid(int size, const Bm3dStep& step) {
  std::vector<int> grid;
  for (int i = 0; i < size - step.patch_size; i += step.spacing) {
    grid.push_back(i);
  }
  grid.push_back(size - step.patch_size);
  return grid;
}

std::vector<Position> plain_group(const StepJob& job, int x, int y) {
  const Bm3dStep& step = job.tables->step;
  const int k = step.patch_size;
  const int radius = step.search_window / 2;
  const auto sample = [&](int sx, int sy) { return std::int64_t{job.matching[sy * job.width + sx]}; };
  std::vector<std::tuple<std::int64_t, int, int>> candidates;
  for (int cy = std::max(0, y - radius); cy <= std::min(job.height - k, y + radius); ++cy) {
    for (int cx = std::max(0, x - radius); cx <= std::min(job.width - k, x + radius); ++cx) {
      std::int64_t distance = 0;
      for (int row = 0; row < k; ++row) {
        for (int column = 0; column < k; ++column) {
          const std::int64_t difference = sample(x + column, y + row) - sample(cx + column, cy + row);
          distance += difference * difference;
        }
      }
      const std::int64_t deviation = std::abs(distance - job.distances.expected);
      if ((cx != x || cy != y) && deviation <= job.distances.greatest) {
        candidates.emplace_back(deviation, cy, cx);
      }
    }
  }
  std::sort(candidates.begin(), candidates.end());
  candidates.resize(std::min(candidates.size(), static_cast<std::size_t>(step.max_group_size - 1)));
  std::vector<Position> group = {{x, y}};
  for (const auto& [distance, cy, cx] : candidates) {
    group.push_back({cx, cy});
  }
  return group;
}

void expect_plain_groups(const Case& c, std::mt19937& random) {
  const StepTables tables(c.step, 2.7F);
  StepJob job;
  job.tables = &tables;
  job.width = c.width;
  job.height = c.height;
  job.scale = matching_scale(c.bytes);
  job.distances = matching_distances(Matching::kStatistical, false, c.step, job.scale, c.sigma);
  const std::vector<std::int16_t> samples = make_samples(c, job.scale, random);
  job.matching = samples.data();
  job.grid_x = make_grid(c.width, c.step);
  job.grid_y = make_grid(c.height, c.step);
  TileScratch scratch;
  const auto groups = match_tile(
      job, {0, static_cast<int>(job.grid_x.size()), 0, static_cast<int>(job.grid_y.size())}, scratch);
  ASSERT_EQ(groups.size(), job.grid_x.size() * job.grid_y.size());
  std::size_t index = 0;
  for (const int y : job.grid_y) {
    for (const int x : job.grid_x) {
      const std::vector<Position>& group = groups[index++];
      if (index % 7 == 0) {  // the plain search is slow
        ASSERT_EQ(group, plain_group(job, x, y))
            << "reference " << x << "," << y << " of " << c.width << "x" << c.height << ", patch "
            << c.step.patch_size << ", spacing " << c.step.spacing << ", N " << c.step.max_group_size
            << ", window " << c.step.search_window << ", tau " << c.step.max_distance << ", sigma " << c.sigma
            << (c.bytes ? ", bytes" : "");
      }
    }
  }
}

class BlockMatching : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if ((compiled_simd_levels() & GetParam()) == 0) {
      GTEST_SKIP() << "this processor or this build lacks " << hwy::TargetName(GetParam());
    }
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(GetParam());
    ASSERT_STREQ(instruction_set(), hwy::TargetName(GetParam()));
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST_P(BlockMatching, FindsThePlainSearchsGroupsForRandomParameters) {
  std::mt19937 random(20261121);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 60; ++i) {
    Case c;
    c.step.patch_size = pick(0, 1) == 0 ? 8 : pick(2, 16);
    c.step.spacing = pick(1, c.step.patch_size);
    c.step.max_group_size = pick(1, 64);
    c.step.search_window = 2 * pick(0, 25) + 1;
    c.step.max_distance = pick(0, 2) == 0 ? 65025.0F : static_cast<float>(pick(0, 2000));
    c.width = c.step.patch_size + pick(0, 80);
    c.height = c.step.patch_size + pick(0, 40);
    c.bytes = pick(0, 1) == 0;
    c.sigma = pick(0, 1) == 0 ? 0 : pick(0, 60);
    c.content = static_cast<Content>(pick(0, 4));
    expect_plain_groups(c, random);
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, BlockMatching, kSimdLevels,
                         [](const auto& parameter) { return hwy::TargetName(parameter.param); });

}  // namespace
}  // namespace limpid::cpu

namespace limpid {
namespace {

TEST(MatchingDistances, NearestCandidatesAreOrderedByTheirDistanceUpToTau) {
  const Bm3dStep step{.patch_size = 8, .max_distance = 3000};
  const MatchingDistances distances =
      matching_distances(Matching::kNearest, false, step, matching_scale(true), 20);
  EXPECT_EQ(distances.expected, 0);
  EXPECT_EQ(distances.greatest, 3000 * 64);
}

TEST(MatchingDistances, ExpectedOnesFollowTheGuidesNoiseUpToHalfOfTau) {
  const Bm3dStep step{.patch_size = 8, .max_distance = 3000};
  const auto expected = [&](bool second_step, double sigma) {
    const MatchingDistances distances =
        matching_distances(Matching::kStatistical, second_step, step, matching_scale(false), sigma);
    EXPECT_EQ(distances.expected + distances.greatest, 3000 * 64 * 16);
    return distances.expected / (64.0 * 16.0);
  };
  // Smoothing leaves (38/64)^2 of the variance of white noise.
  EXPECT_NEAR(expected(false, 20), 0.9 * 2 * 400 * 38 * 38 / (64.0 * 64.0), 0.01);
  EXPECT_NEAR(expected(true, 20), 2 * 4, 0.01);
  EXPECT_NEAR(expected(true, 100), 2 * 2.5 * 2.5, 0.01);
  EXPECT_NEAR(expected(false, 100), 1500, 0.01);
  EXPECT_EQ(expected(false, 0), 0);
}

TEST(MatchingDistances, FitTheirTypeWhateverTheParameters) {
  const Bm3dStep step{.patch_size = 16, .max_distance = 65025};
  const MatchingDistances distances =
      matching_distances(Matching::kStatistical, false, step, matching_scale(false), 255);
  EXPECT_GT(distances.expected, 0);
  EXPECT_GT(distances.greatest, 0);
}

}  // namespace
}  // namespace limpid
