#include "core/cpu/noise/noise_estimation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

#include "core/noise/noise_tracker.h"
#include "tests/core/noise/track_noise.h"

namespace limpid {
namespace {

FrameFormat gray_format(int width, int height, int bit_depth = 8) {
  FrameFormat format = {.width = width, .height = height};
  format.bit_depth = bit_depth;
  format.sample_type = bit_depth == 8    ? SampleType::kUint8
                       : bit_depth == 32 ? SampleType::kFloat32
                                         : SampleType::kUint16;
  return format;
}

using Scene = std::function<double(int plane, int x, int y)>;

// A picture of `scene`, in code values, with Gaussian noise added, rounded and clipped as a file's samples
// are; float samples are not clipped.
Frame render(const FrameFormat& format, const Scene& scene, const NoiseLevel& noise, unsigned seed = 1) {
  Frame frame = allocate_frame(format);
  std::mt19937 generator(seed);
  std::normal_distribution<double> gaussian;
  const double greatest = std::exp2(format.bit_depth) - 1;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        const double value =
            (scene(p, x, y) + double{noise.sigma[p]} * gaussian(generator)) * format.code_value();
        const double rounded = std::clamp(std::round(value), 0.0, greatest);
        switch (format.sample_type) {
          case SampleType::kUint8:
            plane.row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(rounded);
            break;
          case SampleType::kUint16:
            plane.row<std::uint16_t>(y)[x] = static_cast<std::uint16_t>(rounded);
            break;
          case SampleType::kFloat32:
            plane.row<float>(y)[x] = static_cast<float>(value);
            break;
        }
      }
    }
  }
  return frame;
}

Frame render(const FrameFormat& format, const Scene& scene, float sigma, unsigned seed = 1) {
  return render(format, scene, NoiseLevel{{sigma, sigma, sigma}}, seed);
}

double constant(int /*plane*/, int /*x*/, int /*y*/) { return 128; }

// Fine gratings in the upper half, discs and a checkerboard in the rest, between slopes: no more than a third
// of the picture is free of texture.
double textured(int /*plane*/, int x, int y) {
  const double slope = 90 + 0.2 * x + 0.1 * y;
  if (y < 90) {
    return slope + 30 * std::sin(x * (1.1 + y / 200.0)) * std::cos(y * 0.9);
  }
  if (x % 80 < 40) {
    return (x / 3 + y / 3) % 2 == 0 ? slope : slope - 50;
  }
  return std::hypot(x % 80 - 60, y % 50 - 25) < 12 ? 200 : slope;
}

// Relative error of an estimate.
double error_of(float estimate, double sigma) { return double{estimate} / sigma - 1; }

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
      // The other half isn't clipped at smaller levels of noise, so that there is something to compare.
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
  for (const float share : brightness(frame)) {
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
  const NoiseLevel noise = {{20, 5, 10}};
  const NoiseLevel estimate = cpu::estimate_noise(render(format, constant, noise));
  for (int p = 0; p < 3; ++p) {
    EXPECT_NEAR(error_of(estimate.sigma[p], double{noise.sigma[p]}), 0, 0.05) << "plane " << p;
  }
}

TEST(EstimateNoise, LooksAtOneFieldOfInterlacedFrames) {
  // The second field is full of texture that nothing tells from noise.
  std::mt19937 generator(7);
  const Scene fields = [&](int, int, int y) { return y % 2 == 0 ? 80 : 100 + generator() % 100; };
  Frame frame = render(gray_format(256, 256), fields, 10);
  EXPECT_GT(cpu::estimate_noise(frame).sigma[0], 15);
  frame.interlaced = true;
  EXPECT_NEAR(cpu::estimate_noise(frame).sigma[0], 10, 0.5);
}

TEST(EstimateNoise, IsTheSameForTheSameSamples) {
  const Frame frame = render(gray_format(333, 222), textured, 12);
  Frame shifted = allocate_frame(gray_format(400, 222));  // another stride and alignment
  for (int y = 0; y < 222; ++y) {
    std::copy_n(frame.planes[0].row<std::uint8_t>(y), 333, shifted.planes[0].row<std::uint8_t>(y) + 5);
  }
  shifted.format = frame.format;
  shifted.planes[0].width = 333;
  shifted.planes[0].data += 5;
  EXPECT_EQ(cpu::estimate_noise(frame), cpu::estimate_noise(shifted));
}

Frame moving(int index, float sigma, double brightness = 0) {
  return render(
      gray_format(160, 120),
      [=](int p, int x, int y) { return textured(p, x + 2 * index, y + 60) + brightness; }, sigma,
      static_cast<unsigned>(index) + 1);
}

TEST(NoiseTracker, AveragesTheFirstFramesAndThenHolds) {
  NoiseTracker tracker;
  double variances = 0;
  NoiseLevel level;
  for (int i = 0; i < 8; ++i) {
    const Frame frame = moving(i, 15);
    variances += std::pow(double{cpu::estimate_noise(frame).sigma[0]}, 2);
    level = track_noise(tracker, frame);
    EXPECT_NEAR(double{level.sigma[0]}, std::sqrt(variances / (i + 1)), 1e-4);
  }
  for (int i = 8; i < 40; ++i) {
    EXPECT_EQ(track_noise(tracker, moving(i, 15)), level) << "frame " << i;
  }
}

TEST(NoiseTracker, AsksForFewEstimatesOnceTheLevelIsKnown) {
  NoiseTracker tracker;
  const Brightness same = brightness(moving(0, 15));
  int estimates = 0;
  constexpr int kFrames = 40;
  for (int i = 0; i < kFrames; ++i) {
    tracker.update(same, [&] {
      ++estimates;
      return NoiseLevel{{15}};
    });
  }
  EXPECT_EQ(estimates, 8 + (kFrames - 8) / 8);
}

TEST(NoiseTracker, StartsAgainAtASceneCut) {
  NoiseTracker tracker;
  for (int i = 0; i < 12; ++i) {
    track_noise(tracker, moving(i, 5));
  }
  const Frame first = moving(12, 20, -80);
  EXPECT_EQ(track_noise(tracker, first), cpu::estimate_noise(first));
}

TEST(NoiseTracker, FollowsAChangeOfNoiseInTheSameScene) {
  NoiseTracker tracker;
  for (int i = 0; i < 20; ++i) {
    track_noise(tracker, moving(i, 5));
  }
  NoiseLevel level;
  for (int i = 20; i < 32; ++i) {
    level = track_noise(tracker, moving(i, 12));
  }
  EXPECT_NEAR(error_of(level.sigma[0], 12), 0, 0.1);
}

TEST(NoiseTracker, IsNotMovedByASingleOddFrame) {
  NoiseTracker tracker;
  NoiseLevel level;
  for (int i = 0; i < 16; ++i) {
    level = track_noise(tracker, moving(i, 5));
  }
  for (int i = 16; i < 40; ++i) {
    EXPECT_EQ(track_noise(tracker, moving(i, i % 8 == 7 ? 12.0F : 5.0F)), level) << "frame " << i;
  }
}

TEST(NoiseTracker, RecoversFromABlackBeginning) {
  NoiseTracker tracker;
  const Frame black = render(
      gray_format(160, 120), [](int, int, int) { return 16.0; }, 0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(track_noise(tracker, black).sigma[0], 0);
  }
  EXPECT_NEAR(error_of(track_noise(tracker, moving(0, 10)).sigma[0], 10), 0, 0.1);
}

}  // namespace
}  // namespace limpid
