// SPDX-License-Identifier: MIT
// The plan that both engines execute, compared with values computed by hand.
#include "core/bm3d/bm3d_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

constexpr float kLumaSigma = 12;

Bm3dPlan plan_of(const FrameFormat& format, const NoiseModel& noise, const PictureRows& rows = {},
                 const Bm3dParameters& parameters = bm3d_profile(Profile::kFast)) {
  return make_plan(parameters, format, noise, plane_heights(format, rows));
}

std::vector<std::vector<int>> sets_of(const Bm3dPlan& plan) {
  std::vector<std::vector<int>> sets;
  for (const Bm3dComponentSet& set : plan.sets) {
    sets.push_back(set.components);
  }
  return sets;
}

std::vector<float> sigmas_of(const Bm3dPlan& plan) {
  return {plan.components[0].sigma, plan.components[1].sigma, plan.components[2].sigma};
}

std::vector<int> copied_by(const Bm3dPlan& plan) {
  std::vector<int> copied;
  for (int p = 0; p < kMaxPlanes; ++p) {
    if (plan.copied[p]) {
      copied.push_back(p);
    }
  }
  return copied;
}

FrameFormat with_alpha(FrameFormat format) {
  format.has_alpha = true;
  return format;
}

void expect_size(const Bm3dComponentSet& set, int width, int height, int shift_x, int shift_y) {
  EXPECT_EQ(set.width, width);
  EXPECT_EQ(set.height, height);
  EXPECT_EQ(set.shift_x, shift_x);
  EXPECT_EQ(set.shift_y, shift_y);
}

void expect_scale(const Bm3dGuide& guide, bool bytes) {
  EXPECT_EQ(guide.scale.bytes, bytes);
  EXPECT_EQ(guide.scale.scale, bytes ? 1 : 4);
  EXPECT_EQ(guide.scale.limit, bytes ? 128 : 1023);
}

void expect_distances(const Bm3dGuide& guide, int expected, int sum) {
  EXPECT_EQ(guide.distances.expected, expected);
  EXPECT_EQ(guide.distances.greatest, sum - expected);
}

using Lists = std::vector<std::vector<int>>;

TEST(Bm3dPlan, GrayHasOneSet) {
  const Bm3dPlan plan = plan_of(oracle::gray(64, 48), {{kLumaSigma}});
  EXPECT_FALSE(plan.opponent);
  EXPECT_EQ(sigmas_of(plan), (std::vector<float>{kLumaSigma, 0, 0}));
  EXPECT_EQ(plan.components[0].width, 64);
  EXPECT_EQ(plan.components[0].height, 48);
  EXPECT_EQ(copied_by(plan), std::vector<int>{});
  ASSERT_EQ(sets_of(plan), (Lists{{0}}));
  expect_size(plan.sets[0], 64, 48, 0, 0);
  EXPECT_FALSE(plan.sets[0].subsampled());
  const auto& [first, second] = plan.sets[0].guides;
  EXPECT_FALSE(first.basic_estimate);
  EXPECT_TRUE(first.smoothed);
  expect_scale(first, true);
  expect_distances(first, 5848, 20000 * 64);  // 0.9 * 2 (38 / 64 * 12)^2 a sample
  EXPECT_TRUE(second.basic_estimate);
  EXPECT_FALSE(second.smoothed);
  expect_scale(second, false);
  expect_distances(second, 2949, 1500 * 64 * 16);  // 2 * 1.2^2
}

TEST(Bm3dPlan, MatchesNearestPatchesOnTheGuideAsItIs) {
  Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  parameters.matching = Matching::kNearest;
  const Bm3dPlan plan = plan_of(oracle::yuv(64, 48, 1, 1), {{kLumaSigma, 8, 8}}, {}, parameters);
  for (const Bm3dComponentSet& set : plan.sets) {
    for (const Bm3dGuide& guide : set.guides) {
      EXPECT_FALSE(guide.smoothed);
      EXPECT_EQ(guide.distances.expected, 0);
    }
  }
}

TEST(Bm3dPlan, DeeperSamplesAreMatchedOnQuartersOfACodeValue) {
  for (const FrameFormat& format : {oracle::gray(64, 48, 10), oracle::as_float(oracle::gray(64, 48))}) {
    expect_scale(plan_of(format, {{kLumaSigma}}).sets[0].guides[0], false);
  }
}

