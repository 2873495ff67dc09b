// SPDX-License-Identifier: MIT
// The oracle is the reference for the engines; it is tested with cases of known results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "tests/oracle/bm3d.h"
#include "tests/oracle/pictures.h"

namespace limpid::oracle {
namespace {

Picture random_picture(int width, int height) {
  const Frame black = allocate_frame(gray(width, height));
  for (int y = 0; y < height; ++y) {
    std::fill_n(black.planes[0].row<std::uint8_t>(y), width, std::uint8_t{128});
  }
  return to_picture(add_noise(black, 30, 1), 0);
}

TEST(OracleGroups, ReferencesLieOnTheGridAndOnTheLastRowAndColumn) {
  const Bm3dStep step{.patch_size = 4, .spacing = 3, .max_group_size = 1};
  std::set<std::pair<int, int>> references;
  for (const Group& group : find_groups(random_picture(12, 10), step)) {
    ASSERT_EQ(group.size(), 1U);
    references.emplace(group[0].x, group[0].y);
  }
  std::set<std::pair<int, int>> expected;
  for (const int y : {0, 3, 6}) {
    for (const int x : {0, 3, 6, 8}) {
      expected.emplace(x, y);
    }
  }
  EXPECT_EQ(references, expected);
}

TEST(OracleGroups, TiesAreBrokenByRowThenColumnAfterTheReference) {
  const Picture flat{6, 6, std::vector<double>(36, 50.0)};
  const Bm3dStep step{.patch_size = 4, .spacing = 2, .max_group_size = 4, .search_window = 5};
  const std::vector<Group> groups = find_groups(flat, step);
  ASSERT_EQ(groups.size(), 4U);
  const Group& last = groups.back();
  ASSERT_EQ(last.size(), 4U);
  const int expected[4][2] = {{2, 2}, {0, 0}, {1, 0}, {2, 0}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(last[i].x, expected[i][0]) << i;
    EXPECT_EQ(last[i].y, expected[i][1]) << i;
  }
}

TEST(OracleGroups, MatchesAreWithinTauAndRoundedDownToAPowerOfTwo) {
  // Columns 0, 0, 0, 9: from x = 0 the patches of 2x2 at x = 0 and 1 are equal, the one at 2 differs by
  // (81 + 81) / 4 = 40.5.
  const Picture picture{4, 2, {0, 0, 0, 9, 0, 0, 0, 9}};
  Bm3dStep step{
      .patch_size = 2, .spacing = 2, .max_group_size = 16, .search_window = 7, .max_distance = 40.5F};
  step.transform_2d = Transform2d::kHaar;
  EXPECT_EQ(find_groups(picture, step)[0].size(), 2U);
  step.max_group_size = 3;
  EXPECT_EQ(find_groups(picture, step)[0].size(), 2U);
  step.max_group_size = 1;
  EXPECT_EQ(find_groups(picture, step)[0].size(), 1U);
  step.max_group_size = 16;
  step.max_distance = 40;
  EXPECT_EQ(find_groups(picture, step)[1].size(), 1U);
  step.max_distance = 40.5F;
  EXPECT_EQ(find_groups(picture, step)[1].size(), 2U);
}

TEST(OracleSteps, ThresholdOfNothingKeepsThePicture) {
  const Picture picture = random_picture(20, 17);
  for (const auto transform :
       {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard, Transform2d::kHaar}) {
    const Bm3dStep step{.transform_2d = transform, .transform_1d = Transform1d::kHaar};
    const Picture result = hard_threshold(picture, find_groups(picture, step), step, 1e-12, {1, {}});
    for (std::size_t i = 0; i < picture.samples.size(); ++i) {
      ASSERT_NEAR(result.samples[i], picture.samples[i], 1e-9);
    }
  }
}

TEST(OracleSteps, ThresholdOfEverythingLeavesTheMeanOfEachGroup) {
  const Picture picture = random_picture(8, 8);
  const Bm3dStep step;
  const Picture result = hard_threshold(picture, find_groups(picture, step), step, 100, {1e6F, {}});
  double mean = 0;
  for (const double sample : picture.samples) {
    mean += sample / 64;
  }
  for (const double sample : result.samples) {
    ASSERT_NEAR(sample, mean, 1e-9);
  }
}

TEST(OracleSteps, WienerGainIsOneHalfWhereSignalAndNoiseAreEqual) {
  // A single patch whose only coefficient is the DC, 8 x 10 = 80.
  const Picture flat{8, 8, std::vector<double>(64, 10.0)};
  const Bm3dStep step;
  const Picture result = wiener(flat, flat, find_groups(flat, step), step, {80, {}});
  for (const double sample : result.samples) {
    ASSERT_NEAR(sample, 5, 1e-9);
  }
}

TEST(OracleDenoise, EachStepGainsOnANoisyPicture) {
  const FrameFormat format = as_float(gray(64, 48));
  const Frame clean = draw_picture(format);
  const Frame noisy = add_noise(clean, 20, 7);
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  const double both = compare(clean, denoise(noisy, parameters, {{20, 20, 20}})).psnr;
  parameters.wiener.reset();
  const double first = compare(clean, denoise(noisy, parameters, {{20, 20, 20}})).psnr;
  const double before = compare(clean, noisy).psnr;
  EXPECT_NEAR(before, 22.1, 0.4);
  EXPECT_GT(first, before + 6);
  EXPECT_GT(both, first + 0.2);
}

TEST(OracleDenoise, PlanesWithoutNoiseKeepTheirBits) {
  const Frame noisy = add_noise(draw_picture(yuv(24, 20, 1, 1)), 20, 3);
  EXPECT_TRUE(same_bits(noisy, denoise(noisy, bm3d_profile(Profile::kNp), {{0, 0, 0}})));
}

TEST(Agreement, CountsWhatDiffers) {
  const Frame a = allocate_frame(gray(4, 1));
  const Frame b = allocate_frame(gray(4, 1));
  const std::uint8_t first[4] = {10, 10, 10, 10};
  const std::uint8_t second[4] = {10, 11, 12, 5};
  std::copy_n(first, 4, a.planes[0].row<std::uint8_t>(0));
  std::copy_n(second, 4, b.planes[0].row<std::uint8_t>(0));
  const Agreement agreement = compare(a, b);
  EXPECT_EQ(agreement.samples, 4U);
  EXPECT_EQ(agreement.over_one, 2U);
  EXPECT_EQ(agreement.greatest, 5);
  EXPECT_NEAR(agreement.psnr, 10 * std::log10(255.0 * 255.0 / 7.5), 1e-9);
  EXPECT_FALSE(same_bits(a, b));
  EXPECT_EQ(compare(a, a).psnr, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(same_bits(a, a));
}

}  // namespace
}  // namespace limpid::oracle
