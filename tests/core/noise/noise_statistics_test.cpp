// SPDX-License-Identifier: MIT
// Colored noise measured in frames and in their differences: pictures of known noise, still and moving, of
// all formats.
#include "core/noise/noise_statistics.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/scene.h"
#include "cpu/noise/noise.h"
#include "tests/core/noise/scenes.h"
#include "tests/oracle/pictures.h"

namespace limpid::noise {
namespace {

using test::error_of;
using test::gray_format;
using test::make_noise;
using test::Noise;
using test::noisy;
using test::Scene;
using test::striped;

// The model from `frames` successive frames of a scene that moves by (2, 1) from frame to frame.
NoiseEstimate model_of_clip(const FrameFormat& format, const Scene& scene, const Noise& noise, int frames) {
  NoiseStatistics sum;
  NoiseModel white;
  Frame before;
  for (int i = 0; i < frames; ++i) {
    const Frame frame = noisy(
        format, [&](int p, int x, int y) { return scene(p, x + 2 * i, y + i); }, noise,
        static_cast<unsigned>(i));
    sum.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
    sum.patches = i > 0 ? sum.patches : patch_deviations(frame, {});
    white = cpu::estimate_noise(frame);
    before = frame;
  }
  return model_of(sum, white);
}

double slope_of(const NoiseShape& shape) {
  return std::sqrt(double{shape.spectrum[63]} / double{shape.spectrum[9]});
}

TEST(NoiseStatistics, ActivitiesAreHalfOctaves) {
  EXPECT_EQ(activity_of(0), 0);
  EXPECT_EQ(activity_of(1e-9F), 0);
  EXPECT_EQ(activity_of(0x1p-13F), 0);
  for (int i = 1; i < kActivities; ++i) {
    const double limit = std::exp2(kLeastActivityExponent + i / 2.0);
    EXPECT_EQ(activity_of(static_cast<float>(limit * 1.0001)), i);
    EXPECT_EQ(activity_of(static_cast<float>(limit * 0.9999)), i - 1);
  }
  EXPECT_EQ(activity_of(1e30F), kActivities - 1);
  EXPECT_EQ(class_of(-5, {}), 0);
  EXPECT_EQ(class_of(15.9F, {}), 0);
  EXPECT_EQ(class_of(16, {}), 1);
  EXPECT_EQ(class_of(1000, {}), kClasses - 1);
}

TEST(NoiseStatistics, NothingTellsNothing) {
  const NoiseModel white{{5, 6, 7}};
  EXPECT_EQ(model_of({}, white), white);
  NoiseStatistics rgb;
  rgb.rgb = true;
  EXPECT_EQ(model_of(rgb, white), white);
}

TEST(NoiseStatistics, LevelsAreEighthsOfOctaves) {
  EXPECT_EQ(level_of(0), 0);
  EXPECT_EQ(level_of(0x1p-13F), 0);
  EXPECT_EQ(level_of(1), 13 * kLevelsPerOctave);
  EXPECT_EQ(level_of(1e30F), kLevels - 1);
  for (int i = 1; i < kLevels; ++i) {
    const double middle = std::exp2(kLeastActivityExponent + (i + 0.5) / kLevelsPerOctave);
    EXPECT_EQ(level_of(static_cast<float>(middle)), i);
  }
}

TEST(NoiseStatistics, LevelsOfBlocksAreThoseOfTheNoise) {
  const Frame frame = noisy(gray_format(320, 240), test::constant, {10}, 1);
  const std::vector<double> levels = cpu::measure_noise(frame, nullptr).channels[0].levels;
  double blocks = 0;
  double sum = 0;
  for (int i = 0; i < kLevels; ++i) {
    blocks += levels[i];
    sum += levels[i] * std::exp2(kLeastActivityExponent + (i + 0.5) / kLevelsPerOctave);
  }
  EXPECT_EQ(blocks, single_grid(320, 240).blocks());
  EXPECT_NEAR(sum / blocks, 100, 3);
}

TEST(NoiseStatistics, WhiteNoiseIsMeasuredInClipsAndPictures) {
  for (const double sigma : {3.0, 10.0, 30.0}) {
    for (const int frames : {1, 3}) {
      if (frames == 1 && sigma < 5) {
        continue;  // the texture of a single picture hides weak noise
      }
      SCOPED_TRACE(std::to_string(sigma) + ", " + std::to_string(frames));
      // A single picture shows its noise in flat places alone.
      const NoiseModel model =
          model_of_clip(gray_format(320, 240), frames == 1 ? striped : test::textured, {sigma}, frames);
      EXPECT_TRUE(frames == 1 || model.shape[0].is_white());
      EXPECT_NEAR(error_of(model.sigma[0], sigma), 0, frames == 1 ? 0.2 : sigma < 5 ? 0.15 : 0.1);
    }
  }
}

TEST(NoiseStatistics, LevelsOfChromaAreThoseOfTheBestFiltering) {
  const NoiseEstimate model = model_of_clip(oracle::yuv(320, 240, 1, 1), test::textured, {5}, 3);
  EXPECT_EQ(model.chroma_strength[0], 0);
  for (const int p : {1, 2}) {
    EXPECT_GE(model.chroma_strength[p], 1);
    EXPECT_LT(model.chroma_strength[p], 1.5F);
  }
}

TEST(NoiseStatistics, SmoothNoiseIsFoundInMotion) {
  for (const int depth : {8, 10, 32}) {
    SCOPED_TRACE(depth);
    const NoiseModel model = model_of_clip(gray_format(320, 240, depth), striped, {10, true}, 4);
    // Codecs cause such noise, too, and leave less of it in differences, for which the level is raised.
    EXPECT_GT(model.sigma[0], 9);
    EXPECT_LT(model.sigma[0], 13);
    EXPECT_LT(slope_of(model.shape[0]), 0.15);
    EXPECT_GT(model.shape[0].spectrum[9], 3);
  }
}

TEST(NoiseStatistics, MeasuredNoiseHasTheDeviationOfTheNoise) {
  for (const bool smooth : {false, true}) {
    const NoiseEstimate model = model_of_clip(oracle::yuv(320, 240, 1, 1), striped, {10, smooth}, 6);
    const NoiseModel measured = model.as_measured();
    for (int p = 0; p < 3; ++p) {
      EXPECT_NEAR(error_of(measured.sigma[p], 10), 0, 0.08) << "smooth " << smooth << ", plane " << p;
    }
  }
}

TEST(NoiseStatistics, SmoothNoiseIsFoundInEveryFormat) {
  const Scene scene = [](int p, int x, int y) { return p == 0 ? striped(p, x, y) : 120 + 0.02 * x + 5 * p; };
  for (const FrameFormat& format :
       {oracle::yuv(320, 240, 1, 1), oracle::yuv(321, 243, 1, 0), oracle::yuv(320, 240, 0, 0)}) {
    SCOPED_TRACE(to_string(format));
    const NoiseModel model = model_of_clip(format, scene, {8, true}, 4);
    for (int p = 0; p < 3; ++p) {
      EXPECT_GT(model.sigma[p], 7) << p;
      EXPECT_LT(model.sigma[p], p == 0 ? 10.4F : 12.4F)
          << p << ": subsampled chroma is filtered best above its noise";
      EXPECT_LT(slope_of(model.shape[p]), 0.2) << p;
    }
    EXPECT_EQ(model.opponent[0].sigma, 0);
  }
}

TEST(NoiseStatistics, OpponentChannelsOfRgbHaveTheirOwn) {
  const FrameFormat format = oracle::rgb(320, 240);
  const NoiseModel model = model_of_clip(format, striped, {9, true}, 4);
  EXPECT_NEAR(error_of(model.opponent[0].sigma, 9 / std::sqrt(3)), 0.1, 0.2);
  EXPECT_NEAR(error_of(model.opponent[1].sigma, 9 / std::sqrt(2)), 0.1, 0.3);
  EXPECT_NEAR(error_of(model.sigma[0], 9), 0.1, 0.25);
}

// Yellow on black: no sample of blue is above 0 by more than its noise.
TEST(NoiseStatistics, IsFoundInSaturatedColors) {
  const Scene yellow = [](int p, int x, int y) { return p < 2 ? striped(p, x, y) : -60; };
  const Frame frame = test::render(oracle::rgb(320, 240), yellow, 9);
  const SceneRange range = scene_range(frame);
  EXPECT_TRUE(range.saturated);
  EXPECT_FALSE(scene_range(test::render(oracle::rgb(320, 240), striped, 9)).saturated);
  const NoiseModel model = model_of(cpu::measure_noise(frame, nullptr, range), cpu::estimate_noise(frame));
  EXPECT_NEAR(error_of(model.sigma[0], 9), 0, 0.3);
  EXPECT_NEAR(error_of(model.sigma[1], 9), 0, 0.3);
  EXPECT_EQ(model_of(cpu::measure_noise(frame, nullptr), {}).evidence.source, NoiseSource::kNotMeasurable);
}

TEST(NoiseStatistics, SmoothNoiseIsFoundInASinglePictureWithFlatPlaces) {
  const NoiseModel model = model_of_clip(gray_format(320, 240), striped, {6, true}, 1);
  EXPECT_GT(model.sigma[0], 6);
  EXPECT_LT(model.sigma[0], 13);
  EXPECT_LT(slope_of(model.shape[0]), 0.4);
}

// Stones of any brightness, as in a bed of gravel, with edges two samples wide.
std::vector<double> stones(int side, unsigned seed) {
  std::mt19937 random(seed);
  const auto number = [&random](double least, double most) {
    return least + (most - least) * static_cast<double>(random()) / 0x1p32;
  };
  std::vector<double> picture(static_cast<std::size_t>(side) * side, 128);
  for (int i = 0; i < side * side / 4; ++i) {
    const double radius = number(1, 5);
    const double center_x = number(0, side);
    const double center_y = number(0, side);
    const double gray = number(40, 216);
    const auto first = [radius](double center) { return std::max(0, static_cast<int>(center - radius - 1)); };
    const auto end = [&](double center) { return std::min(side, static_cast<int>(center + radius + 2)); };
    for (int y = first(center_y); y < end(center_y); ++y) {
      for (int x = first(center_x); x < end(center_x); ++x) {
        const double distance = std::hypot(x - center_x, y - center_y);
        double& sample = picture[static_cast<std::size_t>(y) * side + x];
        sample += std::clamp((radius + 1 - distance) / 2, 0.0, 1.0) * (gray - sample);
      }
    }
  }
  return picture;
}

TEST(NoiseStatistics, TextureOfASinglePictureIsNoStrongNoise) {
  constexpr int kSide = 256;
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::vector<double> picture = stones(kSide, seed);
    const auto scene = [&](int /*plane*/, int x, int y) { return picture[y * kSide + x]; };
    const float level = model_of_clip(gray_format(kSide, kSide), scene, {0, false}, 1).sigma[0];
    EXPECT_LE(level, 2.5) << seed;
  }
}

TEST(NoiseStatistics, EdgesOfADrawingAreNoNoise) {
  for (const int side : {8, 16, 23}) {
    const auto board = [side](int /*plane*/, int x, int y) {
      return 20.0 + (x / side * 7919 + y / side * 104729) % 200;
    };
    for (const int width : {96, 192, 640}) {
      const FrameFormat format = gray_format(width, width * 3 / 4);
      EXPECT_EQ(model_of_clip(format, board, {0, false}, 1).sigma[0], 0) << side << ", " << width;
      EXPECT_LT(model_of_clip(format, board, {2, false}, 1).sigma[0], 5) << side << ", " << width;
    }
  }
}

// Means of (2 radius + 1)^2 samples; the picture is periodic.
std::vector<double> blurred(const std::vector<double>& samples, int width, int height, int radius) {
  std::vector<double> means(samples.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      double sum = 0;
      for (int dy = -radius; dy <= radius; ++dy) {
        for (int dx = -radius; dx <= radius; ++dx) {
          sum += samples[(y + dy + height) % height * width + (x + dx + width) % width];
        }
      }
      means[y * width + x] = sum / std::pow(2 * radius + 1, 2);
    }
  }
  return means;
}

