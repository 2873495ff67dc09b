// SPDX-License-Identifier: MIT
// Passages that are repeated: their results in memory, and the window that plays them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/player/frame_refining.h"
#include "app/player/played_frame.h"
#include "core/base/error.h"
#include "tests/app/player/viewer_script.h"
#include "tests/oracle/pictures.h"

namespace limpid::app {
namespace {

/// A frame with a time and nothing else.
PlayedFramePointer frame_at(double time) {
  auto frame = std::make_shared<PlayedFrame>();
  frame->time = time;
  return frame;
}

TEST(LoopPositionTest, FindsTheFrameOfATimeAndEndsBehindTheLastOne) {
  LoopPosition position;
  EXPECT_FALSE(position.find({.time = 1, .before = false})) << "no frames";
  const auto frames = std::make_shared<LoopFrames>();
  frames->frames = {frame_at(1), frame_at(1.1), frame_at(1.2)};
  frames->begin = 0.95;
  position.set_frames(frames);
  EXPECT_FALSE(position.exists()) << "until a seek";
  EXPECT_FALSE(position.find({.time = 0.5, .before = false})) << "before the passage";
  ASSERT_TRUE(position.find({.time = 0.95, .before = false}));
  EXPECT_EQ(position.next(), frames->frames[0]) << "the first frame is behind the begin of the passage";
  ASSERT_TRUE(position.find({.time = 1.15, .before = false}));
  EXPECT_EQ(position.next(), frames->frames[1]);
  EXPECT_EQ(position.next(), frames->frames[2]);
  EXPECT_EQ(position.next(), nullptr);
  ASSERT_TRUE(position.find({.time = 1.1, .before = true}));
  EXPECT_EQ(position.next(), frames->frames[0]);
  EXPECT_FALSE(position.find({.time = 0.9, .before = true})) << "the frame before the passage";
  ASSERT_TRUE(position.find({.time = 1, .before = false}));
  position.set_frames(nullptr);
  EXPECT_FALSE(position.exists());
}

/// A denoiser that waits for two later frames and notes what it is given.
class Noting final : public Denoiser {
 public:
  struct Notes {
    std::vector<std::int64_t> context;
    std::vector<std::int64_t> frames;
  };
  explicit Noting(Notes& notes) : notes_(notes) {}
  void set_noise(const NoiseModel& /*noise*/) override {}
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override {
    (frame.context_only ? notes_.context : notes_.frames).push_back(frame.index);
    if (!frame.context_only) {
      held_.push_back(std::move(frame));
    }
  }
  std::optional<Frame> receive() override {
    if (held_.empty() || (!flushed_ && held_.size() <= 2)) {
      return std::nullopt;
    }
    Frame frame = std::move(held_.front());
    held_.pop_front();
    return frame;
  }
  void flush() override { flushed_ = true; }
  std::vector<std::string> warnings() const override { return {}; }
  Reach reach() const override { return {.before = 2, .after = 2}; }
  void reset() override { held_.clear(); }

 private:
  Notes& notes_;
  std::deque<Frame> held_;
  bool flushed_ = false;
};

/// A source of `count` frames, all of them `picture`.
FrameSource numbered_frames(const Frame& picture, int count, double per_second) {
  FrameSource source;
  const auto next = std::make_shared<int>(0);
  source.read = [next, picture, count]() -> io::Reader::Item {
    if (*next >= count) {
      return io::Reader::End{};
    }
    Frame frame = picture;
    frame.index = (*next)++;
    return frame;
  };
  source.seek = [next, count, per_second](double seconds, double before, const auto&...) {
    *next = std::clamp(static_cast<int>(std::ceil((seconds - before) * per_second - 0.01)), 0, count);
  };
  return source;
}

class LoopRenderingTest : public testing::Test {
 protected:
  static constexpr int kFrames = 40;
  static constexpr double kPerSecond = 10;

  LoopRenderingTest() {
    options_.frames_per_second = kPerSecond;
    stages_.engine = engine_registry().open("cpu", EngineOptions{1});
    stages_.open_again = [this] {
      ++opened_;
      return numbered_frames(picture_, kFrames, kPerSecond);
    };
    stages_.make_refiner = [this](const PlayerSettings&, const Frame&, const NoiseModel&) {
      return std::make_unique<Noting>(notes_);
    };
  }