TEST(Bm3dPlan, SubsampledChromaIsMatchedOnMeansOfLuma) {
  struct Case {
    int shift_x, shift_y;
    int width, height;    // of chroma
    int expected_first;   // 0.9 * 2 (38 / 64 * 12)^2 / 2^(shift_x + shift_y) a sample, in sixteenths
    int expected_second;  // 2 * 1.2^2 / 2^(shift_x + shift_y)
  };
  for (const Case& c : {Case{1, 1, 32, 24, 23392, 737}, Case{1, 0, 32, 47, 46785, 1474},
                        Case{0, 1, 63, 24, 46785, 1474}, Case{2, 0, 16, 47, 23392, 737}}) {
    SCOPED_TRACE(testing::Message() << c.shift_x << ", " << c.shift_y);
    const Bm3dPlan plan = plan_of(oracle::yuv(63, 47, c.shift_x, c.shift_y), {{kLumaSigma, 8, 10}});
    EXPECT_EQ(sigmas_of(plan), (std::vector<float>{kLumaSigma, 8, 10}));
    EXPECT_EQ(copied_by(plan), std::vector<int>{});
    ASSERT_EQ(sets_of(plan), (Lists{{0}, {1, 2}}));
    expect_size(plan.sets[0], 63, 47, 0, 0);
    expect_scale(plan.sets[0].guides[0], true);
    const Bm3dComponentSet& chroma = plan.sets[1];
    expect_size(chroma, c.width, c.height, c.shift_x, c.shift_y);
    EXPECT_TRUE(chroma.subsampled());
    EXPECT_FALSE(chroma.guides[0].basic_estimate);
    EXPECT_TRUE(chroma.guides[0].smoothed);
    expect_scale(chroma.guides[0], false);
    expect_distances(chroma.guides[0], c.expected_first, 20000 * 64 * 16);
    EXPECT_TRUE(chroma.guides[1].basic_estimate);
    EXPECT_FALSE(chroma.guides[1].smoothed);
    expect_scale(chroma.guides[1], false);
    expect_distances(chroma.guides[1], c.expected_second, 1500 * 64 * 16);
  }
}

TEST(Bm3dPlan, FullSizeChromaUsesLumaGroups) {
  const Bm3dPlan plan = plan_of(oracle::yuv(64, 48, 0, 0), {{kLumaSigma, 8, 10}});
  EXPECT_FALSE(plan.opponent);
  ASSERT_EQ(sets_of(plan), (Lists{{0, 1, 2}}));
  expect_size(plan.sets[0], 64, 48, 0, 0);
  expect_scale(plan.sets[0].guides[0], true);
  expect_distances(plan.sets[0].guides[0], 5848, 20000 * 64);
}

TEST(Bm3dPlan, RgbIsFilteredInOpponentChannels) {
  const Bm3dPlan plan = plan_of(oracle::rgb(64, 48), {{8, 4, 1}});
  EXPECT_TRUE(plan.opponent);
  EXPECT_EQ(plan.components[0].sigma, 3);                 // (R + G + B) / 3: sqrt(64 + 16 + 1) / 3
  EXPECT_FLOAT_EQ(plan.components[1].sigma, 4.0311289F);  // (R - B) / 2: sqrt(64 + 1) / 2
  EXPECT_FLOAT_EQ(plan.components[2].sigma, 2.8394542F);  // (R - 2 G + B) / 4: sqrt(64 + 4 * 16 + 1) / 4
  EXPECT_EQ(copied_by(plan), std::vector<int>{});
  ASSERT_EQ(sets_of(plan), (Lists{{0, 1, 2}}));
  const auto& [first, second] = plan.sets[0].guides;
  expect_scale(first, false);
  expect_distances(first, 5848, 20000 * 64 * 16);  // a quarter of the deviation at four times the scale
  EXPECT_TRUE(first.smoothed);
  EXPECT_TRUE(second.basic_estimate);
}

TEST(Bm3dPlan, CopiesPlanesOfRgbWithoutNoise) {
  // Noise of the other planes is in all components, except green's, which is not in U.
  const Bm3dPlan without_red = plan_of(oracle::rgb(64, 48), {{0, 8, 4}});
  EXPECT_EQ(copied_by(without_red), (std::vector<int>{0}));
  EXPECT_EQ(sets_of(without_red), (Lists{{0, 1, 2}}));
  const Bm3dPlan green_only = plan_of(oracle::rgb(64, 48), {{0, 8, 0}});
  EXPECT_EQ(copied_by(green_only), (std::vector<int>{0, 2}));
  EXPECT_EQ(sets_of(green_only), (Lists{{0, 2}}));
}

TEST(Bm3dPlan, CopiesAlpha) {
  EXPECT_EQ(copied_by(plan_of(with_alpha(oracle::gray(64, 48)), {{kLumaSigma, kLumaSigma, kLumaSigma}})),
            (std::vector<int>{1}));
  EXPECT_EQ(copied_by(plan_of(with_alpha(oracle::yuv(64, 48, 1, 1)), {{kLumaSigma, 8, 8}})),
            (std::vector<int>{3}));
  EXPECT_EQ(copied_by(plan_of(with_alpha(oracle::rgb(64, 48)), {{kLumaSigma, 8, 8}})), (std::vector<int>{3}));
}