// As after demosaicking.
TEST(NoiseStatistics, BlotchesOfChromaAreFoundInASingleRgbPicture) {
  const int width = 320;
  const int height = 240;
  const std::vector<double> luma = make_noise(width, height, 6, true, 1);
  std::vector<double> chroma = make_noise(width, height, 20, false, 2);
  chroma = blurred(blurred(chroma, width, height, 2), width, height, 1);
  double in_blocks = 0;  // variance of the DCs
  for (const double mean : blurred(chroma, width, height, 4)) {
    in_blocks += std::pow(kBlock * mean, 2) / (width * height);
  }
  // R = Y + U, G = Y, B = Y - U.
  const Frame frame = test::render(
      oracle::rgb(width, height),
      [&](int p, int x, int y) {
        return striped(0, x, y) + luma[y * width + x] + (1 - p) * chroma[y * width + x];
      },
      0);
  const NoiseModel model = model_of(cpu::measure_noise(frame, nullptr), cpu::estimate_noise(frame));
  const PlaneNoise& found = model.opponent[1];
  const float dc = found.sigma * std::sqrt(found.shape.spectrum[0]);
  // Cameras leave less noise in flat areas, so the level is raised.
  EXPECT_GT(dc, std::sqrt(in_blocks));
  EXPECT_LT(dc, 2.4 * std::sqrt(in_blocks));
  EXPECT_LT(found.shape.spectrum[0], 64);
  EXPECT_LT(slope_of(found.shape), 0.2);
  EXPECT_LT(model.opponent[2].sigma, model.opponent[0].sigma) << "V has none";
}