  /// Computes a passage to its end. The frames that were delivered, if any.
  std::shared_ptr<const LoopFrames> render(const Passage& passage, float strength = 1) {
    std::shared_ptr<const LoopFrames> delivered;
    LoopRequest request{.passage = passage,
                        .settings = {},
                        .reach = reach_,
                        .begins_at = {},
                        .superseded = superseded_.get_token()};
    request.settings.filter.name = "bilateral";
    request.settings.noise.noise = NoiseProfile{NoiseModel{{5, 5, 5}}, std::nullopt};
    request.settings.noise.strength = {strength, strength};
    if (rendering_ == nullptr) {
      rendering_ = std::make_unique<LoopRendering>(
          stages_, options_, commands_,
          [this](const std::stop_token&, std::shared_ptr<const LoopFrames> frames) {
            delivered_ = std::move(frames);
          });
      thread_ = std::jthread([this] { rendering_->run(); });
    }
    std::atomic<bool> is_requested = false;
    commands_.post([&] {
      rendering_->request(request);
      is_requested = true;
    });
    while (!is_requested || rendering_->status().state == LoopStatus::State::kComputing) {
      std::this_thread::yield();
    }
    return std::exchange(delivered_, nullptr);
  }
  ~LoopRenderingTest() override { commands_.close(); }

  PlayerStages stages_;
  PlayerOptions options_;
  Reach reach_{.before = 2, .after = 3};
  Noting::Notes notes_;
  std::stop_source superseded_;
  std::unique_ptr<LoopRendering> rendering_;
  std::atomic<int> opened_ = 0;

 private:
  CommandQueue commands_;
  std::shared_ptr<const LoopFrames> delivered_;
  Frame picture_ = oracle::draw_picture(oracle::yuv(16, 16, 1, 1));
  std::jthread thread_;
};

TEST_F(LoopRenderingTest, FramesOfThePassageAreFilteredWithTheirNeighbors) {
  const auto loop = render({1.0, 2.0});
  ASSERT_NE(loop, nullptr);
  ASSERT_EQ(loop->frames.size(), 10U);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(loop->frames[i]->noisy.index, static_cast<std::int64_t>(10 + i));
    EXPECT_EQ(loop->frames[i]->denoised.index, static_cast<std::int64_t>(10 + i));
    EXPECT_FALSE(loop->frames[i]->noisy.context_only);
    EXPECT_TRUE(loop->frames[i]->is_refined);
    EXPECT_DOUBLE_EQ(loop->frames[i]->time, 1 + static_cast<double>(i) / 10);
  }
  EXPECT_EQ(notes_.context, (std::vector<std::int64_t>{8, 9, 20, 21, 22}));
  EXPECT_EQ(notes_.frames.size(), 10U);
  EXPECT_EQ(rendering_->status().state, LoopStatus::State::kComplete);
}

TEST_F(LoopRenderingTest, OtherSettingsNeedNoDecoding) {
  ASSERT_NE(render({1.0, 2.0}), nullptr);
  const auto loop = render({1.0, 2.0}, 2);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->frames[0]->settings.noise.strength.luma, 2);
  EXPECT_EQ(opened_, 1);
  ASSERT_NE(render({1.0, 2.1}), nullptr);
  EXPECT_EQ(opened_, 2);
}

TEST_F(LoopRenderingTest, AFilterWithoutNeighborsGetsThePassageAlone) {
  reach_ = {};
  ASSERT_NE(render({1.05, 2.0}), nullptr);
  EXPECT_EQ(notes_.frames.front(), 11);
  EXPECT_EQ(notes_.frames.size(), 9U);
  EXPECT_TRUE(notes_.context.empty());
}

TEST_F(LoopRenderingTest, SettingsOfBeforeAreNotComputedAgainWhileTheyFit) {
  const auto first = render({1.0, 2.0});
  ASSERT_NE(render({1.0, 2.0}, 2), nullptr);
  EXPECT_EQ(render({1.0, 2.0}), first);
  EXPECT_EQ(notes_.frames.size(), 20U);
  ASSERT_NE(render({1.0, 1.9}), nullptr) << "another passage";
  EXPECT_EQ(notes_.frames.size(), 29U);
  options_.loop_bytes = 25 * frame_bytes(oracle::yuv(16, 16, 1, 1));  // 14 decoded, 9 results
  ASSERT_NE(render({1.0, 1.9}, 2), nullptr);
  ASSERT_NE(render({1.0, 1.9}), nullptr);
  EXPECT_EQ(notes_.frames.size(), 47U) << "the results of before have made room";
}

