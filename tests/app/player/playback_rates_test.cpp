// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>

#include "app/player/measurements.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

/// A source of 25 frames per second that is measured every second.
class Measured {
 public:
  PlaybackRates rates;
  PlaybackRates::Playing playing{.frames_per_second = 25, .runs = true, .live = false};

  void second(int shown, std::chrono::milliseconds reading, std::chrono::milliseconds denoising) {
    totals_.at += 1s;
    totals_.shown += shown;
    totals_.denoised += shown;
    totals_.reading += reading;
    totals_.denoising += denoising;
    totals_.presenting += 100ms;
    rates.measure(totals_, playing);
  }

 private:
  PlaybackRates::Totals totals_;
};

TEST(PlaybackRatesTest, AreThoseOfTheLastSecond) {
  Measured measured;
  const PlaybackRates::Clock::time_point begin;
  EXPECT_TRUE(measured.rates.is_due(begin));
  measured.second(25, 0ms, 0ms);
  EXPECT_FALSE(measured.rates.loads()) << "one measurement has no span";
  measured.second(20, 200ms, 500ms);
  EXPECT_FALSE(measured.rates.is_due(begin + 2900ms));
  EXPECT_TRUE(measured.rates.is_due(begin + 3s));
  EXPECT_DOUBLE_EQ(measured.rates.shown_fps(), 20);
  EXPECT_DOUBLE_EQ(measured.rates.denoised_fps_alone(), 40);
  ASSERT_TRUE(measured.rates.loads());
  EXPECT_DOUBLE_EQ(measured.rates.loads()->reading, 0.2);
  EXPECT_DOUBLE_EQ(measured.rates.loads()->presenting, 0.1);
  measured.second(20, 200ms, 5000ms);
  EXPECT_DOUBLE_EQ(measured.rates.loads()->denoising, 1) << "work that began before";
}

TEST(PlaybackRatesTest, SlownessIsCertainAfterThreeBusySeconds) {
  Measured measured;
  measured.second(0, 0ms, 0ms);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(measured.rates.is_slow());
    measured.second(10, 0ms, 950ms);
  }
  EXPECT_TRUE(measured.rates.is_slow());
  EXPECT_TRUE(measured.rates.is_denoising_slow());
  measured.rates.forget_slowness();
  EXPECT_FALSE(measured.rates.is_slow());
  for (int i = 0; i < 3; ++i) {
    measured.second(10, 950ms, 100ms);
  }
  EXPECT_TRUE(measured.rates.is_slow());
  EXPECT_FALSE(measured.rates.is_denoising_slow());
  EXPECT_TRUE(measured.rates.is_decoding_slow());
  measured.second(1, 900ms, 850ms);
  EXPECT_FALSE(measured.rates.is_decoding_slow()) << "both wait for the processors";
  measured.second(25, 950ms, 950ms);
  EXPECT_FALSE(measured.rates.is_slow()) << "busy, but in time";
}

TEST(PlaybackRatesTest, APauseOrALiveSourceThatWaitsIsNotSlow) {
  Measured paused;
  Measured live;
  paused.playing.runs = false;
  live.playing.live = true;
  for (int i = 0; i < 5; ++i) {
    paused.second(0, 0ms, 990ms);
    live.second(10, 990ms, 100ms);
  }
  EXPECT_FALSE(paused.rates.is_slow());
  EXPECT_FALSE(live.rates.is_slow());
}

}  // namespace
}  // namespace limpid::app