TEST(NoiseStatistics, IsFoundWhereBrightnessRunsIntoWhiteOrBlack) {
  for (const double first : {60.0, -70.0}) {
    const Scene ramp = [first](int, int x, int) { return first + 260.0 * x / 320; };
    for (const double sigma : {3.0, 10.0, 20.0}) {
      SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(sigma));
      const NoiseModel model = model_of_clip(gray_format(320, 240), ramp, {sigma}, 4);
      EXPECT_NEAR(error_of(model.sigma[0], sigma), 0, 0.2);
    }
  }
}

TEST(NoiseStatistics, CleanScenesHaveNone) {
  // Content between samples cannot be followed exactly.
  const Scene scene = [](int, int x, int y) {
    return 120 + 40 * std::sin(0.031 * x + 0.4) * std::cos(0.023 * y) +
           (y % 120 < 60 ? 20 * std::sin(0.9 * x + 0.7 * y) : 0);
  };
  for (const double part : {0.0, 0.25, 0.5}) {
    NoiseStatistics sum;
    Frame before;
    for (int i = 0; i < 4; ++i) {
      const Frame frame = test::render(
          gray_format(320, 240),
          [&](int p, int x, int y) {
            const double a = scene(p, x + i, y);
            return a + part * (scene(p, x + i + 1, y) - a);
          },
          0);
      sum.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
      before = frame;
    }
    EXPECT_LT(model_of(sum, {}).sigma[0], 1) << part;
  }
}