TEST(Bm3dPlan, CopiesPlanesSmallerThanAPatchOfEitherStep) {
  const NoiseModel noise = {{kLumaSigma, 8, 10}};
  const Bm3dPlan small_chroma = plan_of(oracle::yuv(20, 12, 1, 1), noise);  // of 10x6
  EXPECT_EQ(copied_by(small_chroma), (std::vector<int>{1, 2}));
  EXPECT_EQ(sigmas_of(small_chroma), (std::vector<float>{kLumaSigma, 0, 0}));
  EXPECT_EQ(sets_of(small_chroma), (Lists{{0}}));
  for (const FrameFormat& format : {oracle::yuv(40, 7, 0, 0), oracle::rgb(7, 40)}) {
    const Bm3dPlan small = plan_of(format, noise);
    EXPECT_EQ(copied_by(small), (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(sets_of(small), Lists{});
  }

  Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  parameters.wiener->patch_size = 12;
  EXPECT_EQ(sets_of(plan_of(oracle::gray(40, 11), noise, {}, parameters)), Lists{});
  parameters.wiener.reset();
  EXPECT_EQ(sets_of(plan_of(oracle::gray(40, 11), noise, {}, parameters)), (Lists{{0}}));
}

TEST(Bm3dPlan, CopiesPlanesWithoutNoise) {
  const FrameFormat subsampled = oracle::yuv(64, 48, 1, 1);
  const FrameFormat full = oracle::yuv(64, 48, 0, 0);
  EXPECT_EQ(copied_by(plan_of(subsampled, {{kLumaSigma, 0, 10}})), (std::vector<int>{1}));
  EXPECT_EQ(sets_of(plan_of(subsampled, {{kLumaSigma, 0, 10}})), (Lists{{0}, {2}}));
  EXPECT_EQ(sets_of(plan_of(full, {{kLumaSigma, 0, 10}})), (Lists{{0, 2}}));
  EXPECT_EQ(sets_of(plan_of(full, {{kLumaSigma, 0, 0}})), (Lists{{0}}));
  for (const FrameFormat& format : {subsampled, full, oracle::rgb(64, 48)}) {
    const Bm3dPlan nothing = plan_of(format, {});
    EXPECT_EQ(sets_of(nothing), Lists{});
    EXPECT_EQ(copied_by(nothing), (std::vector<int>{0, 1, 2}));
  }
}

TEST(Bm3dPlan, MatchesOnLumaWithoutNoiseInBothSteps) {
  for (const int shift : {0, 1}) {
    const Bm3dPlan plan = plan_of(oracle::yuv(64, 48, shift, shift), {{0, 8, 10}});
    EXPECT_EQ(copied_by(plan), (std::vector<int>{0}));
    ASSERT_EQ(sets_of(plan), (Lists{{1, 2}}));
    expect_size(plan.sets[0], 64 >> shift, 48 >> shift, shift, shift);
    for (const Bm3dGuide& guide : plan.sets[0].guides) {
      EXPECT_FALSE(guide.basic_estimate);  // without a second step's result
      EXPECT_FALSE(guide.smoothed);
      EXPECT_EQ(guide.distances.expected, 0);
    }
    expect_scale(plan.sets[0].guides[0], shift == 0);
  }
}

TEST(Bm3dPlan, FieldsHaveTheirOwnHeights) {
  const FrameFormat format = oracle::yuv(64, 30, 1, 1);  // chroma has 15 rows
  const NoiseModel noise = {{kLumaSigma, 8, 10}};
  const auto fields = pictures_of(true);
  ASSERT_EQ(fields.size(), 2U);
  const Bm3dPlan even = plan_of(format, noise, fields[0]);
  ASSERT_EQ(sets_of(even), (Lists{{0}, {1, 2}}));
  expect_size(even.sets[0], 64, 15, 0, 0);
  expect_size(even.sets[1], 32, 8, 1, 1);
  // The other field's chroma has a row less than a patch.
  const Bm3dPlan odd = plan_of(format, noise, fields[1]);
  ASSERT_EQ(sets_of(odd), (Lists{{0}}));
  expect_size(odd.sets[0], 64, 15, 0, 0);
  EXPECT_EQ(odd.components[1].height, 7);
  EXPECT_EQ(copied_by(odd), (std::vector<int>{1, 2}));
}

TEST(Bm3dPlan, SaysWhatItWasMadeFor) {
  const Bm3dPlan plan = plan_of(with_alpha(oracle::yuv(64, 30, 1, 1)), {{kLumaSigma, 8, 10}});
  EXPECT_EQ(plan.noise, (NoiseModel{{kLumaSigma, 8, 10}}));
  EXPECT_EQ(plan.heights, (PlaneHeights{30, 15, 15, 30}));
}

TEST(SmallPlanes, AreNamed) {
  const std::vector<std::string> warnings =
      warnings_of_small_planes(bm3d_profile(Profile::kFast), oracle::yuv(20, 12, 1, 1));
  EXPECT_EQ(warnings, (std::vector<std::string>{
                          "plane 1 (10x6) is smaller than a patch of 8x8 and passes through unchanged",
                          "plane 2 (10x6) is smaller than a patch of 8x8 and passes through unchanged"}));
}

}  // namespace
}  // namespace limpid