TEST_F(LoopRenderingTest, AWholeSourceIsAPassage) {
  const auto loop = render({});
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->frames.size(), static_cast<std::size_t>(kFrames));
  EXPECT_TRUE(notes_.context.empty());
}

TEST_F(LoopRenderingTest, APassageBeyondTheMemoryIsNotComputed) {
  options_.loop_bytes = 10 * frame_bytes(oracle::yuv(16, 16, 1, 1));
  EXPECT_EQ(render({1.0, 2.0}), nullptr);
  EXPECT_EQ(rendering_->status().state, LoopStatus::State::kTooLong);
  EXPECT_TRUE(notes_.frames.empty());
}

TEST_F(LoopRenderingTest, AnErrorLeavesPlaybackAlone) {
  const DebugLog log;
  stages_.make_refiner = [](const PlayerSettings&, const Frame&,
                            const NoiseModel&) -> std::unique_ptr<Denoiser> { throw Error("no memory"); };
  const auto loop = render({1.0, 1.2});
  EXPECT_EQ(loop, nullptr);
  EXPECT_EQ(log.count("the repeated passage is not kept: no memory"), 1);
}

/// A denoiser that is too slow for the clip.
class Tired final : public Denoiser {
 public:
  explicit Tired(std::unique_ptr<Denoiser> own) : own_(std::move(own)) {}
  void set_noise(const NoiseModel& noise) override { own_->set_noise(noise); }
  void set_mix(float mix) override { own_->set_mix(mix); }
  void send(Frame frame) override { own_->send(std::move(frame)); }
  std::optional<Frame> receive() override {
    std::this_thread::sleep_for(25ms);
    return own_->receive();
  }
  void flush() override { own_->flush(); }
  std::vector<std::string> warnings() const override { return {}; }
  Reach reach() const override { return own_->reach(); }
  void reset() override { own_->reset(); }

 private:
  std::unique_ptr<Denoiser> own_;
};

/// A window on a clip that is repeated, with a slow draft.
class LoopWindow : public ViewerScript {
 public:
  LoopWindow() {
    frames = 200;
    options.duration = player_options.duration = frames / kRate;
    player_options.settings.filter.name = "vbm4d";  // whose draft has no later frames
    stages.make_refiner = stages.make_denoiser;
    stages.make_denoiser = [make = stages.make_denoiser](const PlayerSettings& settings, const Frame& frame,
                                                         const NoiseModel& level) {
      return std::make_unique<Tired>(make(settings, frame, level));
    };
    stages.open_again = [this] { return numbered_frames(picture, frames, kRate); };
  }

  static std::int64_t dropped(const Viewer& viewer) {
    return viewer.counters().dropped_before + viewer.counters().dropped_after;
  }
};

TEST(LoopTest, ARepeatedPassageIsPlayedFromMemoryWithoutADroppedFrame) {
  LoopWindow window;
  window.options.loop = true;
  window.options.passage = {0.496, 1.0};
  window.play([&](const Viewer& viewer) {
    EXPECT_TRUE(window.labels("noisy | denoised, draft (vbm4d np) - loop:"));
    EXPECT_TRUE(window.says("loop: final result from memory"));
    EXPECT_TRUE(window.labels("noisy | denoised, final"));
    EXPECT_GT(LoopWindow::dropped(viewer), 0) << "the draft was too slow";
    const std::int64_t denoised = viewer.counters().denoise.frames;
    bool is_smooth = false;
    for (int i = 0; i < 30 && !is_smooth; ++i) {  // other programs run beside the test
      const std::int64_t before = LoopWindow::dropped(viewer);
      EXPECT_TRUE(window.shows(viewer.counters().shown + 60));
      is_smooth = LoopWindow::dropped(viewer) == before;
    }
    EXPECT_TRUE(is_smooth);
    EXPECT_EQ(viewer.counters().denoise.frames, denoised);
  });
}