TEST(NoiseStatistics, NoiseThatFallsWithBrightnessHasACurve) {
  const Scene scene = [](int, int x, int y) { return (y & 64) == 0 ? 60 + 0.02 * x : 180 + 0.02 * x; };
  NoiseStatistics sum;
  NoiseModel white;
  Frame before;
  for (int i = 0; i < 4; ++i) {
    const std::vector<double> noise = make_noise(320, 240, 1, false, static_cast<unsigned>(i));
    const Frame frame = test::render(
        gray_format(320, 240),
        [&](int p, int x, int y) { return scene(p, x, y) + ((y & 64) == 0 ? 12 : 6) * noise[y * 320 + x]; },
        0);
    sum.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
    white = cpu::estimate_noise(frame);
    before = frame;
  }
  const NoiseModel model = model_of(sum, white);
  const auto& curve = model.shape[0].curve;
  EXPECT_NEAR(double{curve[4] / curve[12]}, 2, 0.2);
  EXPECT_EQ(curve[0], curve[2]);
  EXPECT_LT(curve[8], curve[4]);
  EXPECT_GT(curve[8], curve[12]);
  EXPECT_EQ(curve[16], curve[13]);
}

// Luma is dark in one half and bright in the other, and chroma is constant.
TEST(NoiseStatistics, ChromasCurveIsByLumasBrightness) {
  const auto model_of_chroma = [](const FrameFormat& format, double dark, double bright) {
    NoiseStatistics sum;
    NoiseModel white;
    Frame before;
    for (unsigned i = 0; i < 4; ++i) {
      const std::array<std::vector<double>, 3> noise = {make_noise(320, 240, 1, false, i),
                                                        make_noise(320, 240, 1, false, 100 + i),
                                                        make_noise(320, 240, 1, false, 200 + i)};
      const Frame frame = test::render(
          format,
          [&](int p, int x, int y) {
            const bool is_dark = ((y << (p > 0 ? format.chroma_shift_y : 0)) & 64) == 0;
            const double deviation = p == 0 ? 5 : is_dark ? dark : bright;
            return (p > 0 ? 120 : is_dark ? 60 : 180) + deviation * noise[p][y * 320 + x];
          },
          0);
      sum.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
      white = cpu::estimate_noise(frame);
      before = frame;
    }
    return model_of(sum, white);
  };
  for (const FrameFormat& format :
       {oracle::yuv(320, 240, 1, 1), oracle::yuv(320, 240, 1, 0, 10), oracle::yuv(319, 239, 1, 1),
        oracle::yuv(320, 240, 2, 0), oracle::yuv(320, 240, 0, 0)}) {
    SCOPED_TRACE(to_string(format));
    const NoiseModel uneven = model_of_chroma(format, 8, 3);
    const NoiseModel even = model_of_chroma(format, 6, 6);
    for (const int p : {1, 2}) {
      const auto& curve = uneven.shape[p].curve;
      EXPECT_NEAR(double{curve[3] / curve[12]}, std::sqrt(8.0 / 3), 0.1);
      for (const float deviation : even.shape[p].curve) {
        EXPECT_NEAR(deviation, 1, 0.05);
      }
      EXPECT_GT(even.sigma[p], 5.5F);
      EXPECT_LT(even.sigma[p], 13.5F) << "flat chroma is filtered best at a higher level";
    }
  }
}

