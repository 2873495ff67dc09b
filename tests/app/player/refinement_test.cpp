// SPDX-License-Identifier: MIT
#include "app/player/refinement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "app/player/player.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

const Refinement::Time kBegin{100s};

TEST(RefinementTest, GoesFromNeighborsToAResult) {
  Refinement refinement(kBegin);
  const auto frame = std::make_shared<const PlayedFrame>();
  EXPECT_EQ(refinement.begins_at(), kBegin + 100ms);
  EXPECT_FALSE(refinement.is_under_way());
  refinement.begin(frame);
  EXPECT_TRUE(refinement.is_of(frame));
  EXPECT_TRUE(refinement.wants_neighbors());
  refinement.give_neighbors({.frames = std::vector<Frame>(3), .current = 1});
  EXPECT_FALSE(refinement.wants_neighbors());
  ASSERT_TRUE(refinement.has_neighbors());
  EXPECT_EQ(refinement.take_neighbors().frames.size(), 3U);
  EXPECT_FALSE(refinement.has_neighbors());
  const auto refined = std::make_shared<const PlayedFrame>();
  refinement.finish(refined);
  EXPECT_TRUE(refinement.is_finished());
  EXPECT_EQ(refinement.refined(), refined);
  EXPECT_FALSE(refinement.is_settled(frame.get()));
}

TEST(RefinementTest, AnotherWishEndsItAndItWaitsAgain) {
  Refinement refinement(kBegin);
  EXPECT_FALSE(refinement.forget(kBegin + 1s)) << "there was none";
  EXPECT_EQ(refinement.begins_at(), kBegin + 1100ms);
  const auto frame = std::make_shared<const PlayedFrame>();
  refinement.begin(frame);
  refinement.give_neighbors({});
  EXPECT_TRUE(refinement.forget(kBegin + 2s));
  EXPECT_FALSE(refinement.is_under_way());
  EXPECT_FALSE(refinement.is_of(frame));
  EXPECT_FALSE(refinement.has_neighbors());
  EXPECT_FALSE(refinement.wants_neighbors());
}

TEST(RefinementTest, AFrameThatDoesNotGetBetterIsSettled) {
  Refinement refinement(kBegin);
  const auto frame = std::make_shared<const PlayedFrame>();
  refinement.begin(frame);
  refinement.settle(kBegin + 1s);
  EXPECT_TRUE(refinement.is_settled(frame.get()));
  EXPECT_FALSE(refinement.is_under_way());
}

}  // namespace
}  // namespace limpid::app
