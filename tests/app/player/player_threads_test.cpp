// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/player/frame_denoising.h"
#include "app/player/frame_reading.h"
#include "app/player/frame_refining.h"
#include "core/base/error.h"
#include "core/engines.h"
#include "tests/app/player/never_done.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

/// A denoiser that returns its frames.
class PassingThrough final : public Denoiser {
 public:
  void set_noise(const NoiseModel& /*noise*/) override {}
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override {
    frame_ = frame.context_only ? std::move(frame_) : std::optional(std::move(frame));
  }
  std::optional<Frame> receive() override { return std::exchange(frame_, std::nullopt); }
  void flush() override {}
  std::vector<std::string> warnings() const override { return {}; }
  void reset() override { frame_.reset(); }

 private:
  std::optional<Frame> frame_;
};

/// The queues of a player of 30 frames, 10 a second, for one of its threads.
class PlayerThread : public testing::Test {
 protected:
  static constexpr int kFrames = 30;
  static constexpr double kRate = 10;

  PlayerStages stages;
  PlayerOptions options;
  PlayerCounters counters;
  PlayerQueues queues{
      .reading = {},
      .denoising = {},
      .refining = {},
      .looping = {},
      .decoded = {false, counters.dropped_before},
      .presentation = {{.live = false, .frames_per_second = kRate, .wake = [] {}, .has_room = [] {}},
                       counters.dropped_after}};

  PlayerThread() {
    options.frames_per_second = kRate;
    options.kept_bytes = 0;
    options.settings.filter = {.name = "bm3d", .profile = "np", .parameters = {}};
    options.settings.noise.noise = NoiseProfile{NoiseModel{{1, 1, 1}}, std::nullopt};
    stages.engine = engine_registry().open("cpu");
    stages.read = [this]() -> io::Reader::Item {
      if (next_ >= kFrames) {
        return io::Reader::End{};
      }
      return frame(next_++);
    };
    stages.seek = [this](double seconds, double before, const auto&...) {
      next_ = std::max(0, static_cast<int>(std::ceil((seconds - before) * kRate - 0.01)));
    };
    stages.make_denoiser = stages.make_refiner = [](const PlayerSettings&, const Frame&, const NoiseModel&) {
      return std::make_unique<PassingThrough>();
    };
  }

  static Frame frame(int index) {
    Frame frame;
    frame.format.width = frame.format.height = 1;
    frame.index = index;
    return frame;
  }
  static PlayedFrame decoded(int index) {
    PlayedFrame decoded;
    decoded.noisy = frame(index);
    decoded.time = index / kRate;
    decoded.sequence = static_cast<std::uint64_t>(index);
    decoded.decoded_at = std::chrono::steady_clock::now();
    return decoded;
  }
  static std::shared_ptr<PlayedFrame> played(int index) {
    auto result = std::make_shared<PlayedFrame>();
    result->noisy = frame(index);
    result->time = index / kRate;
    result->sent_at = std::chrono::steady_clock::now();
    return result;
  }
  /// Calls a function until it returns something that holds, but not forever.
  template <typename Function>
  static auto wait_for(const Function& function) {
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    auto result = function();
    while (!result && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(1ms);
      result = function();
    }
    return result;
  }

 private:
  int next_ = 0;
};

class FrameReadingTest : public PlayerThread {
 protected:
  std::stop_source position;
  FrameReading reading{stages, options, counters, queues, position.get_token()};
  std::jthread thread{[this] { reading.run(); }};

  ~FrameReadingTest() override {
    position.request_stop();
    queues.reading.close();
  }
  FrameReadingTest() = default;
  FrameReadingTest(const FrameReadingTest&) = delete;
  FrameReadingTest& operator=(const FrameReadingTest&) = delete;
  FrameReadingTest(FrameReadingTest&&) = delete;
  FrameReadingTest& operator=(FrameReadingTest&&) = delete;

  /// As Player::seek() does.
  void seek(const SeekTarget& target) {
    position.request_stop();
    position = std::stop_source();
    queues.decoded.begin();
    queues.reading.post([this, target, token = position.get_token()] { reading.seek(target, token); });
  }
  /// The index of the next frame; -1 without one.
  std::int64_t take() {
    const std::optional<PlayedFrame> taken =
        wait_for([&] { return queues.decoded.take(position.get_token()); });
    queues.reading.wake();
    return taken ? taken->noisy.index : -1;
  }
};

