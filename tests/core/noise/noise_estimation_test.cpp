// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/scene.h"
#include "cpu/noise/noise.h"
#include "tests/core/noise/scenes.h"

namespace limpid {
namespace {

using test::constant;
using test::error_of;
using test::gray_format;
using test::render;
using test::Scene;
using test::textured;

TEST(EstimateNoise, MeasuresPureNoiseAtEveryDepth) {
  for (const int depth : {8, 10, 16, 32}) {
    for (const float sigma : {2.0F, 5.0F, 10.0F, 25.0F, 50.0F}) {
      const Frame frame = render(gray_format(256, 200, depth), constant, sigma);
      EXPECT_NEAR(error_of(cpu::estimate_noise(frame).sigma[0], sigma), 0, sigma < 5 ? 0.08 : 0.04)
          << depth << " bit, sigma " << sigma;
    }
  }
}

TEST(EstimateNoise, SeesThroughTexture) {
  for (const int depth : {8, 10}) {
    for (const float sigma : {2.0F, 5.0F, 10.0F, 25.0F, 50.0F}) {
      const Frame frame = render(gray_format(240, 200, depth), textured, sigma);
      EXPECT_NEAR(error_of(cpu::estimate_noise(frame).sigma[0], sigma), 0, 0.1)
          << depth << " bit, sigma " << sigma;
    }
  }
}

TEST(EstimateNoise, FindsAlmostNothingInACleanPicture) {
  EXPECT_LT(cpu::estimate_noise(render(gray_format(240, 200), textured, 0)).sigma[0], 0.5F);
}

TEST(EstimateNoise, AccountsForClippedSamples) {
  for (const double level : {0.0, 4.0, 20.0, 235.0, 255.0}) {
    for (const float sigma : {5.0F, 20.0F, 50.0F}) {
      // The other half is not clipped at smaller noise levels, so that there is a reference.
      const Scene scene = [level](int, int x, int) { return x < 128 ? level : 90 + 0.3 * x; };
      EXPECT_NEAR(error_of(cpu::estimate_noise(render(gray_format(256, 200), scene, sigma)).sigma[0], sigma),
                  0, 0.1)
          << "level " << level << ", sigma " << sigma;
    }
  }
}

TEST(EstimateNoise, MeasuresDarkPicturesOfWhichNothingIsUnclipped) {
  for (const float sigma : {20.0F, 50.0F}) {
    const Frame frame = render(
        gray_format(256, 200), [](int, int, int) { return 20.0; }, sigma);
    EXPECT_NEAR(error_of(cpu::estimate_noise(frame).sigma[0], sigma), 0, 0.12) << sigma;
  }
}

TEST(EstimateNoise, ConstantPlanesHaveNone) {
  for (const int depth : {8, 10, 16, 32}) {
    for (const double value : {0.0, 77.0, 255.0}) {
      const Frame frame = render(
          gray_format(64, 64, depth), [value](int, int, int) { return value; }, 0);
      EXPECT_EQ(cpu::estimate_noise(frame).sigma[0], 0) << depth << " bit, " << value;
    }
  }
}

TEST(EstimateNoise, FloatSamplesMayBeAnything) {
  Frame frame = render(gray_format(256, 200, 32), constant, 10);
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  int column = 3;
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 1e30F}) {
    for (int y = 0; y < 200; y += 7) {
      frame.planes[0].row<float>(y)[column] = odd;
    }
    column += 20;
  }
  EXPECT_NEAR(cpu::estimate_noise(frame).sigma[0], 10, 0.5);
  float all = 0;
  for (const float share : brightness_histogram(frame)) {
    all += share;
  }
  EXPECT_EQ(all, 1);
}

TEST(EstimateNoise, BarsAroundThePictureDoNotCount) {
  Frame frame = render(gray_format(256, 200), constant, 10);
  for (int y = 0; y < 200; ++y) {
    if (y < 30 || y >= 170) {
      std::fill_n(frame.planes[0].row<std::uint8_t>(y), 256, std::uint8_t{16});
    }
  }
  EXPECT_NEAR(cpu::estimate_noise(frame).sigma[0], 10, 0.5);
}

TEST(EstimateNoise, PlanesTooSmallToTellGiveZero) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 2}, {7, 9}, {15, 300}, {300, 15}}) {
    EXPECT_EQ(cpu::estimate_noise(render(gray_format(width, height), constant, 20)).sigma[0], 0)
        << width << "x" << height;
  }
}

TEST(EstimateNoise, SmallPlanesGiveARoughValue) {
  EXPECT_NEAR(error_of(cpu::estimate_noise(render(gray_format(16, 16), constant, 20)).sigma[0], 20), 0, 0.4);
  EXPECT_NEAR(error_of(cpu::estimate_noise(render(gray_format(44, 36), constant, 20)).sigma[0], 20), 0, 0.15);
}

TEST(EstimateNoise, MeasuresEachPlaneByItself) {
  const FrameFormat format = {.width = 241,
                              .height = 179,
                              .color_model = ColorModel::kYuv,
                              .chroma_shift_x = 1,
                              .chroma_shift_y = 1,
                              .has_alpha = true};
  const NoiseModel noise = {{20, 5, 10}};
  const NoiseModel estimate = cpu::estimate_noise(render(format, constant, noise));
  for (int p = 0; p < 3; ++p) {
    EXPECT_NEAR(error_of(estimate.sigma[p], double{noise.sigma[p]}), 0, 0.05) << "plane " << p;
  }
}

TEST(EstimateNoise, LooksAtOneFieldOfInterlacedFrames) {
  // The second field is full of texture that cannot be distinguished from noise.
  std::mt19937 generator(7);
  const Scene fields = [&](int, int, int y) { return y % 2 == 0 ? 80 : 100 + generator() % 100; };
  Frame frame = render(gray_format(256, 256), fields, 10);
  EXPECT_GT(cpu::estimate_noise(frame).sigma[0], 15);
  frame.interlaced = true;
  EXPECT_NEAR(cpu::estimate_noise(frame).sigma[0], 10, 0.5);
}

TEST(EstimateNoise, IsTheSameForTheSameSamples) {
  const Frame frame = render(gray_format(333, 222), textured, 12);
  Frame shifted = allocate_frame(gray_format(400, 222));  // other stride and alignment
  for (int y = 0; y < 222; ++y) {
    std::copy_n(frame.planes[0].row<std::uint8_t>(y), 333, shifted.planes[0].row<std::uint8_t>(y) + 5);
  }
  shifted.format = frame.format;
  shifted.planes[0].width = 333;
  shifted.planes[0].data += 5;
  EXPECT_EQ(cpu::estimate_noise(frame), cpu::estimate_noise(shifted));
}

}  // namespace
}  // namespace limpid
