// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "app/player/player_queues.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

const Pacing::Time kStart{100s};

TEST(PlaybackClockTest, RunsPausesAndChangesItsSpeed) {
  PlaybackClock clock;
  clock.set(10, kStart);
  EXPECT_DOUBLE_EQ(clock.position(kStart + 2s), 12);
  EXPECT_EQ(clock.due(11.5), kStart + 1500ms);
  clock.pause(kStart + 2s);
  EXPECT_DOUBLE_EQ(clock.position(kStart + 5s), 12);
  clock.resume(kStart + 6s);
  EXPECT_DOUBLE_EQ(clock.position(kStart + 7s), 13);
  clock.set_speed(2, kStart + 7s);
  EXPECT_DOUBLE_EQ(clock.position(kStart + 8s), 15);
  EXPECT_EQ(clock.due(17), kStart + 9s);
}

TEST(PlaybackClockTest, FollowsAnotherWithoutJumpsUnlessItIsFarAway) {
  PlaybackClock clock;
  clock.set(0, kStart);
  clock.follow(0.02, kStart);
  EXPECT_GT(clock.position(kStart), 0);
  EXPECT_LT(clock.position(kStart), 0.01);
  for (int i = 0; i < 200; ++i) {
    clock.follow(0.02, kStart);
  }
  EXPECT_NEAR(clock.position(kStart), 0.02, 1e-5);
  clock.follow(5, kStart);
  EXPECT_DOUBLE_EQ(clock.position(kStart), 5);
}

TEST(PacingTest, TheClockBeginsWithTheFirstFrame) {
  Pacing pacing(false, 25);
  EXPECT_FALSE(pacing.follows_clock());
  EXPECT_EQ(pacing.due(7, kStart), kStart);
  EXPECT_TRUE(pacing.show(7, false, kStart));
  EXPECT_TRUE(pacing.follows_clock());
  EXPECT_EQ(pacing.due(7.5, kStart + 1ms), kStart + 500ms);
  EXPECT_FALSE(pacing.show(7.04, false, kStart + 40ms));
  EXPECT_EQ(pacing.end_of(7.04), kStart + 80ms);
}

TEST(PacingTest, AFrameOfALateSourceSetsTheClock) {
  Pacing pacing(false, 25);
  pacing.show(0, false, kStart);
  pacing.show(0.04, true, kStart + 2s);
  EXPECT_EQ(pacing.due(0.08, kStart + 2s), kStart + 2040ms);
}

TEST(PacingTest, WhilePausedOneFrameIsShownForEachStep) {
  Pacing pacing(false, 25);
  pacing.show(0, false, kStart);
  pacing.clock().pause(kStart);
  EXPECT_TRUE(pacing.is_frozen());
  pacing.show_next(true);
  EXPECT_FALSE(pacing.is_frozen());
  EXPECT_EQ(pacing.due(0.04, kStart + 1s), kStart + 1s);
  EXPECT_FALSE(pacing.show(0.04, false, kStart + 1s));
  EXPECT_TRUE(pacing.is_frozen());
}

TEST(PacingTest, AFrameIsLateIfItsSuccessorIsDueBeforeItCanBeReady) {
  Pacing pacing(false, 25);
  pacing.add_turnaround(0.1);
  EXPECT_FALSE(pacing.is_late(0, std::nullopt, kStart)) << "the clock does not run";
  pacing.show(0, false, kStart);
  EXPECT_TRUE(pacing.is_late(0.04, std::nullopt, kStart));
  EXPECT_TRUE(pacing.is_late(0.04, 0.08, kStart));
  EXPECT_FALSE(pacing.is_late(0.08, 0.12, kStart));
  EXPECT_FALSE(pacing.is_late(0.04, 0.5, kStart)) << "it stays on the screen for long";
  for (int i = 0; i < 50; ++i) {
    pacing.add_turnaround(0.01);
  }
  EXPECT_FALSE(pacing.is_late(0.04, std::nullopt, kStart));
}

TEST(PacingTest, TurnaroundFallsFasterThanItRises) {
  const auto expect_between = [](double first, double second, double least, double most) {
    Pacing pacing(false, 25);
    pacing.show(0, false, kStart);
    pacing.add_turnaround(first);
    pacing.add_turnaround(second);
    EXPECT_TRUE(pacing.is_late(0, least, kStart)) << first << " to " << second;
    EXPECT_FALSE(pacing.is_late(0, most, kStart)) << first << " to " << second;
  };
  expect_between(0.1, 0.02, 0.055, 0.065);  // half of the way
  expect_between(0.02, 0.1, 0.035, 0.045);  // a quarter
}

TEST(PacingTest, LiveFramesAreDueAtOnceAndNeverLate) {
  Pacing pacing(true, 25);
  pacing.add_turnaround(1);
  pacing.show(0, false, kStart);
  EXPECT_FALSE(pacing.follows_clock());
  EXPECT_EQ(pacing.due(5, kStart), kStart);
  EXPECT_FALSE(pacing.is_late(0.04, 0.08, kStart + 10s));
}

TEST(PacingTest, FewFramesAreAheadOfTheScreenUnlessTheDenoiserHasManyDevices) {
  Pacing pacing(false, 25);
  EXPECT_EQ(pacing.frames_ahead(4), 1) << "the clock does not run";
  pacing.show(0, false, kStart);
  EXPECT_EQ(pacing.frames_ahead(1), 2);
  EXPECT_EQ(pacing.frames_ahead(4), 4);
  EXPECT_EQ(pacing.frames_ahead(100), 8);
  EXPECT_EQ(Pacing(true, 25).frames_ahead(1), 2);
}

}  // namespace
}  // namespace limpid::app