TEST_F(FrameReadingTest, ReadsAFewFramesAheadUpToTheEnd) {
  ASSERT_TRUE(wait_for([&] { return queues.decoded.size() == 4; }));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(queues.decoded.size(), 4U);
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_EQ(take(), i);
  }
  EXPECT_TRUE(wait_for([&] { return queues.decoded.next(position.get_token()).has_ended; }));
}

TEST_F(FrameReadingTest, GoesToTheTargetOfTheLatestSeek) {
  EXPECT_EQ(take(), 0);
  seek({.time = 2});
  seek({.time = 1});
  EXPECT_EQ(take(), 10);
  EXPECT_EQ(take(), 11);
  seek({.time = 1.1, .before = true});
  EXPECT_EQ(take(), 10);
}

TEST_F(FrameReadingTest, FindsTheNeighborsOfAFrameAndReadsOn) {
  const Reach reach{.before = 2, .after = 3};
  ASSERT_TRUE(wait_for([&] { return queues.decoded.size() == 4; }));
  queues.reading.post([&] { reading.set_reach(reach); });
  EXPECT_EQ(take(), 0);
  ASSERT_TRUE(wait_for([&] { return queues.decoded.size() == 4; })) << "the frame that is kept";
  std::optional<Surroundings> found;
  std::atomic<bool> is_delivered = false;
  queues.reading.post([&] {
    reading.find_neighbors(
        {.time = 0.9, .reach = reach, .superseded = {}, .deliver = [&](Surroundings around) {
           found = std::move(around);
           is_delivered = true;
         }});
  });
  ASSERT_TRUE(wait_for([&] { return is_delivered.load(); }));
  ASSERT_EQ(found->frames.size(), 6U);
  EXPECT_EQ(found->frames[found->current].index, 9);
  EXPECT_EQ(take(), 1);
}

class FrameDenoisingTest : public PlayerThread {
 protected:
  std::stop_source request;
  std::unique_ptr<FrameDenoising> denoising;
  std::jthread thread;

  FrameDenoisingTest() = default;
  FrameDenoisingTest(const FrameDenoisingTest&) = delete;
  FrameDenoisingTest& operator=(const FrameDenoisingTest&) = delete;
  FrameDenoisingTest(FrameDenoisingTest&&) = delete;
  FrameDenoisingTest& operator=(FrameDenoisingTest&&) = delete;
  ~FrameDenoisingTest() override {
    request.request_stop();
    queues.denoising.close();
    denoising->cancel();
  }

  void start() {
    denoising = std::make_unique<FrameDenoising>(
        stages, options, counters, queues,
        DenoisingRequest{.superseded = request.get_token(), .position = std::stop_token()});
    thread = std::jthread([this] { denoising->run(); });
  }
  void put(int index) {
    queues.decoded.put({}, decoded(index));
    queues.denoising.wake();
  }
  /// The next frame, as if it were due.
  PlayedFramePointer take() {
    return wait_for([&] { return queues.presentation.take(std::chrono::steady_clock::now() + 1h).frame; });
  }
};

TEST_F(FrameDenoisingTest, DenoisesWithTheSettingsOfTheTimeAndEndsWithTheSource) {
  start();
  put(0);
  PlayedFramePointer frame = take();
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->denoised.index, 0);
  EXPECT_EQ(frame->settings, options.settings);
  PlayerSettings other = options.settings;
  other.noise.noise->noise.sigma[0] = 7;
  queues.denoising.post([&] { denoising->set_settings(other); });
  queues.decoded.end({});
  put(1);  // ignored
  queues.denoising.post([&] {
    denoising->begin({.superseded = request.get_token(), .position = {}, .again = true, .first_wanted = 0});
  });
  frame = take();
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->denoised.index, 0) << "again";
  EXPECT_EQ(frame->level.sigma[0], 7);
  EXPECT_TRUE(wait_for([&] { return queues.presentation.has_nothing_to_come(); }));
}

