// SPDX-License-Identifier: MIT
// Displayed groups are those that the engine filters: comparison with the plain search.
#include "cpu/bm3d/matches.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/oracle/bm3d.h"
#include "tests/oracle/pictures.h"

namespace limpid::cpu {
namespace {

constexpr float kSigma = 12;

Frame noisy_picture(const FrameFormat& format) {
  return oracle::add_noise(oracle::draw_picture(format), static_cast<double>(kSigma), 3);
}

using Place = std::pair<int, int>;

Place place(const MatchedPatch& patch) { return {patch.x, patch.y}; }

TEST(Matches, AreTheEnginesGroup) {
  for (const Matching matching : {Matching::kNearest, Matching::kStatistical}) {
    for (const FrameFormat& format : {oracle::gray(60, 45), oracle::gray(41, 37, 10)}) {
      const Frame frame = noisy_picture(format);
      Bm3dParameters parameters = bm3d_profile(Profile::kNp);
      parameters.matching = matching;
      const oracle::Picture luma = oracle::to_picture(frame, 0);
      const bool statistical = matching == Matching::kStatistical;
      oracle::Search search{.whole_code_values = format.bit_depth == 8};
      if (statistical) {
        const double sigma = static_cast<double>(kSigma);
        search.noise = 0.9 * 2 * sigma * sigma * (38.0 / 64) * (38.0 / 64);
      }
      const auto groups =
          oracle::find_groups(statistical ? oracle::smoothed(luma) : luma, parameters.hard_threshold, search);
      for (std::size_t i = 0; i < groups.size(); i += 7) {
        const oracle::Position reference = groups[i].front();
        const MatchedGroup found =
            find_matches(frame, parameters, {{kSigma}}, reference.x + 4, reference.y + 4);
        // The oracle's groups are rounded down to powers of two.
        ASSERT_GE(found.patches.size(), groups[i].size());
        for (std::size_t j = 0; j < groups[i].size(); ++j) {
          EXPECT_EQ(place(found.patches[j]), (Place{groups[i][j].x, groups[i][j].y})) << i << ", " << j;
        }
      }
    }
  }
}

TEST(Matches, TellDistanceWindowAndPatch) {
  Frame frame = oracle::draw_picture(oracle::gray(40, 30));
  // Flat except one brighter sample.
  std::vector<double> samples(1200, 50);
  samples[5 * 40 + 3] = 58;
  oracle::store({40, 30, samples}, frame, 0);
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  parameters.hard_threshold.search_window = 11;
  parameters.matching = Matching::kNearest;
  const MatchedGroup group = find_matches(frame, parameters, {{0}}, 0, 0);
  EXPECT_EQ(group.patch_size, 8);
  EXPECT_EQ(group.window_x0, 0);
  EXPECT_EQ(group.window_x1, 6);
  EXPECT_EQ(group.window_y1, 6);
  ASSERT_EQ(group.patches.size(), 16U);
  EXPECT_EQ(place(group.patches.front()), (Place{0, 0}));
  EXPECT_EQ(group.patches.front().distance, 0);
  // The bright sample has different positions in the two patches.
  EXPECT_EQ(place(group.patches[1]), (Place{4, 0}));
  EXPECT_EQ(group.patches[1].distance, 1);
}

TEST(Matches, TheReferenceIsTheNearestOfTheGrid) {
  const Frame frame = noisy_picture(oracle::gray(40, 30));
  const Bm3dParameters parameters = bm3d_profile(Profile::kNp);  // spacing 3
  const auto reference = [&](int x, int y) {
    return place(find_matches(frame, parameters, {{kSigma}}, x, y).patches.front());
  };
  EXPECT_EQ(reference(10, 11), (Place{6, 6}));
  EXPECT_EQ(reference(39, 29), (Place{32, 22}));
  EXPECT_EQ(reference(0, 0), (Place{0, 0}));
}

TEST(Matches, RgbAndDeepFramesHaveThemToo) {
  for (const FrameFormat& format : {oracle::rgb(30, 30), oracle::as_float(oracle::gray(30, 30))}) {
    const MatchedGroup group =
        find_matches(noisy_picture(format), bm3d_profile(Profile::kNp), {{kSigma, kSigma, kSigma}}, 15, 15);
    EXPECT_GT(group.patches.size(), 1U) << to_string(format);
  }
}

TEST(Matches, ImpossibleRequestsAreReported) {
  const Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  const Frame frame = noisy_picture(oracle::gray(20, 20));
  EXPECT_THROW(find_matches(frame, parameters, {{9}}, 20, 3), UsageError);
  EXPECT_THROW(find_matches(frame, parameters, {{9}}, 3, -1), UsageError);
  EXPECT_THROW(find_matches(noisy_picture(oracle::gray(7, 20)), parameters, {{9}}, 3, 3), Error);
}

}  // namespace
}  // namespace limpid::cpu
