// SPDX-License-Identifier: MIT
#include "core/noise/changing_area.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/frame/frame.h"
#include "tests/core/noise/scenes.h"

namespace limpid::noise {
namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 180;
constexpr Region kInset{.x = 176, .y = 64, .width = 112, .height = 80};

bool contains(const Region& region, int x, int y) {
  return x >= region.x && x < region.x + region.width && y >= region.y && y < region.y + region.height;
}

// A still picture of letters, with noise where `is_noisy` is true.
using Where = std::function<bool(int x, int y)>;
Frame screen(int index, const Where& is_noisy, float sigma = 6) {
  const FrameFormat format = test::gray_format(kWidth, kHeight);
  const Frame noise = test::render(
      format, [](int, int, int) { return 120.0; }, sigma, static_cast<unsigned>(index) + 1);
  Frame frame = test::render(
      format, [](int, int x, int y) { return x / 3 % 4 == 1 && y / 5 % 3 < 2 ? 20.0 : 235.0; }, 0.0F, 1);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      if (is_noisy(x, y)) {
        frame.planes[0].row<std::uint8_t>(y)[x] = noise.planes[0].row<const std::uint8_t>(y)[x];
      }
    }
  }
  return frame;
}

std::optional<Region> found(const Where& is_noisy, int frames = 2, float sigma = 6) {
  ChangingArea area;
  for (int i = 0; i < frames; ++i) {
    area.add(screen(i, is_noisy, sigma));
  }
  return area.find();
}

TEST(ChangingArea, IsTheNoisyInsetOfAStillPicture) {
  for (const float sigma : {1.0F, 6.0F, 20.0F}) {
    EXPECT_EQ(found([](int x, int y) { return contains(kInset, x, y); }, 2, sigma), kInset) << sigma;
  }
  EXPECT_EQ(
      found([](int x, int y) { return contains({.x = 230, .y = 100, .width = 90, .height = 80}, x, y); }),
      (Region{.x = 224, .y = 96, .width = 96, .height = 84}))
      << "in whole blocks, up to the border of the picture";
}

TEST(ChangingArea, NeedsTwoFrames) {
  EXPECT_EQ(found([](int x, int y) { return contains(kInset, x, y); }, 1), std::nullopt);
}

TEST(ChangingArea, MayHaveAPointerOutside) {
  EXPECT_EQ(found([](int x, int y) {
              return contains(kInset, x, y) || contains({.x = 20, .y = 20, .width = 12, .height = 16}, x, y);
            }),
            kInset);
}

TEST(ChangingArea, IsNothingElseThanARectangle) {
  EXPECT_EQ(found([](int, int) { return true; }), std::nullopt) << "the whole picture";
  EXPECT_EQ(found([](int, int) { return false; }), std::nullopt) << "repeated frames";
  EXPECT_EQ(found([](int x, int y) { return std::hypot(x - 160, y - 90) < 70; }), std::nullopt)
      << "an object before a still background";
  EXPECT_EQ(found([](int x, int y) {
              return contains({.x = 0, .y = 0, .width = 96, .height = 96}, x, y) ||
                     contains({.x = 208, .y = 64, .width = 112, .height = 112}, x, y);
            }),
            std::nullopt)
      << "two rectangles";
  EXPECT_EQ(found([](int x, int y) { return contains({.x = 32, .y = 32, .width = 48, .height = 48}, x, y); }),
            std::nullopt)
      << "too small to measure";
}

// The still picture, with a window of other letters from frame `begin` on.
std::optional<Region> found_with_window(int begin, int frames) {
  ChangingArea area;
  for (int i = 0; i < frames; ++i) {
    area.add(test::render(
        test::gray_format(kWidth, kHeight),
        [&](int, int x, int y) {
          if (i >= begin && contains(kInset, x, y)) {
            return x / 4 % 5 == 2 && y / 6 % 3 < 2 ? 40.0 : 200.0;
          }
          return x / 3 % 4 == 1 && y / 5 % 3 < 2 ? 20.0 : 235.0;
        },
        0.0F, 1));
  }
  return area.find();
}

TEST(ChangingArea, IsNoWindowThatOpens) {
  for (int begin = 1; begin < 5; ++begin) {
    EXPECT_EQ(found_with_window(begin, 6), std::nullopt) << begin;
    EXPECT_EQ(found_with_window(begin, begin + 1), std::nullopt) << begin << ", at once";
  }
}

TEST(ChangingArea, MayHaveALowerFrameRate) {
  ChangingArea area;
  for (int i = 0; i < 6; ++i) {
    area.add(screen(i / 2, [](int x, int y) { return contains(kInset, x, y); }));
  }
  EXPECT_EQ(area.find(), kInset);
}

}  // namespace
}  // namespace limpid::noise
