// SPDX-License-Identifier: MIT
#include "core/stream/noise_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene.h"
#include "cpu/noise/noise.h"
#include "tests/core/engine/forwarding_engine.h"
#include "tests/core/noise/scenes.h"

namespace limpid {
namespace {

using test::error_of;
using test::gray_format;
using test::render;
using test::textured;

Frame moving(int index, float sigma, double brightness = 0) {
  return render(
      gray_format(160, 120),
      [=](int p, int x, int y) { return textured(p, x + 2 * index, y + 60) + brightness; }, sigma,
      static_cast<unsigned>(index) + 1);
}

NoiseModel model_of_frame(const Frame& frame) {
  return noise::model_of(cpu::measure_noise(frame, nullptr), cpu::estimate_noise(frame));
}

class NoiseTrackerTest : public testing::Test {
 protected:
  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
};

TEST_F(NoiseTrackerTest, AveragesTheFirstFramesOfASectionAndThenHolds) {
  NoiseTracker tracker(*engine_);
  double variances = 0;
  noise::NoiseStatistics statistics;
  NoiseModel level;
  Frame before;
  for (int i = 0; i < NoiseTracker::kFramesToAverage; ++i) {
    const Frame frame = moving(i, 15);
    variances += std::pow(double{cpu::estimate_noise(frame).sigma[0]}, 2);
    statistics.add(cpu::measure_noise(frame, i > 0 ? &before : nullptr));
    statistics.patches = i > 0 ? statistics.patches : noise::patch_deviations(frame, {});
    level = tracker.next(frame);
    const auto white = static_cast<float>(std::sqrt(variances / (i + 1)));
    EXPECT_EQ(level, noise::model_of(statistics, {{white}}));
    before = frame;
  }
  for (int i = NoiseTracker::kFramesToAverage; i < NoiseTracker::kSection; ++i) {
    EXPECT_EQ(tracker.next(moving(i, 15)), level) << "frame " << i;
  }
}

TEST_F(NoiseTrackerTest, SectionsOfASceneAreJoined) {
  NoiseTracker tracker(*engine_);
  std::vector<NoiseModel> levels;
  constexpr int kFrames = 150;
  for (int i = 0; i < kFrames; ++i) {
    const NoiseModel level = tracker.next(moving(i, 6));
    if (i > NoiseTracker::kFramesToAverage) {
      EXPECT_NEAR(level.sigma[0] / 6, 1, 0.04) << i;
    }
    if (levels.empty() || level != levels.back()) {
      levels.push_back(level);
    }
  }
  // The first frames of the clip, then once a section.
  EXPECT_EQ(std::ssize(levels), NoiseTracker::kFramesToAverage + (kFrames - 6) / NoiseTracker::kSection);
}

// A clip with a cut, a step, growing noise, an odd frame, and a frame that is held.
Frame eventful(int i) {
  if (i == 120) {
    return moving(i, 25, -60);
  }
  if (i < 77) {
    return moving(i, i < 40 ? 4.0F : 9.0F);
  }
  const int held = i > 140 && i < 165 ? 140 : i;
  return moving(held, 3 + static_cast<float>(held - 77) / 12, -60);
}

// A still picture that dissolves to another between two frames, with this noise.
Frame dissolving(int index, int from, int to, float sigma) {
  const double share = std::clamp((index - from) / static_cast<double>(to - from), 0.0, 1.0);
  return render(
      gray_format(160, 120),
      [=](int p, int x, int y) {
        const double page = x / 3 % 4 == 1 && y / 5 % 3 < 2 ? 20 : 235;
        return (1 - share) * page + share * (textured(p, y, x + 60) - 60);
      },
      sigma, static_cast<unsigned>(index) + 1);
}

// Dissolves of 10, 24 and 100 frames. The last one is longer than the sections that a model depends on.
Frame dissolves(int i) {
  return i < 50   ? dissolving(i, 27, 37, 2)
         : i < 90 ? dissolving(i, 60, 84, 0)
                  : dissolving(i, 96, 196, i < 96 ? 2.0F : 0.0F);
}

// The models of frames that begin at `first`, which know five later frames.
std::vector<NoiseModel> models_from(Engine& engine, Frame (*frame)(int), int first, int end) {
  constexpr int kAhead = 5;
  NoiseTracker tracker(engine);
  std::vector<NoiseModel> models;
  for (int i = first; i < end; ++i) {
    tracker.observe(frame(i));
    if (i >= first + kAhead) {
      models.push_back(tracker.take());
    }
  }
  return models;
}

TEST_F(NoiseTrackerTest, AModelDependsOnTheLastSectionsAlone) {
  constexpr int kFrames = 200;
  constexpr auto kSection = static_cast<int>(NoiseTracker::kSection);
  constexpr auto kBefore = static_cast<int>(NoiseTracker::kBefore);
  for (const auto frame : {eventful, dissolves}) {
    const std::vector<NoiseModel> all = models_from(*engine_, frame, 0, kFrames);
    for (int first = kSection; first + kBefore < kFrames; first += kSection) {
      const std::vector<NoiseModel> own =
          models_from(*engine_, frame, first, std::min(first + kBefore + kSection + 10, kFrames));
      for (int i = kBefore; i < std::ssize(own); ++i) {
        EXPECT_EQ(own[i], all[first + i]) << "frame " << first + i;
      }
    }
  }
}

TEST_F(NoiseTrackerTest, ADissolveIsNoNoise) {
  for (const int frames : {4, 12, 25}) {
    for (const int from : {0, 3, 12, 31}) {
      NoiseTracker tracker(*engine_);
      for (int i = 0; i < from + frames + 10; ++i) {
        tracker.observe(dissolving(i, from, from + frames, 0));
        if (i >= 5) {
          EXPECT_FALSE(tracker.take().has_noise()) << frames << " frames from " << from << ", " << i - 5;
        }
      }
    }
  }
}

TEST_F(NoiseTrackerTest, ADissolveHasTheNoiseOfThePicturesAroundIt) {
  constexpr int kFrom = 12;
  constexpr int kTo = 20;
  NoiseTracker tracker(*engine_);
  for (int i = 0; i < kTo + 20; ++i) {
    tracker.observe(dissolving(i, kFrom, kTo, i < kTo ? 1.5F : 4.0F));
    if (i >= 5) {
      EXPECT_NEAR(error_of(tracker.take().sigma[0], i - 5 <= kTo ? 1.5 : 4), 0, 0.2) << i - 5;
    }
  }
}

/// Counts the requested measurements.
class CountingEngine final : public test::ForwardingEngine {
 public:
  CountingEngine() : ForwardingEngine("counting", {}) {}
  NoiseModel estimate_noise(const Frame& /*frame*/) override {
    ++estimates_;
    return {{15}};
  }
  int estimates() const { return estimates_; }