TEST(LoopTest, SpeedsBesideAComputationAreNotKept) {
  LoopWindow window;
  window.options.loop = true;
  window.options.passage = {0.5, 1.5};
  std::atomic<int> kept = 0;
  window.stages.measured = [&kept](const PlayerSettings&, double) { ++kept; };
  window.stages.make_refiner = window.stages.make_denoiser;  // which is slow
  window.play([&] {
    EXPECT_TRUE(window.shows(30));
    EXPECT_EQ(kept, 0);
  });
}

TEST(LoopTest, AChangedSettingIsComputedAgainWhileTheDraftPlays) {
  LoopWindow window;
  window.options.loop = true;
  window.options.passage = {0.5, 0.8};
  window.play([&](const Viewer& viewer) {
    ASSERT_TRUE(window.labels("noisy | denoised, final"));
    press("d");
    EXPECT_TRUE(window.labels("noisy | denoised, draft (vbm4d np)"));
    EXPECT_TRUE(window.labels("noisy | denoised, final"));
    EXPECT_EQ(viewer.chosen().noise.mix, 0.05F);
  });
}

TEST(LoopTest, KeysSetTheBeginAndTheEndAndStopIt) {
  LoopWindow window;
  const Statistics end = window.play([&](const Viewer& viewer) {
    ASSERT_TRUE(window.shows(1));
    press("l");
    EXPECT_TRUE(window.says("loop from 0:0"));
    ASSERT_TRUE(window.shows(viewer.counters().shown + 10));
    press("l");
    EXPECT_TRUE(window.says(" to 0:0"));
    EXPECT_TRUE(window.says("loop: final result from memory"));
    press("l");
    EXPECT_TRUE(window.says("no loop"));
  });
  EXPECT_NE(end.state, "end");
}

TEST(LoopTest, FinalFramesStayWhenTheLoopEnds) {
  LoopWindow window;
  window.options.loop = true;
  window.options.passage = {0.5, 0.7};
  window.play([&](const Viewer& viewer) {
    ASSERT_TRUE(window.labels("noisy | denoised, final"));
    press("l");
    ASSERT_TRUE(window.waits([&] { return !viewer.state().loops && viewer.shown()->time < 0.69; }));
    press(" ");
    EXPECT_TRUE(window.waits([&] { return viewer.shown()->is_refined && viewer.shown()->used.looks_ahead; }));
    press("END");
    EXPECT_TRUE(window.waits([&] { return viewer.shown()->time > 0.8; })) << "the source follows";
  });
}

TEST(LoopTest, APassageThatIsTooLongIsToldAndRepeatedAllTheSame) {
  LoopWindow window;
  window.options.loop = true;
  window.options.passage = {0.5, 0.7};
  window.player_options.loop_bytes = 1000;
  window.play([&](const Viewer& viewer) {
    EXPECT_TRUE(window.says("loop: too long for --loop-memory"));
    const std::int64_t shown = viewer.counters().shown;
    EXPECT_TRUE(window.shows(shown + 20));
    EXPECT_LT(viewer.counters().shown, 1000);
  });
}

TEST(LoopTest, APausedLastFrameStays) {
  LoopWindow window;
  window.options.keep_open = true;
  window.options.loop = true;
  window.options.passage = {0.5, 0.509};  // one frame
  window.play([&](const Viewer& viewer) {
    ASSERT_TRUE(window.shows(5));
    press(" ");
    ASSERT_TRUE(window.says("paused"));
    window.rests(100ms);
    const std::int64_t shown = viewer.counters().shown;
    window.rests(300ms);
    EXPECT_EQ(viewer.counters().shown, shown);
    press(" ");
    EXPECT_TRUE(window.shows(shown + 5)) << "the loop goes on";
  });
}

TEST(LoopTest, APassageWithoutALoopIsPlayedOnce) {
  LoopWindow window;
  window.options.keep_open = true;
  window.options.passage = {0.5, 0.6};
  const Statistics end = window.play(
      [&](const Viewer& viewer) { EXPECT_TRUE(window.waits([&] { return viewer.state().ended; })); });
  EXPECT_GE(end.frame, 50);
  EXPECT_LT(end.frame, 60);
}

}  // namespace
}  // namespace limpid::app
