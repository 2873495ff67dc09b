// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "app/player/frame_refining.h"
#include "core/engines.h"
#include "tests/core/noise/scenes.h"

namespace limpid::app {
namespace {

constexpr double kFilmRate = 25;
constexpr int kFramesOfFile = 220;

// A file whose noise grows, with a cut.
class FrameLevelsTest : public testing::Test {
 protected:
  FrameLevelsTest() {
    for (int i = 0; i < kFramesOfFile; ++i) {
      Frame frame = test::render(
          test::gray_format(128, 96),
          [i](int p, int x, int y) { return test::textured(p, x + 2 * i, y) + (i < 90 ? 0 : -60); },
          3 + static_cast<float>(i) / 30, static_cast<unsigned>(i) + 1);
      frame.index = i;
      frames_.push_back(std::move(frame));
    }
  }

  FrameSource open() {
    auto next = std::make_shared<int>(0);
    FrameSource source;
    source.read = [this, next]() -> io::Reader::Item {
      if (*next == kFramesOfFile) {
        return io::Reader::End{};
      }
      ++read_;
      return frames_[static_cast<std::size_t>((*next)++)];
    };
    source.seek = [this, next](double seconds, double before, const FrameStore::GivenUp& /*given_up*/,
                               const std::function<void(Frame)>& /*glimpse*/) {
      ++seeks_;
      *next = std::clamp(static_cast<int>(std::ceil((seconds - before) * kFilmRate)), 0, kFramesOfFile);
    };
    return source;
  }

  // As `limpid denoise` finds them.
  std::vector<NoiseModel> levels_of_the_file() {
    NoiseControl control({}, *engine_);
    for (const Frame& frame : frames_) {
      control.send(frame);
    }
    control.flush();
    std::vector<NoiseModel> levels;
    while (const std::optional<LeveledFrame> next = control.receive()) {
      levels.push_back(next->level);
    }
    return levels;
  }

  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
  std::vector<Frame> frames_;
  int seeks_ = 0;
  int read_ = 0;
};

TEST_F(FrameLevelsTest, TheyAreThoseOfTheWholeFileInAnyOrder) {
  const std::vector<NoiseModel> expected = levels_of_the_file();
  FrameLevels levels([this] { return open(); }, *engine_, kFilmRate);
  const auto expect = [&](int first, std::size_t count, std::size_t found) {
    const std::vector<FrameLevels::Level> own =
        levels.find(first / kFilmRate, count, {}, [] { return false; });
    ASSERT_EQ(own.size(), found) << first;
    for (std::size_t i = 0; i < found; ++i) {
      EXPECT_EQ(own[i].level, expected[static_cast<std::size_t>(first) + i])
          << "frame " << first << " + " << i;
    }
  };
  expect(180, 9, 9);
  EXPECT_LT(read_, 150) << "no more than the frames that the levels depend on";
  expect(175, 9, 9);
  expect(190, 9, 9);
  EXPECT_EQ(seeks_, 1);
  expect(215, 9, 5);
  expect(216, 9, 4);
  EXPECT_EQ(seeks_, 1);
  expect(20, 3, 3);
  expect(0, 3, 3);
  EXPECT_EQ(seeks_, 2);
  expect(88, 9, 9);
}

TEST_F(FrameLevelsTest, OtherSettingsAreFoundAnew) {
  FrameLevels levels([this] { return open(); }, *engine_, kFilmRate);
  const auto level = [&](const NoiseSettings& settings, bool given_up) {
    return levels.find(1, 1, settings, [given_up] { return given_up; });
  };
  EXPECT_TRUE(level({}, true).empty());
  const std::vector<FrameLevels::Level> plain = level({}, false);
  NoiseSettings strong;
  strong.strength.luma = 2;
  strong.strength.chroma = 2;
  const std::vector<FrameLevels::Level> stronger = level(strong, false);
  ASSERT_EQ(plain.size(), 1U);
  ASSERT_EQ(stronger.size(), 1U);
  EXPECT_EQ(plain[0].noise, stronger[0].noise);
  EXPECT_LT(plain[0].level.sigma[0], stronger[0].level.sigma[0]);
}

}  // namespace
}  // namespace limpid::app