TEST(NoiseStatistics, ChromaThatLostItsNoiseHasALowLevel) {
  const FrameFormat format = oracle::yuv(320, 240, 1, 1);
  for (const double chroma : {0.0, 1.0}) {
    SCOPED_TRACE(chroma);
    NoiseStatistics sum;
    Frame before;
    for (unsigned i = 0; i < 4; ++i) {
      const std::vector<double> luma = make_noise(320, 240, 8, true, i);
      const std::vector<double> smooth = make_noise(160, 120, chroma, true, 100 + i);
      const std::vector<double> white = make_noise(160, 120, 0.7 * chroma, false, 200 + i);
      const Frame frame = test::render(
          format,
          [&](int p, int x, int y) {
            return p == 0 ? 100 + 0.05 * x + luma[y * 320 + x]
                          : 110 + 0.1 * x + smooth[y * 160 + x] + white[y * 160 + x];
          },
          0);
      sum.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
      before = frame;
    }
    const NoiseModel model = model_of(sum, {});
    if (chroma > 0) {
      EXPECT_LT(model.sigma[1], 0.4F * model.sigma[0]);
    } else {
      EXPECT_LT(model.sigma[1], 0.5F);
    }
  }
}

TEST(NoiseStatistics, CopiedBlocksTellNothing) {
  const Frame frame = noisy(gray_format(160, 120), test::textured, {10}, 1);
  const NoiseStatistics statistics = cpu::measure_noise(frame, &frame);
  EXPECT_EQ(statistics.channels[0].copied, 20 * 15);
  for (const Energies& bin : statistics.channels[0].differences) {
    EXPECT_EQ(bin.blocks, 0);
  }
}

