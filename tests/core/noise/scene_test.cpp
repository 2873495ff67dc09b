// SPDX-License-Identifier: MIT

#include "core/noise/scene.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cpu/noise/noise.h"
#include "tests/core/noise/scenes.h"

namespace limpid::noise {
namespace {

using test::counts_frame;
using test::gray_format;
using test::render;

// Two cells on a dark ground.
double cells(int /*plane*/, int x, int y) {
  return std::hypot(x - 40, y - 40) < 24 ? 5 : std::hypot(x - 110, y - 80) < 30 ? 2 : 0.4;
}

TEST(SceneRange, PoissonDistributionsAreCounts) {
  for (const int depth : {8, 10, 16, 32}) {
    for (const double unit : {1.0, 12.0}) {
      EXPECT_TRUE(scene_range(counts_frame(gray_format(160, 120, depth), cells, unit)).counts)
          << depth << " bits, " << unit << " code values for a photon";
    }
  }
  EXPECT_TRUE(scene_range(counts_frame(gray_format(160, 120), test::flat(0.1), 3)).counts);
}

TEST(SceneRange, ClippedNoiseAndDrawingsAreNoCounts) {
  for (const float sigma : {2.0F, 5.0F, 20.0F}) {
    for (const double mean : {-2.0, 0.0, 1.5}) {
      EXPECT_FALSE(scene_range(render(gray_format(160, 120), test::flat(mean), sigma)).counts)
          << "sigma " << sigma << ", mean " << mean;
    }
  }
  const auto checkerboard = [](int, int x, int y) { return (x / 8 + y / 8) % 2 * 255.0; };
  EXPECT_FALSE(scene_range(render(gray_format(160, 120), checkerboard, 0)).counts);
  EXPECT_FALSE(scene_range(render(gray_format(160, 120), test::flat(0), 0)).counts);
  EXPECT_FALSE(scene_range(render({.width = 160, .height = 120}, cells, 0)).counts);
}

TEST(SceneRange, OnlyDeepGrayPicturesHaveAScaleOfTheirOwn) {
  const auto scale_of = [](const FrameFormat& format, double most) {
    const auto ramp = [=](int, int x, int) { return most * x / 64; };
    return scene_range(render(format, ramp, 0)).scale;
  };
  EXPECT_EQ(scale_of(gray_format(64, 64, 8), 10), BrightnessScale());
  EXPECT_EQ(scale_of(gray_format(64, 64, 16), 200), BrightnessScale());
  EXPECT_NE(scale_of(gray_format(64, 64, 16), 10), BrightnessScale());
  EXPECT_NE(scale_of(gray_format(64, 64, 32), 10), BrightnessScale());
  EXPECT_EQ(scale_of(gray_format(64, 64, 16), 0), BrightnessScale());
}

// Squares of any brightness.
test::Scene board(int side) {
  return [side](int /*plane*/, int x, int y) { return 20.0 + (x / side * 7919 + y / side * 104729) % 200; };
}

TEST(PatchDeviations, OfTheQuietestTenthIsThatOfTheNoiseBetweenEdges) {
  for (const int depth : {8, 16, 32}) {
    for (const float sigma : {2.0F, 5.0F}) {
      const auto patches = patch_deviations(render(gray_format(320, 240, depth), board(16), sigma), {});
      ASSERT_TRUE(patches);
      EXPECT_NEAR(patches->tenth * 1.33 / double{sigma}, 1, 0.1) << depth;
      EXPECT_GT(patches->third, patches->tenth);
      EXPECT_GT(patches->half, patches->third);
      EXPECT_LT(patches->equal, 0.01);
    }
  }
}

TEST(PatchDeviations, ShowEqualSamplesAndTheGridOfACodec) {
  const auto drawn = patch_deviations(render(gray_format(320, 240), board(32), 0.0F), {});
  ASSERT_TRUE(drawn);
  EXPECT_EQ(drawn->third, 0);
  EXPECT_GT(drawn->equal, 0.7);
  const Frame noise = render(gray_format(320, 240), test::flat(128), 5.0F);
  EXPECT_LT(patch_deviations(noise, {})->grid, 1.1);
  const Frame coded = render(
      gray_format(320, 240), [](int /*plane*/, int x, int /*y*/) { return 120.0 + x / 8 % 2 * 12; }, 5.0F);
  EXPECT_GT(patch_deviations(coded, {})->grid, 1.5);
}

TEST(PatchDeviations, AreThoseOfAFieldAndWithinTheRange) {
  Frame fields = render(
      gray_format(320, 240), [](int /*plane*/, int /*x*/, int y) { return y % 2 == 0 ? 60.0 : 160.0; }, 2.0F);
  fields.interlaced = true;
  EXPECT_NEAR(patch_deviations(fields, {})->half, 2, 0.2);
  EXPECT_FALSE(patch_deviations(render(gray_format(320, 240), test::flat(255), 1.0F), {}));
  EXPECT_FALSE(patch_deviations(render(gray_format(16, 8), test::flat(99), 1.0F), {}));
}

TEST(SceneRange, BarsAreNotMeasured) {
  const auto framed = [](int left, int top, int right, int bottom) {
    return render(
        {.width = 320, .height = 240},
        [=](int p, int x, int y) {
          const bool bar = x < left || y < top || x >= 320 - right || y >= 240 - bottom;
          return p > 0 ? 128.0 : bar ? 16.0 + (x + y) % 2 : test::textured(p, x, y);
        },
        0);
  };
  const Region all{0, 0, 320, 240};
  EXPECT_EQ(region_inside_bars(framed(0, 0, 0, 0)), all);
  EXPECT_EQ(region_inside_bars(framed(0, 7, 0, 0)), all);
  EXPECT_EQ(region_inside_bars(framed(0, 28, 0, 28)), (Region{0, 40, 320, 160}));
  EXPECT_EQ(region_inside_bars(framed(0, 0, 0, 8)), (Region{0, 0, 320, 224}));
  EXPECT_EQ(region_inside_bars(framed(40, 0, 41, 0)), (Region{48, 0, 216, 240}));
  EXPECT_EQ(region_inside_bars(framed(0, 100, 0, 100)), all);
  EXPECT_EQ(region_inside_bars(render({.width = 320, .height = 240}, test::flat(16), 0)), all);
  EXPECT_EQ(region_inside_bars(render(gray_format(8, 8), test::flat(16), 0)), (Region{0, 0, 8, 8}));
}

TEST(SceneRange, TheNoiseOfCountsIsMeasuredWhereMostAreZero) {
  const FrameFormat format = gray_format(160, 120);
  NoiseStatistics sum;
  Frame before;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    const Frame frame = counts_frame(format, cells, 12, seed);
    sum.add(cpu::measure_noise(frame, seed > 1 ? &before : nullptr, scene_range(frame)));
    before = frame;
  }
  const NoiseModel model = model_of(sum, cpu::estimate_noise(before));
  const auto at = [&](double photons) {
    return double{model.sigma[0]} *
           double{deviation_at(model.shape[0].curve, static_cast<float>(12 * photons))};
  };
  EXPECT_NEAR(at(5) / at(0.4) / std::sqrt(5 / 0.4), 0.9, 0.2);
  EXPECT_GT(at(5), 0.9 * 12 * std::sqrt(5));
  EXPECT_LT(at(5), 1.8 * 12 * std::sqrt(5));
}

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

// True if frames of two textures, of which the second has these shares, are a fade.
bool fades(const FrameFormat& format, const std::array<double, 3>& shares, float sigma, int motion = 0) {
  std::array<Frame, 3> frames;
  for (int i = 0; i < 3; ++i) {
    frames[i] = render(
        format,
        [&](int p, int x, int y) {
          return (1 - shares[i]) * test::textured(p, x + i * motion, y) +
                 shares[i] * test::textured(p, y, x + 60);
        },
        sigma, static_cast<unsigned>(i) + 1);
  }
  return is_fade(frames[0], frames[1], frames[2]);
}

TEST(IsFade, IsTrueOfEqualStepsInWeakNoise) {
  for (const FrameFormat& format :
       {gray_format(160, 120), gray_format(72, 64, 10), gray_format(640, 90, 32)}) {
    EXPECT_TRUE(fades(format, {0, 0.25, 0.5}, 0));
    EXPECT_TRUE(fades(format, {0.9, 0.6, 0.3}, 0.5));
    EXPECT_FALSE(fades(format, {0, 0.25, 0.5}, 20)) << "noise";
    EXPECT_FALSE(fades(format, {0, 0, 0.5}, 0)) << "a cut";
    EXPECT_FALSE(fades(format, {0, 0, 0}, 0)) << "a still picture";
    EXPECT_FALSE(fades(format, {0, 0, 0}, 5)) << "a still picture with noise";
    EXPECT_FALSE(fades(format, {0, 0, 0}, 0, 5)) << "motion";
  }
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