TEST_F(FrameDenoisingTest, ASupersededRequestIsAbandonedWhateverItTakes) {
  std::atomic<int> begun = 0;
  stages.make_denoiser = [&](const PlayerSettings& settings, const Frame&,
                             const NoiseModel&) -> std::unique_ptr<Denoiser> {
    if (settings.filter.name == "bm3d") {
      return std::make_unique<NeverDone>(begun);
    }
    return std::make_unique<PassingThrough>();
  };
  start();
  put(0);
  ASSERT_TRUE(wait_for([&] { return begun == 1; }));
  EXPECT_TRUE(denoising->at_work_since());
  request.request_stop();
  request = std::stop_source();
  queues.presentation.begin();
  denoising->cancel();
  PlayerSettings other = options.settings;
  other.filter.name = "bilateral";
  queues.denoising.post([&] {
    denoising->set_settings(other);
    denoising->begin({.superseded = request.get_token(), .position = {}, .again = true, .first_wanted = 0});
  });
  const PlayedFramePointer frame = take();
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->settings, other);
}

TEST_F(FrameDenoisingTest, FramesThatAreLateAreDroppedBeforeTheyAreDenoised) {
  start();
  put(0);
  ASSERT_NE(wait_for([&] { return queues.presentation.take(std::chrono::steady_clock::now()).frame; }),
            nullptr);
  queues.presentation.pacing([](Pacing& pacing) { pacing.clock().set(1, std::chrono::steady_clock::now()); });
  for (int i = 1; i <= 20; ++i) {
    put(i);
  }
  EXPECT_TRUE(wait_for([&] { return counters.dropped_before >= 9; }));
}

class FrameRefiningTest : public PlayerThread {
 protected:
  std::stop_source request;
  std::optional<Surroundings> neighbors{{.frames = {frame(1), frame(2), frame(3)}, .current = 1}};
  FrameRefining refining{
      stages, options, queues, [this](const RefiningRequest& asked) {
        if (neighbors) {
          queues.refining.post([this, shown = asked.frame] { refining.receive(shown, *neighbors); });
        }
      }};
  std::jthread thread{[this] { refining.run(); }};

  FrameRefiningTest() = default;
  FrameRefiningTest(const FrameRefiningTest&) = delete;
  FrameRefiningTest& operator=(const FrameRefiningTest&) = delete;
  FrameRefiningTest(FrameRefiningTest&&) = delete;
  FrameRefiningTest& operator=(FrameRefiningTest&&) = delete;
  ~FrameRefiningTest() override {
    request.request_stop();
    queues.refining.close();
    refining.cancel();
  }

  /// Requests the refinement of frame 2, which is shown from now on.
  PlayedFramePointer request_refinement() {
    queues.presentation.put({}, played(2));
    const PlayedFramePointer shown = queues.presentation.take(std::chrono::steady_clock::now()).frame;
    queues.refining.post([this, shown, token = request.get_token()] {
      refining.request({.frame = shown,
                        .reach = {.before = 1, .after = 1},
                        .begins_at = std::chrono::steady_clock::now() + 5ms,
                        .superseded = token,
                        .view = {}});
    });
    return shown;
  }
};

TEST_F(FrameRefiningTest, ReturnsTheFrameFilteredWithItsNeighbors) {
  request_refinement();
  const PlayedFramePointer refined =
      wait_for([&] { return queues.presentation.take(std::chrono::steady_clock::now()).refined; });
  ASSERT_NE(refined, nullptr);
  EXPECT_TRUE(refined->is_refined);
  EXPECT_EQ(refined->denoised.index, 2);
}

TEST_F(FrameRefiningTest, AFrameThatCannotBeRefinedIsSettled) {
  stages.make_refiner = [](const PlayerSettings&, const Frame&,
                           const NoiseModel&) -> std::unique_ptr<Denoiser> { throw Error("no memory"); };
  const PlayedFramePointer shown = request_refinement();
  EXPECT_TRUE(wait_for([&] { return queues.presentation.is_settled(shown); }));
}

TEST_F(FrameRefiningTest, ASupersededRequestEndsAtOnce) {
  std::atomic<int> begun = 0;
  stages.make_refiner = [&](const PlayerSettings&, const Frame&, const NoiseModel&) {
    return std::make_unique<NeverDone>(begun);
  };
  const PlayedFramePointer shown = request_refinement();
  ASSERT_TRUE(wait_for([&] { return begun == 1; }));
  request.request_stop();
  refining.cancel();
  std::atomic<bool> is_free = false;
  queues.refining.post([&] { is_free = true; });
  EXPECT_TRUE(wait_for([&] { return is_free.load(); }));
  EXPECT_FALSE(queues.presentation.is_settled(shown));
}

}  // namespace
}  // namespace limpid::app