// Text that scrolls by an odd number of samples: luma is copied but for a few blocks, and chroma differs.
TEST(NoiseStatistics, AFewChangesOfACopiedPictureAreNoNoise) {
  const FrameFormat format = oracle::yuv(320, 240, 1, 1);
  const Frame before = noisy(format, test::textured, {10}, 1);
  const Frame frame = noisy(format, test::textured, {10}, 2);
  NoiseStatistics statistics = cpu::measure_noise(frame, &before);
  ChannelStatistics& luma = statistics.channels[0];
  const double changes = count_of(luma.differences);
  const auto source_with = [&](double repeated, double lost) {
    luma.repeated = repeated * changes;  // a low frame rate
    luma.lost = lost * changes;          // lines that come into view
    return model_of(statistics, {}).evidence.source;
  };
  EXPECT_NE(source_with(10, 0), NoiseSource::kRepeatedFrames);
  EXPECT_EQ(source_with(20, 0), NoiseSource::kRepeatedFrames);
  EXPECT_EQ(source_with(20, 15), NoiseSource::kRepeatedFrames);
  EXPECT_FALSE(model_of(statistics, {}).has_noise());
  EXPECT_NE(source_with(20, 25), NoiseSource::kRepeatedFrames);
  EXPECT_GT(model_of(statistics, {}).sigma[1], 5);
}

TEST(NoiseStatistics, AnySizeWillDo) {
  for (const int width : {1, 7, 8, 9, 16, 17, 40}) {
    for (const int height : {1, 8, 15, 33}) {
      const Frame a = noisy(oracle::yuv(width, height, 1, 1), test::textured, {10}, 1);
      const Frame b = noisy(oracle::yuv(width, height, 1, 1), test::textured, {10}, 2);
      const NoiseStatistics statistics = cpu::measure_noise(b, &a);
      EXPECT_LE(model_of(statistics, {}).sigma[0], 255);
    }
  }
}

TEST(NoiseStatistics, SamplesMayBeAnything) {
  Frame frame = noisy(gray_format(160, 120, 32), test::textured, {10}, 1);
  const Frame before = noisy(gray_format(160, 120, 32), test::textured, {10}, 2);
  for (int y = 0; y < 120; y += 3) {
    float* row = frame.planes[0].row<float>(y);
    row[y] = std::numeric_limits<float>::quiet_NaN();
    row[y + 1] = std::numeric_limits<float>::infinity();
    row[y + 2] = -1e30F;
  }
  NoiseModel model = model_of(cpu::measure_noise(frame, &before), cpu::estimate_noise(frame));
  EXPECT_NO_THROW(model.validate());
}

TEST(NoiseStatistics, InterlacedFramesTellOfTheirFirstFields) {
  Frame frame = noisy(gray_format(160, 120), test::textured, {10, true}, 1);
  Frame before = noisy(gray_format(160, 120), test::textured, {10, true}, 2);
  const auto field = [](Frame whole) {
    whole.format.height /= 2;
    whole.planes[0].height /= 2;
    whole.planes[0].stride *= 2;
    return whole;
  };
  const Frame first = field(frame);
  const Frame first_before = field(before);
  frame.interlaced = before.interlaced = true;
  EXPECT_EQ(model_of(cpu::measure_noise(frame, &before), {}),
            model_of(cpu::measure_noise(first, &first_before), {}));
}

TEST(NoiseStatistics, ThreadsDoNotMatter) {
  const Frame a = noisy(oracle::yuv(320, 240, 1, 1), test::textured, {10, true}, 1);
  const Frame b = noisy(oracle::yuv(320, 240, 1, 1), test::textured, {10, true}, 2);
  const NoiseModel model = model_of(cpu::measure_noise(b, &a), {});
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  EXPECT_EQ(model_of(cpu::measure_noise(b, &a), {}), model);
}

// Noise that is clipped in either frame of a pair is reduced.
TEST(NoiseStatistics, ClippedBlocksOfEitherFrameAreLeftOut) {
  const FrameFormat format = gray_format(160, 120);
  const auto flat = [&](double brightness, unsigned seed) {
    return test::render(
        format, [=](int, int, int) { return brightness; }, 8, seed);
  };
  const auto blocks_of = [](const Frame& frame, const Frame& before) {
    const ChannelStatistics channel = cpu::measure_noise(frame, &before).channels[0];
    return count_of(channel.differences) + channel.lost + channel.copied;
  };
  EXPECT_GT(blocks_of(flat(215, 1), flat(215, 2)), 100);
  EXPECT_LT(blocks_of(flat(215, 1), flat(253, 2)), 5);
  EXPECT_LT(blocks_of(flat(253, 1), flat(215, 2)), 5);
}

}  // namespace
}  // namespace limpid::noise