 private:
  int estimates_ = 0;
};

// As where motion is too fast to be followed.
class EngineWithoutMotion final : public test::ForwardingEngine {
 public:
  EngineWithoutMotion() : ForwardingEngine("without motion", {}) {}
  noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* /*before*/,
                                       const noise::SceneRange& range) override {
    return cpu::measure_noise(frame, nullptr, range);
  }
};

TEST_F(NoiseTrackerTest, SectionsOfLostMotionKeepTheLevel) {
  EngineWithoutMotion engine;
  for (const float sigma : {4.0F, 12.0F}) {
    NoiseTracker tracker(engine);
    float first = 0;
    for (int i = 0; i < 4 * NoiseTracker::kSection; ++i) {
      const Frame frame = render(
          gray_format(160, 120), [](int p, int x, int y) { return textured(p, x, y + 60); }, sigma,
          static_cast<unsigned>(i) + 1);
      const float level = tracker.next(frame).sigma[0];
      if (i < NoiseTracker::kFramesToAverage) {
        first = level;
      }
      EXPECT_NEAR(level / first, 1, 0.05) << "frame " << i;
    }
  }
}

TEST_F(NoiseTrackerTest, AsksForFewEstimatesOnceTheLevelIsKnown) {
  CountingEngine engine;
  NoiseTracker tracker(engine);
  const Frame same = moving(0, 15);
  constexpr int kFrames = NoiseTracker::kSection;
  for (int i = 0; i < kFrames; ++i) {
    tracker.next(same);
  }
  constexpr int kAveraged = NoiseTracker::kFramesToAverage;
  EXPECT_EQ(engine.estimates(), kAveraged + kFrames / NoiseTracker::kCheckIntervalOfSmall);
}

TEST_F(NoiseTrackerTest, HoldsTheLevelWhileAFrameIsRepeated) {
  NoiseTracker tracker(*engine_);
  NoiseModel level;
  for (int i = 0; i < 12; ++i) {
    level = tracker.next(moving(i, 10));
  }
  EXPECT_NEAR(error_of(level.sigma[0], 10), 0, 0.1);
  const Frame held = moving(12, 10);
  for (int i = 0; i < 3 * NoiseTracker::kSection; ++i) {
    EXPECT_EQ(tracker.next(held), level) << i;
  }
}

TEST_F(NoiseTrackerTest, StartsAgainAtASceneCut) {
  NoiseTracker tracker(*engine_);
  for (int i = 0; i < 12; ++i) {
    tracker.next(moving(i, 5));
  }
  const Frame first = moving(12, 20, -80);
  EXPECT_EQ(tracker.next(first), model_of_frame(first));
}

TEST_F(NoiseTrackerTest, StartsAgainAtASceneCutInStrongNoise) {
  NoiseTracker tracker(*engine_);
  for (int i = 0; i < 12; ++i) {
    tracker.next(moving(i, 50));
  }
  const Frame first = moving(12, 50, -30);
  EXPECT_EQ(tracker.next(first), model_of_frame(first));
}

TEST_F(NoiseTrackerTest, FollowsAChangeOfNoiseInTheSameScene) {
  NoiseTracker tracker(*engine_);
  for (int i = 0; i < 20; ++i) {
    tracker.next(moving(i, 5));
  }
  NoiseModel level;
  for (int i = 20; i < 32; ++i) {
    level = tracker.next(moving(i, 12));
  }
  EXPECT_NEAR(error_of(level.sigma[0], 12), 0, 0.1);
}

TEST_F(NoiseTrackerTest, IsNotMovedByASingleOddFrame) {
  NoiseTracker tracker(*engine_);
  NoiseModel level;
  for (int i = 0; i < 16; ++i) {
    level = tracker.next(moving(i, 5));
  }
  for (int i = 16; i < 72; ++i) {
    EXPECT_NEAR(tracker.next(moving(i, i % 8 == 7 ? 12.0F : 5.0F)).sigma[0] / level.sigma[0], 1, 0.02)
        << "frame " << i;
  }
}

TEST_F(NoiseTrackerTest, RecoversFromABlackBeginning) {
  NoiseTracker tracker(*engine_);
  const Frame black = render(
      gray_format(160, 120), [](int, int, int) { return 16.0; }, 0);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(tracker.next(black).sigma[0], 0);
  }
  tracker.next(moving(0, 10));
  EXPECT_NEAR(error_of(tracker.next(moving(1, 10)).sigma[0], 10), 0, 0.1);
}

