// SPDX-License-Identifier: MIT
// Noise in differences of frames, and its evidence: uniformity, followed blocks, curves of any shape.
#include "core/noise/difference_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"
#include "cpu/noise/noise.h"
#include "tests/core/noise/scenes.h"

namespace limpid::noise {
namespace {

using test::gray_format;
using test::make_noise;
using test::render;
using test::Scene;

constexpr int kPictureWidth = 320;
constexpr int kPictureHeight = 240;

struct MeasuredClip {
  NoiseStatistics statistics;
  NoiseModel white;

  const ChannelStatistics& luma() const { return statistics.channels[0]; }
  NoiseEstimate model() const { return model_of(statistics, white); }
};

// Frames of a scene that is a function of the frame number.
template <typename At>
MeasuredClip measured(const FrameFormat& format, int frames, const At& at) {
  MeasuredClip clip;
  Frame before;
  for (int i = 0; i < frames; ++i) {
    const Frame frame = render(format, at(i), 0);
    clip.statistics.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
    clip.white = cpu::estimate_noise(frame);
    before = frame;
  }
  return clip;
}

double pattern(int x, int y) { return 20 * std::sin(0.05 * x) * std::cos(0.04 * y); }

TEST(OctavesOf, IsTheLogarithm) {
  for (double energy = 1e-3; energy < 1e6; energy *= 1.37) {
    EXPECT_NEAR(octaves_of(static_cast<float>(energy)) * kOctave, std::log2(energy), 0.01) << energy;
  }
  EXPECT_EQ(octaves_of(0), octaves_of(0x1p-13F));
}

// Expects a curve of the right shape. Where the picture has no texture, a level above the noise's deviation
// has the best result.
template <typename Level>
void expect_curve(const NoiseModel& model, const Level& level, const std::vector<double>& brightnesses) {
  std::vector<double> ratios;
  for (const double brightness : brightnesses) {
    const float deviation = deviation_at(model.shape[0].curve, static_cast<float>(brightness));
    ratios.push_back(double{model.sigma[0]} * double{deviation} / level(brightness));
  }
  const double mean = std::accumulate(ratios.begin(), ratios.end(), 0.0) / static_cast<double>(ratios.size());
  EXPECT_GT(mean, 0.9);
  EXPECT_LT(mean, 1.5);
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    EXPECT_NEAR(ratios[i] / mean, 1, 0.15) << brightnesses[i];
  }
}

TEST(DifferenceNoise, IsReliableWhereBlocksAreUniform) {
  const MeasuredClip noisy = measured(gray_format(kPictureWidth, kPictureHeight), 3, [](int i) {
    return [noise = make_noise(kPictureWidth, kPictureHeight, 6, false, static_cast<unsigned>(i))](
               int, int x, int y) { return 120 + pattern(x, y) + noise[y * kPictureWidth + x]; };
  });
  const auto found = difference_noise(noisy.luma(), ChannelKind::kLuma);
  ASSERT_TRUE(found);
  EXPECT_GT(found->uniformity, 0.95);
  EXPECT_EQ(found->reliability, 1);
  EXPECT_GT(found->visibility, 0.7);
  EXPECT_NEAR(std::sqrt(found->most_variance), 6, 0.2);
}

// Remaining texture in few blocks does not raise the level of the others.
TEST(DifferenceNoise, IsThatOfMostBlocks) {
  const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight), 4, [](int i) {
    return [noise = make_noise(kPictureWidth, kPictureHeight, 1, false, static_cast<unsigned>(i))](int, int x,
                                                                                                   int y) {
      const double share = (x / 8 * 37 + y / 8 * 101) % 97 / 97.0;
      return 120 + pattern(x, y) + (4 + 60 * std::pow(share, 8)) * noise[y * kPictureWidth + x];
    };
  });
  const auto found = difference_noise(clip.luma(), ChannelKind::kLuma);
  ASSERT_TRUE(found);
  EXPECT_NEAR(clip.model().sigma[0], 4.2, 1);
}

TEST(DifferenceNoise, NeedsFollowedBlocks) {
  // Each frame shows other content.
  const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight), 3, [](int i) {
    return [i](int, int x, int y) {
      return 128 + 60 * std::sin((0.11 + 0.07 * i) * x + 2 * i) * std::sin((0.13 + 0.05 * i) * y + 3 * i);
    };
  });
  EXPECT_LT(followed_share(clip.luma()), 0.25);
  EXPECT_FALSE(difference_noise(clip.luma(), ChannelKind::kLuma));
  EXPECT_NE(clip.model().evidence.source, NoiseSource::kMotion);
}

TEST(DifferenceNoise, RepeatedFramesAreNoEvidence) {
  const Scene text = [](int, int x, int y) { return (x * 7 + y * 13) % 11 < 4 && y % 12 < 9 ? 20.0 : 235.0; };
  const MeasuredClip clip =
      measured(gray_format(kPictureWidth, kPictureHeight), 4, [&](int) { return text; });
  EXPECT_GT(clip.white.sigma[0], 10) << "the estimate of single frames is high";
  const NoiseEstimate model = clip.model();
  EXPECT_EQ(model.sigma[0], 0);
  EXPECT_EQ(model.evidence.source, NoiseSource::kRepeatedFrames);
}

TEST(DifferenceNoise, AHeldPictureOfWhiteNoiseIsNoisy) {
  const std::vector<double> noise = make_noise(kPictureWidth, kPictureHeight, 12, false, 1);
  const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight), 4, [&](int) {
    return [&](int, int x, int y) { return 120 + pattern(x, y) + noise[y * kPictureWidth + x]; };
  });
  EXPECT_NEAR(clip.model().sigma[0], 12, 1.2);
}

