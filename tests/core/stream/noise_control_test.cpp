// SPDX-License-Identifier: MIT
#include "core/stream/noise_control.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/engines.h"
#include "core/stream/noise_tracker.h"
#include "tests/core/noise/scenes.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

TEST(NoiseControl, ScalesByStrength) {
  const auto engine = engine_registry().open("cpu");
  NoiseControl control(
      {.noise = NoiseProfile{NoiseModel{{10, 20, 200}}, std::nullopt}, .strength = {1.4F, 1.4F}}, *engine);
  const NoiseModel level = control.level_for(Frame{});
  EXPECT_FLOAT_EQ(level.sigma[0], 14);
  EXPECT_FLOAT_EQ(level.sigma[1], 28);
  EXPECT_FLOAT_EQ(level.sigma[2], 255);
}

TEST(NoiseControl, StrengthRaisesEstimatesThatAreSmall) {
  const auto engine = engine_registry().open("cpu");
  Frame black = allocate_frame(oracle::gray(64, 64));
  for (int y = 0; y < 64; ++y) {
    std::fill_n(black.planes[0].row<std::uint8_t>(y), 64, std::uint8_t{16});
  }
  EXPECT_EQ(NoiseControl({.noise = std::nullopt, .strength = {}}, *engine).level_for(black).sigma[0], 0);
  EXPECT_EQ(
      NoiseControl({.noise = std::nullopt, .strength = {0.5F, 0.5F}}, *engine).level_for(black).sigma[0], 0);
  EXPECT_EQ(NoiseControl({.noise = std::nullopt, .strength = {3, 3}}, *engine).level_for(black).sigma[0], 2);
}

TEST(NoiseControl, AProfileOfOtherPlanesIsRefusedWithWhatFits) {
  const NoiseModel noise{{7.66F, 3, 3}};
  const NoiseSettings settings{.noise = NoiseProfile{noise, ColorModel::kYuv}};
  try {
    settings.check(oracle::gray(64, 64));
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("; use --sigma 7.7, or --before format=yuv420p"))
        << error.what();
  }
}

TEST(NoiseControl, SubsampledChromaIsFilteredByWhatIsBestForIt) {
  const auto engine = engine_registry().open("cpu");
  Frame frame;
  frame.format.color_model = ColorModel::kYuv;
  frame.format.chroma_shift_x = 1;
  const NoiseModel noise{{10, 10, 10}};
  const auto level = [&](std::optional<ColorModel> color_model) {
    return NoiseControl({.noise = NoiseProfile{noise, color_model, {0, 0, 1.25F}}}, *engine).level_for(frame);
  };
  const NoiseModel found = level(ColorModel::kYuv);
  EXPECT_EQ(found.sigma[0], 10);
  EXPECT_GT(found.sigma[1], 11);
  EXPECT_LT(found.sigma[1], 12);
  EXPECT_EQ(found.sigma[2], 12.5F);
  EXPECT_EQ(level(std::nullopt).sigma[2], 10);
  frame.format.chroma_shift_x = 0;
  EXPECT_EQ(level(ColorModel::kYuv).sigma[2], 10);
}

TEST(NoiseControl, ProfilesOfOtherSourcesAreRefused) {
  const auto engine = engine_registry().open("cpu");
  Frame frame;
  frame.format.color_model = ColorModel::kYuv;
  NoiseSettings settings{.noise = NoiseProfile{NoiseModel{{10, 10, 10}}, ColorModel::kRgb}};
  EXPECT_THROW(NoiseControl(settings, *engine).level_for(frame), UsageError);
  settings.noise->color_model = ColorModel::kYuv;
  EXPECT_EQ(NoiseControl(settings, *engine).level_for(frame).sigma[2], 10);
}

TEST(NoiseControl, LumaAndChromaHaveStrengthsOfTheirOwn) {
  const auto engine = engine_registry().open("cpu");
  Frame frame;
  frame.format.color_model = ColorModel::kYuv;
  const auto level = [&](const Strength& strength) {
    NoiseSettings settings{.noise = NoiseProfile{NoiseModel{{10, 10, 10}}, std::nullopt}};
    settings.strength = strength;
    return NoiseControl(settings, *engine).level_for(frame);
  };
  EXPECT_EQ(level({1, 0}), (NoiseModel{{10, 0, 0}}));
  EXPECT_EQ(level({0, 1}), (NoiseModel{{0, 10, 10}}));
  EXPECT_EQ(level({2, 0.5F}), (NoiseModel{{20, 5, 5}}));
  frame.format.color_model = ColorModel::kRgb;
  EXPECT_EQ(level({2, 2}), (NoiseModel{{20, 20, 20}}));
  EXPECT_THROW(level({1, 0}), UsageError);
}

Frame shifted(int index, float sigma) {
  return test::render(
      test::gray_format(160, 120),
      [=](int p, int x, int y) { return test::textured(p, x + 2 * index, y + 60); }, sigma,
      static_cast<unsigned>(index) + 1);
}

TEST(NoiseControl, ALevelWaitsForTheFramesThatItIsEstimatedFrom) {
  const auto engine = engine_registry().open("cpu");
  NoiseControl control({}, *engine);
  NoiseTracker tracker(*engine);
  std::vector<Frame> frames;
  std::vector<NoiseModel> levels;
  const auto receive_all = [&] {
    while (std::optional<LeveledFrame> next = control.receive()) {
      EXPECT_EQ(next->frame.planes[0].data, frames[levels.size()].planes[0].data);
      levels.push_back(next->level);
    }
  };
  EXPECT_EQ(control.look_ahead(), NoiseTracker::kFramesToAverage - 1);
  for (int i = 0; i < 8; ++i) {
    frames.push_back(shifted(i, i == 0 ? 5.0F : 9.0F));
    tracker.observe(frames.back());
    control.send(frames.back());
    receive_all();
    EXPECT_EQ(std::ssize(levels), std::max(i + 1 - control.look_ahead(), 0));
    if (i == control.look_ahead()) {
      EXPECT_EQ(levels.front(), tracker.take());
    }
  }
  control.flush();
  receive_all();
  EXPECT_EQ(levels.size(), frames.size());
}

TEST(NoiseControl, ReportsTheFirstTheMeanAndTheLastLevel) {
  const auto engine = engine_registry().open("cpu");
  const auto settings = [](float sigma) {
    return NoiseSettings{.noise = NoiseProfile{NoiseModel{{sigma}}, std::nullopt}};
  };
  NoiseControl control(settings(4), *engine);
  control.level_for(Frame{});
  control.set(settings(10));
  control.level_for(Frame{});
  EXPECT_EQ(control.levels().first.sigma[0], 4);
  EXPECT_EQ(control.levels().mean.sigma[0], 7);
  EXPECT_EQ(control.levels().last.sigma[0], 10);
}

TEST(NoiseControl, LiveVideoDoesNotWait) {
  const auto engine = engine_registry().open("cpu");
  NoiseControl control({}, *engine, {}, Latency::kNone);
  NoiseTracker tracker(*engine);
  EXPECT_EQ(control.look_ahead(), 0);
  for (int i = 0; i < 4; ++i) {
    const Frame frame = shifted(i, 9);
    control.send(frame);
    const std::optional<LeveledFrame> next = control.receive();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->level, tracker.next(frame));
    EXPECT_FALSE(control.receive());
  }
}

}  // namespace
}  // namespace limpid