TEST_F(NoiseTrackerTest, KnowsMoreOfAFrameOnceLaterOnesAreSeen) {
  NoiseTracker tracker(*engine_);
  std::vector<NoiseModel> levels;
  for (int i = 0; i < 12; ++i) {
    // Another scene from frame 6 on.
    tracker.observe(moving(i, i < 6 ? 5.0F : 20.0F, i < 6 ? 0 : -80));
    if (i >= 2) {
      levels.push_back(tracker.take());
    }
  }
  levels.push_back(tracker.take());
  levels.push_back(tracker.take());
  for (int i = 0; i < 12; ++i) {
    EXPECT_NEAR(error_of(levels[i].sigma[0], i < 6 ? 5 : 20), 0, 0.15) << "frame " << i;
  }
}

// The models of a clip whose noise steps from one level to another at a frame, when five later frames are
// known.
std::vector<NoiseModel> models_of_step(Engine& engine, int step, float before, float after) {
  constexpr int kFrames = 28;
  constexpr int kAhead = 5;
  NoiseTracker tracker(engine);
  std::vector<NoiseModel> models;
  for (int i = 0; i < kFrames; ++i) {
    tracker.observe(moving(i, i < step ? before : after));
    if (i >= kAhead) {
      models.push_back(tracker.take());
    }
  }
  return models;
}

TEST_F(NoiseTrackerTest, AStepChangesTheModelFromItsFrameOn) {
  for (const auto& [before, after] :
       {std::pair{4.0F, 20.0F}, std::pair{18.0F, 3.0F}, std::pair{10.0F, 13.0F}}) {
    for (int step = 9; step < 17; ++step) {
      const std::vector<NoiseModel> models = models_of_step(*engine_, step, before, after);
      for (int i = 0; i < static_cast<int>(models.size()); ++i) {
        const float sigma = i < step ? before : after;
        EXPECT_NEAR(error_of(models[i].sigma[0], sigma), 0, 0.1)
            << before << " to " << after << " at " << step << ", frame " << i;
      }
    }
  }
}