TEST(DifferenceNoise, IsFoundWhereEveryFrameIsShownTwice) {
  const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight), 7, [](int i) {
    return [noise = make_noise(kPictureWidth, kPictureHeight, 6, false, static_cast<unsigned>(i / 2))](
               int, int x, int y) { return 120 + pattern(x, y) + noise[y * kPictureWidth + x]; };
  });
  EXPECT_NEAR(clip.model().sigma[0], 6, 0.6);
}

// A dialog appears on a static page.
TEST(DifferenceNoise, AChangeOfAStillPageIsNoEvidence) {
  const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight), 6, [](int i) {
    return [i](int, int x, int y) {
      const bool changed = i >= 3 && x > 100 && x < 180 && y > 80 && y < 140;
      return ((x + (changed ? 5 : 0)) * 7 + y * 13) % 11 < 4 && y % 12 < 9 ? 20.0 : 235.0;
    };
  });
  const NoiseEstimate model = clip.model();
  EXPECT_EQ(model.sigma[0], 0);
  EXPECT_EQ(model.evidence.source, NoiseSource::kRepeatedFrames);
}

// The class between them has texture in all blocks. The nearer class counts more for it.
TEST(DifferenceNoise, AHiddenLevelIsThatOfTheNearestClasses) {
  ChannelStatistics channel;
  channel.differences.resize(std::size_t{kClasses} * kActivities);
  const auto add = [&](int number, double variance, double least_texture, double uniformity) {
    int activity = 0;
    while (texture_of(activity) < least_texture) {
      ++activity;
    }
    Energies& bin = channel.differences[static_cast<std::size_t>(number * kActivities + activity)];
    bin.blocks = 1000;
    bin.octaves = bin.blocks * std::log2(uniformity * variance);
    bin.energy.fill(bin.blocks * variance);
  };
  add(2, 4 * 4, 4, 1);
  add(3, 12 * 12, 4000, 0.5);
  add(7, 40 * 40, 400, 1);
  const auto found = difference_noise(channel, ChannelKind::kLuma);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->curve[3] / found->curve[2], 1.15F, 0.08F);
}

// A 16-bit camera with 2.2 values per photon and an offset of 100.
TEST(DifferenceNoise, TheCurveSpansThePartOfTheRangeThatIsFilled) {
  constexpr double kNumber = 1.0 / 257;  // in 8-bit code values
  const auto level = [](double brightness) {
    return std::sqrt(2.2 * std::max(brightness / kNumber - 100, 4.0)) * kNumber;
  };
  const FrameFormat format = gray_format(kPictureWidth, kPictureHeight, 16);
  const auto frame_of = [&](int i) {
    return render(
        format,
        [=, noise = make_noise(kPictureWidth, kPictureHeight, 1, false, static_cast<unsigned>(i))](int, int x,
                                                                                                   int y) {
          const double brightness = (120 + 400.0 * x / kPictureWidth) * kNumber;
          return brightness + level(brightness) * noise[y * kPictureWidth + x];
        },
        0);
  };
  const SceneRange range = scene_range(frame_of(0));
  const BrightnessScale& scale = range.scale;
  EXPECT_NEAR(scale.origin, 120 * kNumber, 10 * kNumber);
  EXPECT_NEAR(scale.spacing, 50 * kNumber, 6 * kNumber);
  NoiseStatistics statistics;
  Frame before = frame_of(0);
  for (int i = 1; i < 6; ++i) {
    const Frame frame = frame_of(i);
    statistics.add(cpu::measure_noise(frame, &before, range));
    before = frame;
  }
  const NoiseModel model = model_of(statistics, cpu::estimate_noise(before));
  expect_curve(model, level, {160 * kNumber, 250 * kNumber, 350 * kNumber, 480 * kNumber});
}

// Photon noise rises with brightness; log and PQ change its shape.
TEST(DifferenceNoise, TheCurveHasAnyShape) {
  for (const bool rises : {true, false}) {
    SCOPED_TRACE(rises);
    const auto level = [rises](double brightness) {
      return rises ? 0.9 * std::sqrt(brightness) : 16 * std::exp(-brightness / 60);
    };
    const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight, 16), 5, [&](int i) {
      return [=, noise = make_noise(kPictureWidth, kPictureHeight, 1, false, static_cast<unsigned>(i))](
                 int, int x, int y) {
        const double brightness = 24 + 200.0 * x / kPictureWidth;
        return brightness + level(brightness) * noise[y * kPictureWidth + x];
      };
    });
    const NoiseEstimate model = clip.model();
    expect_curve(model, level, {48, 80, 128, 176, 208});
  }
}

// On its own scale, a picture that fills a sixteenth of its range has the noise of one that fills it.
TEST(DifferenceNoise, WeakNoiseOfDeepSamplesIsFound) {
  for (const int depth : {12, 16, 32}) {
    for (const double scale : {1.0 / 16, 1.0 / 64}) {
      SCOPED_TRACE(std::to_string(depth) + ", " + std::to_string(scale));
      const MeasuredClip clip = measured(gray_format(kPictureWidth, kPictureHeight, depth), 4, [&](int i) {
        return
            [=, noise = make_noise(kPictureWidth, kPictureHeight, 12, false, static_cast<unsigned>(i))](
                int, int x, int y) { return scale * (120 + pattern(x, y) + noise[y * kPictureWidth + x]); };
      });
      EXPECT_NEAR(static_cast<double>(clip.model().sigma[0]) / (12 * scale), 1, 0.08);
    }
  }
}

}  // namespace
}  // namespace limpid::noise