TEST_F(NoiseTrackerTest, AStepSoonAfterACutIsFound) {
  const std::vector<NoiseModel> models = models_of_step(*engine_, 4, 5, 15);
  EXPECT_NEAR(error_of(models[3].sigma[0], 5), 0, 0.1);
  EXPECT_NEAR(error_of(models[4].sigma[0], 15), 0, 0.1);
}

TEST_F(NoiseTrackerTest, AStepIsFoundOneFrameLaterInLiveVideo) {
  for (int step = 9; step < 17; ++step) {
    NoiseTracker tracker(*engine_);
    for (int i = 0; i < step + 1; ++i) {
      tracker.next(moving(i, i < step ? 5.0F : 12.0F));
    }
    EXPECT_NEAR(error_of(tracker.next(moving(step + 1, 12)).sigma[0], 12), 0, 0.15) << step;
  }
}

// A still page, with a noisy picture in a corner from frame `begin` on.
Frame page(int index, int begin, float sigma) {
  Frame frame = render(
      gray_format(320, 192), [](int, int x, int y) { return x / 3 % 4 == 1 && y / 5 % 3 < 2 ? 20.0 : 235.0; },
      0.0F);
  const Frame camera = moving(index, sigma);
  for (int y = 0; y < 96 && index >= begin; ++y) {
    std::copy_n(camera.planes[0].row<const std::uint8_t>(y), 128,
                frame.planes[0].row<std::uint8_t>(y + 96) + 192);
  }
  return frame;
}

TEST_F(NoiseTrackerTest, AnInsetOnAStillPageHasItsOwnNoise) {
  constexpr int kBegin = 21;
  const Region inset{.x = 192, .y = 96, .width = 128, .height = 96};
  for (const float sigma : {4.0F, 12.0F}) {
    NoiseTracker at_once(*engine_);
    NoiseTracker later(*engine_);
    for (int i = 0; i < kBegin + 12; ++i) {
      const NoiseModel model = at_once.next(page(i, 0, sigma));
      if (i > 0) {
        EXPECT_EQ(model.area, inset) << i;
        EXPECT_NEAR(error_of(model.sigma[0], sigma), 0, 0.15) << i;
      }
      const NoiseModel later_model = later.next(page(i, kBegin, sigma));
      if (i > 0 && i < kBegin) {
        EXPECT_FALSE(later_model.has_noise()) << i;
      } else if (i >= kBegin + 8) {
        EXPECT_EQ(later_model.area, inset) << i;
        EXPECT_NEAR(error_of(later_model.sigma[0], sigma), 0, 0.15) << i;
      }
    }
  }
}

TEST_F(NoiseTrackerTest, AnInsetBesideBarsIsFoundAtItsPlace) {
  NoiseTracker tracker(*engine_);
  NoiseModel model;
  for (int i = 0; i < 3; ++i) {
    Frame frame = page(i, 0, 12);
    for (int y = 0; y < frame.format.height; ++y) {
      std::fill_n(frame.planes[0].row<std::uint8_t>(y), 32, std::uint8_t{16});
    }
    model = tracker.next(frame);
  }
  ASSERT_TRUE(model.area);
  EXPECT_NEAR(model.area->x, 192, 16);  // blocks count from the bar's edge
  EXPECT_NEAR(model.area->x + model.area->width, 320, 16);
}

TEST_F(NoiseTrackerTest, AWindowThatOpensIsNoNoise) {
  for (const int begin : {1, 3, 9}) {
    NoiseTracker tracker(*engine_);
    for (int i = 0; i < 24; ++i) {
      Frame frame = page(0, 1, 0);
      for (int y = 40; y < 140 && i >= begin; ++y) {
        auto* const row = frame.planes[0].row<std::uint8_t>(y);
        for (int x = 60; x < 240; ++x) {
          row[x] = x / 4 % 5 == 2 && y / 6 % 3 < 2 ? 40 : 200;
        }
      }
      tracker.observe(frame);
      if (i >= 5) {
        EXPECT_FALSE(tracker.take().has_noise()) << begin << ", frame " << i - 5;
      }
    }
  }
}

TEST_F(NoiseTrackerTest, AFrameThatBeginsAnewIsAnotherScene) {
  NoiseTracker tracker(*engine_);
  for (int i = 0; i < 6; ++i) {
    tracker.next(moving(i, 5));
  }
  Frame frame = moving(6, 20);
  frame.begins_anew = true;
  EXPECT_NEAR(error_of(tracker.next(frame).sigma[0], 20), 0.05, 0.2);
}

}  // namespace
}  // namespace limpid
