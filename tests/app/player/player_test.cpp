// SPDX-License-Identifier: MIT
#include "app/player/player.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/engines.h"
#include "tests/app/player/never_done.h"
#include "tests/oracle/pictures.h"

namespace limpid::app {
namespace {

using namespace std::chrono_literals;
using Clock = Player::Clock;

// Threads that can still be started; below zero, any number of them.
std::atomic<int> threads_left = -1;

}  // namespace

// In place of the system's, for the code under test as well.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) noexcept {
  if (threads_left == 0) {
    return EAGAIN;
  }
  if (threads_left > 0) {
    --threads_left;
  }
  static auto* const next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return next(thread, attributes, function, argument);
}

namespace {

/// A denoiser that hands frames through, `latency` later, each after `time`. Tells with which frames it
/// began, as new or after a reset().
class Slow final : public Denoiser {
 public:
  Slow(int latency, std::chrono::milliseconds time, std::vector<std::int64_t>& began_with)
      : latency_(latency), time_(time), began_with_(began_with) {}
  void set_noise(const NoiseModel& /*noise*/) override {}
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override {
    if (begins_) {
      began_with_.push_back(frame.index);
    }
    begins_ = false;
    held_.push_back(std::move(frame));
  }
  std::optional<Frame> receive() override {
    if (held_.empty() || (!flushed_ && held_.size() <= static_cast<std::size_t>(latency_))) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(time_);
    Frame frame = std::move(held_.front());
    held_.pop_front();
    return frame;
  }
  void flush() override { flushed_ = true; }
  std::vector<std::string> warnings() const override { return {}; }
  Reach reach() const override { return {.before = 0, .after = latency_}; }
  void reset() override {
    held_.clear();
    flushed_ = false;
    begins_ = true;
  }

 private:
  int latency_;
  std::chrono::milliseconds time_;
  std::vector<std::int64_t>& began_with_;
  std::deque<Frame> held_;
  bool begins_ = true;
  bool flushed_ = false;
};

/// A player of `frames` frames, `rate` a second, as if in a window.
class Playing {
 public:
  int frames = 30;
  double rate = 100;
  int latency = 0;
  std::chrono::milliseconds time{0};
  bool live = false;
  double duration = 0;  // 0: by the frames and the rate
  PlayerStages stages;
  std::size_t kept_frames = 0;
  std::atomic<int> alive = 0;  // frames that somebody holds
  std::atomic<int> seeks = 0;
  std::vector<std::int64_t> began_with;  // see Slow; of the denoiser's thread

  Playing() {
    stages.read = [this]() -> io::Reader::Item {
      if (next_ >= frames) {
        return io::Reader::End{};
      }
      Frame frame;
      frame.format.width = frame.format.height = 1;
      frame.index = next_++;
      ++alive;
      frame.attachment = std::shared_ptr<void>(nullptr, [this](void*) { --alive; });
      return frame;
    };
    stages.seek = [this](double seconds, double before, const auto&...) {
      ++seeks;
      next_ = std::clamp(static_cast<int>(std::ceil((seconds - before) * rate - 0.01)), 0, frames);
    };
    stages.engine = engine_registry().open("cpu");
    stages.make_denoiser = [this](const PlayerSettings&, const Frame&, const NoiseModel&) {
      return std::make_unique<Slow>(latency, time, began_with);
    };
    stages.wake = [this] {
      const std::scoped_lock lock(mutex_);
      woken_ = true;
      wake_.notify_all();
    };
  }

  /// Makes it a live source that goes on and on.
  void never_end() {
    live = true;
    frames = 1 << 30;
    stages.read = [read = stages.read] {
      std::this_thread::sleep_for(1ms);
      return read();
    };
  }

  Player& start() {
    PlayerOptions options;
    options.live = live;
    options.frames_per_second = rate;
    options.duration = duration > 0 ? duration : frames / rate;
    options.settings.filter = {.name = "bm3d", .profile = "np", .parameters = {}};
    options.settings.noise.noise = NoiseProfile{NoiseModel{{1, 1, 1}}, std::nullopt};
    options.kept_bytes = kept_frames * frame_bytes({.width = 1, .height = 1});
    player_ = std::make_unique<Player>(stages, options);
    return *player_;
  }

  /// The next frame to be shown, waited for; nothing at the end, or if there is none for `patience`.
  std::shared_ptr<const PlayedFrame> next(std::chrono::milliseconds patience = 10s) {
    const auto give_up = Clock::now() + patience;
    while (Clock::now() < give_up) {
      const Player::Taken taken = player_->take(Clock::now());
      if (taken.frame != nullptr || taken.ended) {
        return taken.frame;
      }
      wait_until(std::min(taken.next_at.value_or(give_up), give_up));
    }
    return nullptr;
  }

  /// Until then, or until the player says that there is something new.
  void wait_until(Clock::time_point end) {
    std::unique_lock lock(mutex_);
    wake_.wait_until(lock, end, [&] { return woken_; });
    woken_ = false;
  }

  /// Ends the player, whose threads use the rest.
  void end() { player_.reset(); }

  std::vector<std::int64_t> play_to_the_end() {
    std::vector<std::int64_t> shown;
    while (const std::shared_ptr<const PlayedFrame> frame = next()) {
      shown.push_back(frame->noisy.index);
    }
    return shown;
  }

 private:
  int next_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
  std::unique_ptr<Player> player_;
};

/// Waits until it holds, though not for ever.
template <typename Condition>
[[nodiscard]] bool comes_true(Condition condition) {
  const auto give_up = Clock::now() + 20s;
  while (!condition() && Clock::now() < give_up) {
    std::this_thread::yield();
  }
  return condition();
}

std::vector<std::int64_t> numbers(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> result;
  for (; from < to; ++from) {
    result.push_back(from);
  }
  return result;
}

std::int64_t dropped(const Player& player) {
  return player.counters().dropped_before + player.counters().dropped_after;
}

class PlayerWithLatency : public testing::TestWithParam<int> {};

TEST_P(PlayerWithLatency, ShowsEveryFrameOnceInOrder) {
  Playing playing;
  playing.rate = 4;  // a busy machine must not make it drop
  playing.frames = 6;
  playing.latency = GetParam();
  const Player& player = playing.start();
  EXPECT_EQ(playing.play_to_the_end(), numbers(0, playing.frames));
  EXPECT_EQ(player.counters().shown, playing.frames);
  EXPECT_EQ(dropped(player), 0);
}

INSTANTIATE_TEST_SUITE_P(Latencies, PlayerWithLatency, testing::Values(0, 4));

TEST(PlayerTest, ASlowEngineDropsFramesEvenlyAndStaysOnTime) {
  Playing playing;
  playing.rate = 50;
  playing.frames = 80;
  playing.time = 50ms;  // two and a half times too slow
  const Player& player = playing.start();
  std::vector<std::int64_t> shown;
  std::vector<std::int64_t> gaps;
  std::vector<double> late;  // seconds, by the clock that began with the first frame
  Clock::time_point begin;
  while (const std::shared_ptr<const PlayedFrame> frame = playing.next()) {
    if (shown.empty()) {
      begin = Clock::now();
    } else {
      gaps.push_back(frame->noisy.index - shown.back());
      late.push_back(std::chrono::duration<double>(Clock::now() - begin).count() - frame->time);
    }
    shown.push_back(frame->noisy.index);
  }
  EXPECT_EQ(shown.front(), 0);
  EXPECT_GT(player.counters().dropped_before, 0);
  EXPECT_EQ(static_cast<std::int64_t>(shown.size()) + dropped(player), playing.frames);
  // Whatever else the machine does: most of them.
  std::sort(gaps.begin(), gaps.end());
  std::sort(late.begin(), late.end());
  EXPECT_GE(gaps[gaps.size() / 5], 2) << "never two in a row";
  EXPECT_LE(gaps[gaps.size() * 4 / 5], 4);
  EXPECT_LT(late[late.size() * 4 / 5], 0.1);
}

/// Settings with rungs "quick", "medium" and "best"; the last one waits for four later frames.
class PlayingByQuality : public Playing {
 public:
  std::map<std::string, std::atomic<int>> times_ms;

  PlayingByQuality() {
    rate = 50;
    frames = 1 << 20;
    duration = 1000;
    times_ms["quick"] = 1;
    times_ms["medium"] = 1;
    times_ms["best"] = 1;
    stages.ladder = [](const PlayerSettings& settings) {
      QualityLadder ladder;
      for (const char* const name : {"quick", "medium", "best"}) {
        QualityRung rung{.settings = settings, .cost = 1, .reach = {.before = 2, .after = 0}};
        rung.settings.filter.name = name;
        rung.settings.looks_ahead = rung.settings.filter.name == "best";
        rung.reach.after = rung.settings.looks_ahead ? 4 : 0;
        ladder.rungs.push_back(rung);
      }
      return ladder;
    };
    stages.make_denoiser = [this](const PlayerSettings& settings, const Frame&, const NoiseModel&) {
      return std::make_unique<Timed>(settings.looks_ahead ? 4 : 0, times_ms.at(settings.filter.name));
    };
  }

  PlayingByQuality(const PlayingByQuality&) = delete;
  PlayingByQuality& operator=(const PlayingByQuality&) = delete;
  ~PlayingByQuality() { end(); }

  /// Plays until frames come from that rung. Fails if frames are not in order.
  [[nodiscard]] testing::AssertionResult reaches(const std::string& rung) {
    const auto give_up = Clock::now() + 30s;
    while (Clock::now() < give_up) {
      const std::shared_ptr<const PlayedFrame> frame = next();
      if (frame == nullptr || frame->noisy.index <= last_ || frame->denoised.index != frame->noisy.index) {
        return testing::AssertionFailure() << "no frame, or a wrong one, behind " << last_;
      }
      last_ = frame->noisy.index;
      if (frame->used.filter.name == rung) {
        return testing::AssertionSuccess();
      }
    }
    return testing::AssertionFailure() << "never: " << rung;
  }

 private:
  /// As Slow, but what is context is not given back, and the time may change.
  class Timed final : public Denoiser {
   public:
    Timed(int latency, const std::atomic<int>& time_ms) : latency_(latency), time_ms_(time_ms) {}
    void set_noise(const NoiseModel& /*noise*/) override {}
    void set_mix(float /*mix*/) override {}
    void send(Frame frame) override {
      if (!frame.context_only) {
        held_.push_back(std::move(frame));
      }
    }
    std::optional<Frame> receive() override {
      if (held_.empty() || (!flushed_ && held_.size() <= static_cast<std::size_t>(latency_))) {
        return std::nullopt;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(time_ms_));
      Frame frame = std::move(held_.front());
      held_.pop_front();
      return frame;
    }
    void flush() override { flushed_ = true; }
    std::vector<std::string> warnings() const override { return {}; }
    Reach reach() const override { return {.before = 2, .after = latency_}; }
    void reset() override {
      held_.clear();
      flushed_ = false;
    }

   private:
    int latency_;
    const std::atomic<int>& time_ms_;
    std::deque<Frame> held_;
    bool flushed_ = false;
  };

  std::int64_t last_ = -1;
};

TEST(PlayerTest, ClimbsToTheBestQualityWhereThereIsRoomAndDropsNothing) {
  std::int64_t lost = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 10 && lost > 3; ++i) {  // other programs run beside the test
    PlayingByQuality playing;
    const Player& player = playing.start();
    EXPECT_TRUE(playing.reaches("quick"));
    const std::int64_t before = dropped(player);
    EXPECT_TRUE(playing.reaches("best"));
    lost = dropped(player) - before;
  }
  EXPECT_LE(lost, 3) << "a step up has its frames ready before";
}

TEST(PlayerTest, TakesAQuickerFilterWhenTheBestOneGetsTooSlow) {
  PlayingByQuality playing;
  playing.start();
  ASSERT_TRUE(playing.reaches("best"));
  playing.times_ms["best"] = 100;
  playing.times_ms["medium"] = 100;
  EXPECT_TRUE(playing.reaches("quick"));
}

TEST(PlayerTest, ChangedSettingsShowAtOnceThoughTheFilterWaitsForLaterFrames) {
  PlayingByQuality playing;
  Player& player = playing.start();
  ASSERT_TRUE(playing.reaches("best"));
  PlayerSettings settings = player.settings();
  settings.noise.strength = {2, 2};
  settings.keeps_pace = true;
  player.set_settings(settings);
  std::shared_ptr<const PlayedFrame> frame = playing.next();
  for (int i = 0; i < 3 && frame != nullptr && frame->settings != settings; ++i) {
    frame = playing.next();
  }
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame->settings, settings);
  EXPECT_EQ(frame->used.filter.name, "quick");
  EXPECT_TRUE(playing.reaches("best"));
}

TEST(PlayerTest, ALiveSourceKeepsPaceToo) {
  PlayingByQuality playing;
  playing.live = true;
  playing.times_ms["medium"] = 60;
  playing.times_ms["best"] = 60;
  playing.stages.read = [read = playing.stages.read] {
    std::this_thread::sleep_for(20ms);
    return read();
  };
  playing.start();
  EXPECT_TRUE(playing.reaches("best"));
  EXPECT_TRUE(playing.reaches("quick"));
}

TEST(PlayerTest, TheLastFrameIsShownThoughItsSourceIsSlowToSayThatItWasTheLast) {
  Playing playing;
  playing.frames = 3;
  playing.time = 60ms;  // longer than all of them are shown
  playing.stages.read = [read = playing.stages.read] {
    io::Reader::Item item = read();
    if (std::holds_alternative<io::Reader::End>(item)) {
      std::this_thread::sleep_for(200ms);
    }
    return item;
  };
  playing.start();
  EXPECT_EQ(playing.play_to_the_end(), (std::vector<std::int64_t>{0, 2}));
}

TEST(PlayerTest, ItIsKnownWithTheLastFrameWhenTheEndWillBe) {
  for (const bool live : {false, true}) {
    Playing playing;
    playing.frames = 3;
    playing.rate = 20;
    playing.live = live;
    const auto begun = Clock::now();
    Player& player = playing.start();
    const auto give_up = begun + 20s;
    bool ended = false;
    while (!ended && Clock::now() < give_up) {
      const auto now = Clock::now();
      const Player::Taken taken = player.take(now);
      ended = taken.ended;
      if (ended && !live) {
        EXPECT_GT(now - begun, 149ms) << "each frame, the last one too, is shown for 50";
      }
      if (!ended) {
        playing.wait_until(taken.next_at.value_or(give_up));
      }
    }
    EXPECT_TRUE(ended) << (live ? "live" : "played");
  }
}

TEST(PlayerTest, AThreadThatCantBeStartedIsAnErrorAndEndsTheOthers) {
  for (const int threads : {0, 1, 2}) {
    Playing playing;
    threads_left = threads;
    EXPECT_THROW(playing.start(), Error) << threads;
    threads_left = -1;
    EXPECT_EQ(playing.alive, 0) << "frames that somebody holds";
  }
}

TEST(PlayerTest, AWindowThatTakesNothingHoldsNothingUp) {
  Playing playing;
  playing.frames = 20;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  // All but the last have successors that are due, and go.
  ASSERT_TRUE(comes_true(
      [&] { return player.counters().denoise.frames >= playing.frames - player.counters().dropped_before; }));
  ASSERT_TRUE(comes_true([&] { return dropped(player) >= playing.frames - 2; }));
  EXPECT_LE(playing.play_to_the_end().size(), 1U);
}

// The most frames that a player without latency has under way, and those that it keeps.
constexpr int kFewFrames = 15;

TEST(PlayerTest, AWindowThatTakesNothingPilesNothingUp) {
  Playing playing;
  playing.frames = 60;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  ASSERT_TRUE(comes_true([&] { return dropped(player) >= playing.frames - 2; }));
  EXPECT_LE(playing.alive, kFewFrames);
}

TEST(PlayerTest, APausedLiveSourcePilesNothingUp) {
  Playing playing;
  playing.never_end();
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  ASSERT_TRUE(comes_true([&] { return player.counters().denoise.frames >= 60; }));
  EXPECT_LE(playing.alive, kFewFrames);
}

TEST(PlayerTest, NewSettingsShowWithTheNextFrameButTwo) {
  for (const int latency : {0, 3}) {
    Playing playing;
    playing.rate = 20;
    playing.latency = latency;
    Player& player = playing.start();
    for (int i = 0; i < 3; ++i) {
      ASSERT_NE(playing.next(), nullptr);
    }
    for (const bool another_denoiser : {false, true}) {
      PlayerSettings settings = player.settings();
      settings.noise.noise->noise.sigma[0] += 1;
      if (another_denoiser) {
        settings.filter.profile = "fast";
      }
      player.set_settings(settings);
      int old = 0;
      std::int64_t last = -1;
      for (;;) {
        const std::shared_ptr<const PlayedFrame> frame = playing.next();
        ASSERT_NE(frame, nullptr);
        ASSERT_GT(frame->noisy.index, last);
        last = frame->noisy.index;
        if (frame->settings == settings) {
          EXPECT_EQ(frame->level, settings.noise.noise->noise);
          break;
        }
        ++old;
      }
      EXPECT_LE(old, latency + 2);
    }
  }
}

/// Asks for a fixed sigma of all planes; returns the settings asked for.
PlayerSettings set_sigma(Player& player, float sigma) {
  PlayerSettings settings = player.settings();
  settings.noise.noise = NoiseProfile{NoiseModel{{sigma, sigma, sigma}}, std::nullopt};
  player.set_settings(settings);
  return settings;
}

TEST(PlayerTest, PausedFramesAreDenoisedAgainWithNewSettings) {
  for (const int latency : {0, 3}) {
    Playing playing;
    playing.latency = latency;
    playing.rate = 20;
    playing.frames = 8;
    Player& player = playing.start();
    std::shared_ptr<const PlayedFrame> shown = playing.next();
    shown = playing.next();
    player.set_paused(true);
    for (const float sigma : {3.0F, 7.0F, 0.5F}) {
      set_sigma(player, sigma);
      const std::shared_ptr<const PlayedFrame> again = playing.next();
      ASSERT_NE(again, nullptr);
      EXPECT_EQ(again->noisy.index, shown->noisy.index);
      EXPECT_EQ(again->level.sigma[0], sigma);
    }
    EXPECT_EQ(playing.next(20ms), nullptr) << "it is still paused";
    player.set_paused(false);
    const std::vector<std::int64_t> rest = playing.play_to_the_end();
    EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
    EXPECT_GT(rest.front(), shown->noisy.index);
  }
}

TEST(PlayerTest, PausedFramesAreDenoisedAgainBehindThoseThatATemporalFilterNeeds) {
  constexpr int kShown = 6;
  Playing playing;
  playing.latency = 3;
  playing.rate = 10;
  Player& player = playing.start();
  player.set_paused(true);  // so that none is dropped
  for (int i = 0; i <= kShown; ++i) {
    ASSERT_NE(playing.next(), nullptr);
    if (i < kShown) {
      player.step_forward();
    }
  }
  std::size_t begun = 1;
  for (const float sigma : {3.0F, 7.0F, 0.5F}) {
    set_sigma(player, sigma);
    const std::shared_ptr<const PlayedFrame> again = playing.next();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->noisy.index, kShown);
    ASSERT_EQ(playing.began_with.size(), ++begun);
    EXPECT_LE(playing.began_with.back(), kShown - playing.latency);
    EXPECT_GT(playing.began_with.back(), 0);
  }
}

TEST(PlayerTest, StepsAndSeeksToTheFrame) {
  Playing playing;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  const auto shown_after = [&](const auto& action) {
    action();
    const std::shared_ptr<const PlayedFrame> frame = playing.next();
    return frame == nullptr ? -1 : frame->noisy.index;
  };
  EXPECT_EQ(shown_after([&] { player.seek(0.15); }), 15);
  EXPECT_EQ(shown_after([&] { player.step_forward(); }), 16);
  EXPECT_EQ(shown_after([&] { player.step_back(); }), 15);
  EXPECT_EQ(shown_after([&] { player.step_back(); }), 14);
  EXPECT_EQ(shown_after([&] { player.seek(0.079); }), 7) << "the frame that is shown at that time";
  EXPECT_EQ(shown_after([&] { player.seek(99); }), playing.frames - 1);
  EXPECT_EQ(shown_after([&] { player.seek(-5); }), 0);
  EXPECT_EQ(shown_after([&] { player.step_back(); }), 0);
  EXPECT_TRUE(player.paused());
  player.seek(0.25);
  EXPECT_DOUBLE_EQ(player.position(), 0.25) << "at once, so that further steps add up";
  player.set_paused(false);
  EXPECT_EQ(playing.play_to_the_end().front(), 25);
}

TEST(PlayerTest, ShowsTheKeyFrameWhileASeekTakesLong) {
  Playing playing;
  std::atomic<bool> arrives = false;
  playing.stages.seek = [&, seek = playing.stages.seek](double seconds, double before,
                                                        const std::function<bool()>& given_up,
                                                        const std::function<void(Frame)>& glimpse) {
    Frame key_frame;
    key_frame.format.width = key_frame.format.height = 1;
    key_frame.index = 3;
    glimpse(key_frame);
    EXPECT_TRUE(comes_true([&] { return arrives || given_up(); }));
    seek(seconds, before, given_up, glimpse);
  };
  Player& player = playing.start();
  const std::shared_ptr<const PlayedFrame> first = playing.next();
  ASSERT_NE(first, nullptr);
  player.set_paused(true);
  player.seek(0.2);
  const auto begun = Clock::now();
  std::shared_ptr<const PlayedFrame> glimpse;
  ASSERT_TRUE(comes_true([&] {
    glimpse = glimpse != nullptr ? glimpse : player.take(Clock::now()).waiting;
    return glimpse != nullptr;
  }));
  EXPECT_GT(Clock::now() - begun, 100ms) << "short seeks show nothing else";
  EXPECT_TRUE(glimpse->is_glimpse);
  EXPECT_EQ(glimpse->noisy.index, 3);
  EXPECT_TRUE(player.is_seeking());
  arrives = true;
  const std::shared_ptr<const PlayedFrame> target = playing.next();
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->noisy.index, 20);
  EXPECT_FALSE(target->is_glimpse);
  EXPECT_NE(target->sequence, glimpse->sequence + 1) << "its noise isn't measured against the key frame";
}

TEST(PlayerTest, NewSettingsApplyToTheLastFrameThatStaysAtTheEnd) {
  for (const int latency : {0, 2}) {
    Playing playing;
    playing.latency = latency;
    Player& player = playing.start();
    EXPECT_EQ(playing.play_to_the_end().back(), playing.frames - 1);
    for (int i = 2; i < 4; ++i) {
      PlayerSettings settings = player.settings();
      settings.noise.noise->noise.sigma[0] = static_cast<float>(i);
      player.set_settings(settings);
      const std::shared_ptr<const PlayedFrame> last = playing.next();
      ASSERT_NE(last, nullptr) << latency;
      EXPECT_EQ(last->noisy.index, playing.frames - 1);
      EXPECT_EQ(last->settings, settings);
      EXPECT_EQ(playing.next(), nullptr) << "the end again";
    }
  }
}

TEST(PlayerTest, NewSettingsThatComeWithTheLastFramesApplyToTheFrameThatStays) {
  Playing playing;
  playing.frames = 3;
  playing.rate = 10;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  ASSERT_TRUE(comes_true([&] { return player.counters().denoise.frames == playing.frames; }));
  const PlayerSettings settings = set_sigma(player, 7);
  std::shared_ptr<const PlayedFrame> last;
  while (const std::shared_ptr<const PlayedFrame> shown = playing.next()) {
    last = shown;
  }
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->noisy.index, playing.frames - 1);
  EXPECT_EQ(last->settings, settings);
}

TEST(PlayerTest, SettingsChangedDuringASeekAreThoseOfTheFrameThatStays) {
  Playing playing;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  for (int i = 1; i < 20; ++i) {
    player.seek(0.1);
    PlayerSettings settings = player.settings();
    settings.noise.noise->noise.sigma[0] = static_cast<float>(i) + 1;
    if (i % 2 == 0) {
      // Wherever the frame is by now.
      std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
    }
    player.set_settings(settings);
    std::shared_ptr<const PlayedFrame> last;
    const auto arrived = [&] {
      return last != nullptr && last->noisy.index == 10 && last->settings == settings;
    };
    while (const std::shared_ptr<const PlayedFrame> shown = playing.next(arrived() ? 10ms : 10000ms)) {
      last = shown;
    }
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->noisy.index, 10);
    EXPECT_EQ(last->settings, settings);
  }
}

TEST(PlayerTest, FindsThePreviousFrameOfIrregularTimes) {
  // Frames at 0, 0.04, 0.08, then after a gap of 3 s.
  Playing playing;
  playing.frames = 6;
  playing.rate = 25;
  playing.duration = 4;
  const auto time_of = [](std::int64_t index) {
    return static_cast<double>(index) / 25 + (index > 2 ? 3 : 0);
  };
  int next = 0;
  playing.stages.read = [&]() -> io::Reader::Item {
    if (next >= playing.frames) {
      return io::Reader::End{};
    }
    Frame frame;
    frame.format.width = frame.format.height = 1;
    // Without an attachment the player takes index / rate for the time.
    frame.index = std::llround(time_of(next++) * playing.rate);
    return frame;
  };
  playing.stages.seek = [&](double seconds, double before, const auto&...) {
    for (next = 0; next < playing.frames && time_of(next) < seconds - before - 0.0005; ++next) {
    }
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  player.seek(time_of(3));
  EXPECT_NEAR(playing.next()->time, time_of(3), 1e-9);
  player.step_back();
  EXPECT_NEAR(playing.next()->time, time_of(2), 1e-9);
  player.seek(2);
  EXPECT_NEAR(playing.next()->time, time_of(2), 1e-9);
}

TEST(PlayerTest, StepsBackShowFramesThatAreKept) {
  Playing playing;
  playing.frames = 300;
  playing.kept_frames = 60;
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  player.seek(1);
  ASSERT_EQ(playing.next()->noisy.index, 100);
  for (int i = 101; i <= 160; ++i) {
    player.step_forward();
    ASSERT_EQ(playing.next()->noisy.index, i);
  }
  const std::int64_t decoded = player.counters().read.frames;
  for (int i = 159; i >= 140; --i) {
    player.step_back();
    ASSERT_EQ(playing.next()->noisy.index, i);
  }
  EXPECT_EQ(playing.seeks, 1);
  EXPECT_LE(player.counters().read.frames - decoded, 6) << "4 that are decoded ahead, and 2 at the denoiser";
  player.step_forward();
  EXPECT_EQ(playing.next()->noisy.index, 141);
  EXPECT_LE(playing.alive, 60 + kFewFrames);
}

// A source that can only decode from key frames on, a group of pictures at a time.
TEST(PlayerTest, StepsBackOverKeyFramesAreDecodedAheadWhileOthersAreShown) {
  constexpr int kGroup = 50;
  constexpr int kKept = 60;
  Playing playing;
  playing.frames = 300;
  playing.kept_frames = kKept;
  std::atomic<int> passed_over = 0;
  std::atomic<bool> held = false;
  playing.stages.seek = [&, seek = playing.stages.seek](double seconds, double before,
                                                        const std::function<bool()>& given_up,
                                                        const auto&... rest) {
    const int key =
        static_cast<int>(std::min(seconds * playing.rate + 0.01, playing.frames - 1.0)) / kGroup * kGroup;
    const int first =
        std::max(key, static_cast<int>(std::ceil((seconds - std::min(before, 9.0)) * playing.rate - 0.01)));
    passed_over += first - key;
    EXPECT_TRUE(comes_true([&] { return !held || given_up(); }));
    seek(first / playing.rate, 0, given_up, rest...);
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  player.seek(2.4);
  ASSERT_EQ(playing.next()->noisy.index, 240);
  held = true;  // frames that are kept don't wait for those that will be wanted next
  int index = 239;
  for (; index >= 230; --index) {
    player.step_back();
    ASSERT_EQ(playing.next()->noisy.index, index);
  }
  EXPECT_EQ(playing.seeks, 1) << "and the second under way";
  held = false;
  const auto decoded = [&] { return player.counters().read.frames + passed_over; };
  const std::int64_t decoded_before = decoded();
  for (; index >= 100; --index) {
    player.step_back();
    ASSERT_EQ(playing.next()->noisy.index, index);
    EXPECT_LE(playing.alive, kKept * 3 / 2 + kFewFrames);
  }
  // Of 130 frames about twice those of the groups that they are in, as half of what is kept is decoded ahead.
  EXPECT_LE(decoded() - decoded_before, 3 * (240 - 50));
  EXPECT_LE(playing.seeks, 15);
  // Where it is in the source by now doesn't matter for what follows.
  for (index = 101; index <= 180; ++index) {
    player.step_forward();
    ASSERT_EQ(playing.next()->noisy.index, index);
  }
  for (; index >= 0; --index) {
    player.seek(index / playing.rate);
    ASSERT_EQ(playing.next()->noisy.index, index);
    index -= 20;
  }
  player.seek(0.02);
  ASSERT_EQ(playing.next()->noisy.index, 2);
  for (const int expected : {1, 0, 0, 0}) {
    player.step_back();
    ASSERT_EQ(playing.next()->noisy.index, expected);
  }
  player.set_paused(false);
  player.seek(2.9);
  EXPECT_EQ(playing.play_to_the_end().front(), 290);
}

TEST(PlayerTest, ANewSeekAndTheEndInterruptTheSeekUnderWay) {
  Playing playing;
  std::atomic<bool> begun = false;
  playing.stages.seek = [&, seek = playing.stages.seek](double seconds, double before,
                                                        const std::function<bool()>& given_up,
                                                        const auto&... rest) {
    if (seconds > 0.2) {  // it would take for ever
      begun = true;
      EXPECT_TRUE(comes_true(given_up));
    }
    seek(seconds, before, given_up, rest...);
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  EXPECT_FALSE(player.is_seeking());
  const auto begin_seek = [&] {
    begun = false;
    player.seek(0.25);
    EXPECT_TRUE(comes_true([&] { return begun.load(); }));
  };
  begin_seek();
  EXPECT_TRUE(player.is_seeking());
  player.seek(0.1);
  EXPECT_EQ(playing.next()->noisy.index, 10);
  EXPECT_FALSE(player.is_seeking());
  begin_seek();
  EXPECT_TRUE(player.stop(20s));
}

TEST(PlayerTest, AStepBackThatIsAskedForAgainGoesOn) {
  Playing playing;
  std::atomic<int> begun = 0;
  std::atomic<bool> may_end = true;
  playing.stages.seek = [&, seek = playing.stages.seek](double seconds, double before,
                                                        const std::function<bool()>& given_up,
                                                        const auto&... rest) {
    ++begun;
    EXPECT_TRUE(comes_true([&] { return may_end || given_up(); }));
    seek(seconds, before, given_up, rest...);
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  player.seek(0.1);
  ASSERT_EQ(playing.next()->noisy.index, 10);
  may_end = false;
  player.step_back();
  ASSERT_TRUE(comes_true([&] { return begun >= 2; }));
  player.step_back();
  player.step_back();
  may_end = true;
  EXPECT_EQ(playing.next()->noisy.index, 9);
  EXPECT_EQ(begun, 2);
}

TEST(PlayerTest, ASeekKeepsTheDenoiser) {
  Playing playing;
  playing.latency = 2;
  std::atomic<int> made = 0;
  playing.stages.make_denoiser = [&made, make = playing.stages.make_denoiser](const PlayerSettings& settings,
                                                                              const Frame& frame,
                                                                              const NoiseModel& level) {
    ++made;
    return make(settings, frame, level);
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  for (const int from : {20, 5, 25}) {  // while it plays, and behind the end, where nothing more was to come
    player.seek(from / playing.rate);
    std::shared_ptr<const PlayedFrame> frame = playing.next();
    ASSERT_NE(frame, nullptr);
    EXPECT_EQ(frame->noisy.index, from);
    EXPECT_EQ(frame->denoised.index, from) << "a result of a frame from before the seek";
    static_cast<void>(playing.play_to_the_end());
  }
  EXPECT_EQ(made, 1);
  PlayerSettings settings = player.settings();
  settings.filter.name = "bilateral";
  player.set_settings(settings);
  player.seek(0);
  EXPECT_NE(playing.next(), nullptr);
  EXPECT_EQ(made, 2) << "for another filter";
}

TEST(PlayerTest, TheFirstFrameIsShownBeforeItIsDenoisedAndNewSettingsDoNotWaitForIt) {
  for (const bool behind_a_seek : {false, true}) {
    std::atomic<int> begun = 0;
    Playing playing;
    playing.stages.make_denoiser = [&begun, make = playing.stages.make_denoiser](
                                       const PlayerSettings& settings, const Frame& frame,
                                       const NoiseModel& level) -> std::unique_ptr<Denoiser> {
      return settings.filter.name == "bm3d" ? std::make_unique<NeverDone>(begun)
                                            : make(settings, frame, level);
    };
    Player& player = playing.start();
    if (behind_a_seek) {
      player.seek(0.2);
    }
    const auto waiting = [&] {
      Player::Taken taken;
      EXPECT_TRUE(comes_true([&] {
        if (taken.waiting == nullptr) {
          taken = player.take(Clock::now());
          EXPECT_EQ(taken.frame, nullptr);
        }
        return taken.waiting != nullptr;
      }));
      return taken.waiting;
    };
    std::shared_ptr<const PlayedFrame> noisy = waiting();
    ASSERT_NE(noisy, nullptr);
    if (behind_a_seek && noisy->noisy.index == 0) {
      noisy = waiting();
      ASSERT_NE(noisy, nullptr);
    }
    EXPECT_EQ(noisy->noisy.index, behind_a_seek ? 20 : 0);
    EXPECT_TRUE(noisy->is_waiting);
    PlayerSettings settings = player.settings();
    settings.filter.name = "bilateral";
    player.set_settings(settings);
    const std::shared_ptr<const PlayedFrame> denoised = playing.next();
    ASSERT_NE(denoised, nullptr);
    EXPECT_EQ(denoised->noisy.index, noisy->noisy.index);
    EXPECT_FALSE(denoised->is_waiting);
    EXPECT_EQ(denoised->settings, settings);
    settings.filter.name = "bm3d";  // while it plays
    player.set_settings(settings);
    ASSERT_TRUE(comes_true([&] {
      static_cast<void>(player.take(Clock::now()));
      std::this_thread::sleep_for(1ms);
      return player.at_work() >= 250ms;
    }));
    settings.filter.name = "bilateral";
    player.set_settings(settings);
    EXPECT_NE(playing.next(), nullptr);
    settings.filter.name = "bm3d";
    player.set_settings(settings);
    EXPECT_TRUE(player.stop(20s)) << "whatever it is at";
  }
}

TEST(PlayerTest, LiveSourcesShowTheNewestFrame) {
  Playing playing;
  playing.live = true;
  playing.frames = 50;
  playing.time = 15ms;
  const auto read = playing.stages.read;
  playing.stages.read = [&, read] {
    std::this_thread::sleep_for(3ms);
    return read();
  };
  std::vector<std::int64_t> denoised;
  playing.stages.denoised = [&](const PlayedFrame& frame) { denoised.push_back(frame.noisy.index); };
  const Player& player = playing.start();
  const std::vector<std::int64_t> shown = playing.play_to_the_end();
  EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end()));
  EXPECT_EQ(shown.back(), playing.frames - 1);
  EXPECT_GT(player.counters().dropped_before, 0);
  EXPECT_EQ(static_cast<std::int64_t>(denoised.size()), playing.frames - player.counters().dropped_before);
}

TEST(PlayerTest, FinishLetsTheFramesUnderWayThrough) {
  Playing playing;
  playing.never_end();
  playing.latency = 2;
  std::vector<std::int64_t> denoised;
  playing.stages.denoised = [&](const PlayedFrame& frame) { denoised.push_back(frame.noisy.index); };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.finish();
  EXPECT_GE(denoised.size(), 3U);
  EXPECT_TRUE(std::is_sorted(denoised.begin(), denoised.end()));
}

TEST(PlayerTest, FinishTellsThatFramesUnderWayWereLost) {
  Playing playing;
  playing.never_end();
  std::atomic<bool> ends = false;
  playing.stages.denoised = [&](const PlayedFrame&) {
    if (ends) {
      throw Error("it broke");
    }
  };
  playing.latency = 2;  // so that there are some
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  ends = true;
  EXPECT_THROW(player.finish(), Error);
}

TEST(PlayerTest, StoppingNeedNotWaitForASlowEngine) {
  Playing playing;
  std::promise<void> done;
  std::promise<void> begun;
  playing.stages.make_denoiser = [&](const PlayerSettings&, const Frame&, const NoiseModel&) {
    begun.set_value();
    done.get_future().wait();
    return std::make_unique<Slow>(0, 0ms, playing.began_with);
  };
  Player& player = playing.start();
  begun.get_future().wait();
  EXPECT_FALSE(player.stop(10ms));
  done.set_value();
  EXPECT_TRUE(player.stop(20s));
}

/// A denoiser for refining: tells which frames it was given for each result, and for which of them.
class Refiner final : public Denoiser {
 public:
  struct Given {
    std::vector<std::int64_t> frames;
    std::int64_t wanted = -1;
    float sigma = 0;
  };
  class Log {
   public:
    void add(const Given& given) {
      const std::scoped_lock lock(mutex_);
      given_.push_back(given);
    }
    std::vector<Given> take() {
      const std::scoped_lock lock(mutex_);
      return std::exchange(given_, {});
    }

   private:
    std::mutex mutex_;
    std::vector<Given> given_;
  };

  Refiner(const NoiseModel& noise, Log& log) : log_(log) { given_.sigma = noise.sigma[0]; }
  void set_noise(const NoiseModel& noise) override { given_.sigma = noise.sigma[0]; }
  void set_mix(float /*mix*/) override {}
  void send(Frame frame) override {
    given_.frames.push_back(frame.index);
    if (!frame.context_only) {
      given_.wanted = frame.index;
      wanted_ = std::move(frame);
    }
  }
  std::optional<Frame> receive() override {
    log_.add(given_);
    return std::exchange(wanted_, std::nullopt);
  }
  void flush() override {}
  std::vector<std::string> warnings() const override { return {}; }
  void reset() override {
    given_.frames.clear();
    wanted_.reset();
  }

 private:
  Log& log_;
  Given given_;
  std::optional<Frame> wanted_;
};

/// A player whose frames are refined with three before and five after.
class RefinedPlaying : public Playing {
 public:
  static constexpr int kBefore = 3;
  static constexpr int kAfter = 5;
  Refiner::Log log;

  RefinedPlaying() {
    stages.refining_reach = [](const PlayerSettings& settings) {
      return settings.filter.name == "bm3d" ? Reach{kBefore, kAfter} : Reach{};
    };
    stages.make_refiner = [this](const PlayerSettings&, const Frame&, const NoiseModel& noise) {
      return std::make_unique<Refiner>(noise, log);
    };
  }

  RefinedPlaying(const RefinedPlaying&) = delete;
  RefinedPlaying& operator=(const RefinedPlaying&) = delete;
  ~RefinedPlaying() { end(); }

  /// The refined frame, waited for; nothing if another one is shown, or if there is none for `patience`.
  std::shared_ptr<const PlayedFrame> refined(Player& player, std::chrono::milliseconds patience = 10s) {
    const auto give_up = Clock::now() + patience;
    while (Clock::now() < give_up) {
      const Player::Taken taken = player.take(Clock::now());
      if (taken.refined != nullptr || taken.frame != nullptr) {
        return taken.refined;
      }
      wait_until(std::min(taken.next_at.value_or(give_up), give_up));
    }
    return nullptr;
  }

  /// That the frame `index` is refined next, with all around it that there are.
  void expect_refined(Player& player, std::int64_t index) {
    const std::shared_ptr<const PlayedFrame> frame = refined(player);
    ASSERT_NE(frame, nullptr) << index;
    EXPECT_TRUE(frame->is_refined);
    EXPECT_EQ(frame->denoised.index, index);
    EXPECT_EQ(player.position(), frame->time);
    const std::vector<Refiner::Given> given = log.take();
    ASSERT_FALSE(given.empty());
    EXPECT_EQ(given.back().wanted, index);
    EXPECT_EQ(given.back().sigma, frame->level.sigma[0]);
    EXPECT_EQ(given.back().frames, numbers(std::max<std::int64_t>(index - kBefore, 0),
                                           std::min<std::int64_t>(index + kAfter + 1, frames)));
  }
};

TEST(PlayerTest, APausedFrameIsRefinedWithTheFramesAroundItAndThePositionStays) {
  for (const bool seeks : {true, false}) {
    for (const std::size_t kept : {std::size_t{0}, std::size_t{1} << 20}) {
      RefinedPlaying playing;
      playing.kept_frames = kept;
      if (!seeks) {
        playing.stages.seek = nullptr;
      }
      Player& player = playing.start();
      std::shared_ptr<const PlayedFrame> shown = playing.next();
      player.set_paused(true);  // so that none is dropped
      playing.expect_refined(player, 0);
      for (int i = 1; i <= 9; ++i) {
        player.step_forward();
        shown = playing.next();
        ASSERT_NE(shown, nullptr);
        EXPECT_EQ(shown->noisy.index, i);
        EXPECT_FALSE(shown->is_refined);
      }
      playing.expect_refined(player, 9);
      EXPECT_EQ(player.counters().shown, 10) << "it is the same frame";
      EXPECT_EQ(playing.refined(player, 250ms), nullptr) << "once";
      EXPECT_FALSE(player.will_refine());
      player.step_forward();
      EXPECT_EQ(playing.next()->noisy.index, 10);
      playing.expect_refined(player, 10);
      player.set_paused(false);
      const std::vector<std::int64_t> rest = playing.play_to_the_end();
      ASSERT_FALSE(rest.empty());
      EXPECT_GT(rest.front(), 10);
      EXPECT_TRUE(std::is_sorted(rest.begin(), rest.end()));
      EXPECT_EQ(rest.back(), playing.frames - 1);
    }
  }
}

TEST(PlayerTest, ThePartInViewIsRefinedFirstAndEqualsThatOfTheWholeFrame) {
  RefinedPlaying playing;
  const FrameFormat format = oracle::yuv(384, 320, 1, 1);
  playing.stages.read = [read = playing.stages.read, format] {
    io::Reader::Item item = read();
    if (Frame* const numbered = std::get_if<Frame>(&item)) {
      Frame frame = oracle::add_noise(oracle::draw_picture(format), 10,
                                      static_cast<std::uint64_t>(numbered->index) + 1);
      frame.index = numbered->index;
      return io::Reader::Item(std::move(frame));
    }
    return item;
  };
  playing.stages.make_refiner = [engine = playing.stages.engine](const PlayerSettings&, const Frame& frame,
                                                                 const NoiseModel& level) {
    return engine->make_denoiser(
        offline_filter({.filter = {.name = "vbm4d", .profile = "np", .parameters = {}}, .noise = {}}), level,
        frame.format);
  };
  Player& player = playing.start();
  const Region view{160, 128, 64, 64};
  player.set_view(view);
  const std::shared_ptr<const PlayedFrame> draft = playing.next();
  ASSERT_NE(draft, nullptr);
  player.set_paused(true);
  const std::shared_ptr<const PlayedFrame> part = playing.refined(player);
  ASSERT_NE(part, nullptr);
  EXPECT_FALSE(part->is_refined);
  EXPECT_EQ(part->refined_part, view);
  EXPECT_TRUE(player.will_refine());
  const std::shared_ptr<const PlayedFrame> whole = playing.refined(player);
  ASSERT_NE(whole, nullptr);
  EXPECT_TRUE(whole->is_refined);
  EXPECT_TRUE(oracle::same_bits(part_of(part->denoised, view), part_of(whole->denoised, view)));
  const Region other{0, 0, 64, 64};
  EXPECT_TRUE(oracle::same_bits(part_of(part->denoised, other), part_of(draft->denoised, other)));
  EXPECT_FALSE(player.will_refine());
}

TEST(PlayerTest, FramesBehindSeeksStepsAndAtTheEndsAreRefined) {
  for (const std::size_t kept : {std::size_t{0}, std::size_t{20}, std::size_t{1} << 20}) {
    RefinedPlaying playing;
    playing.kept_frames = kept;
    Player& player = playing.start();
    ASSERT_NE(playing.next(), nullptr);
    player.set_paused(true);
    const auto expect_after = [&](const auto& action, std::int64_t index) {
      action();
      const std::shared_ptr<const PlayedFrame> frame = playing.next();
      ASSERT_NE(frame, nullptr);
      EXPECT_EQ(frame->noisy.index, index);
      playing.expect_refined(player, index);
    };
    expect_after([&] { player.seek(0.2); }, 20);
    expect_after([&] { player.step_back(); }, 19);
    expect_after([&] { player.step_back(); }, 18);
    expect_after([&] { player.step_forward(); }, 19);
    expect_after([&] { player.step_forward(); }, 20);
    expect_after([&] { player.seek(0.01); }, 1);
    expect_after([&] { player.step_forward(); }, 2);
    expect_after([&] { player.seek(99); }, playing.frames - 1);
    expect_after([&] { player.step_back(); }, playing.frames - 2);
    expect_after([&] { player.seek(0); }, 0);
    player.set_paused(false);
    EXPECT_EQ(playing.play_to_the_end().back(), playing.frames - 1);
    playing.expect_refined(player, playing.frames - 1);
  }
}

TEST(PlayerTest, NewSettingsOfAPausedFrameAreRefinedToo) {
  RefinedPlaying playing;
  Player& player = playing.start();
  player.seek(0.1);
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  playing.expect_refined(player, 10);
  for (const float sigma : {3.0F, 7.0F}) {
    set_sigma(player, sigma);
    const std::shared_ptr<const PlayedFrame> quick = playing.next();
    ASSERT_NE(quick, nullptr);
    EXPECT_FALSE(quick->is_refined);
    EXPECT_EQ(quick->level.sigma[0], sigma);
    playing.expect_refined(player, 10);
  }
  PlayerSettings settings = player.settings();
  settings.filter.name = "bilateral";  // which looks at no other frame
  player.set_settings(settings);
  ASSERT_NE(playing.next(), nullptr);
  EXPECT_FALSE(player.will_refine());
  EXPECT_EQ(playing.refined(player, 250ms), nullptr);
}

TEST(PlayerTest, RefiningIsGivenUpForWhateverIsAskedForNext) {
  RefinedPlaying playing;
  std::atomic<int> begun = 0;
  playing.stages.make_refiner = [&](const PlayerSettings&, const Frame&, const NoiseModel&) {
    return std::make_unique<NeverDone>(begun);
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  ASSERT_TRUE(comes_true([&] { return begun == 1; }));
  EXPECT_TRUE(player.will_refine());
  player.step_forward();
  EXPECT_EQ(playing.next()->noisy.index, 1);
  ASSERT_TRUE(comes_true([&] { return begun == 2; }));
  player.seek(0.2);
  EXPECT_EQ(playing.next()->noisy.index, 20);
  ASSERT_TRUE(comes_true([&] { return begun == 3; }));
  set_sigma(player, 4);
  EXPECT_EQ(playing.next()->noisy.index, 20);
  ASSERT_TRUE(comes_true([&] { return begun == 4; }));
  player.set_paused(false);
  EXPECT_EQ(playing.play_to_the_end().back(), playing.frames - 1);
  ASSERT_TRUE(comes_true([&] { return begun == 5; }));
  EXPECT_TRUE(player.stop(20s)) << "whatever it is at";
}

TEST(PlayerTest, ARefinerThatCantBeMadeHoldsNothingUp) {
  RefinedPlaying playing;
  playing.stages.make_refiner = [](const PlayerSettings&, const Frame&,
                                   const NoiseModel&) -> std::unique_ptr<Denoiser> {
    throw Error("no memory");
  };
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  ASSERT_TRUE(comes_true([&] { return !player.will_refine(); }));
  player.step_forward();
  EXPECT_EQ(playing.next()->noisy.index, 1);
}

TEST(PlayerTest, LiveSourcesAreNotRefined) {
  RefinedPlaying playing;
  playing.never_end();
  Player& player = playing.start();
  ASSERT_NE(playing.next(), nullptr);
  player.set_paused(true);
  EXPECT_FALSE(player.will_refine());
  EXPECT_EQ(playing.refined(player, 250ms), nullptr);
}

enum class FailingStage { kRead, kSeek, kMakeDenoiser, kDenoised };

class PlayerFailure : public testing::TestWithParam<FailingStage> {};

TEST_P(PlayerFailure, AnyStageThrowsWhereFramesAreTaken) {
  Playing playing;
  const auto fail = [](const auto&...) { throw Error("it broke"); };
  switch (GetParam()) {
    case FailingStage::kRead:
      playing.stages.read = []() -> io::Reader::Item { throw Error("it broke"); };
      break;
    case FailingStage::kSeek:
      playing.stages.seek = fail;
      break;
    case FailingStage::kMakeDenoiser:
      playing.stages.make_denoiser = [](const PlayerSettings&, const Frame&,
                                        const NoiseModel&) -> std::unique_ptr<Denoiser> {
        throw Error("it broke");
      };
      break;
    case FailingStage::kDenoised:
      playing.stages.denoised = fail;
      break;
  }
  Player& player = playing.start();
  player.seek(0.1);
  try {
    playing.play_to_the_end();
    FAIL() << "the failure was swallowed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "it broke");
  }
}

INSTANTIATE_TEST_SUITE_P(Stages, PlayerFailure,
                         testing::Values(FailingStage::kRead, FailingStage::kSeek,
                                         FailingStage::kMakeDenoiser, FailingStage::kDenoised));

// A thousand changes at random, in all states, with a real engine: whatever is shown is exactly what one of
// the settings makes of that frame, and all frames' memory comes back.
TEST(PlayerTest, SwitchingAtRandomNeverShowsAMixtureAndLeaksNothing) {
  constexpr int kFrames = 6;
  constexpr int kChanges = 1000;
  const FrameFormat format = oracle::yuv(48, 40, 1, 1);
  std::vector<Frame> clip;
  for (int i = 0; i < kFrames; ++i) {
    clip.push_back(oracle::add_noise(oracle::draw_picture(format), 15, static_cast<std::uint64_t>(i)));
    clip.back().index = i;
  }
  const std::shared_ptr<Engine> engine = engine_registry().open("cpu", EngineOptions{1});
  const auto make = [&](const PlayerSettings& settings, const Frame& frame, const NoiseModel& level) {
    const Filter filter = settings.filter.name == "bm3d"
                              ? Filter(bm3d_profile(parse_profile(*settings.filter.profile)))
                          : settings.filter.name == "bilateral" ? Filter(BilateralParameters())
                                                                : Filter(NlmParameters());
    return engine->make_denoiser(filter, level, frame.format);
  };
  std::vector<PlayerSettings> choices;
  for (const char* const filter : {"bm3d", "bilateral", "nlm"}) {
    for (const std::string profile : {"fast", "lc"}) {
      for (const float sigma : {0.0F, 5.0F, 30.0F}) {
        choices.push_back(
            {.filter = {.name = filter, .profile = profile, .parameters = {}},
             .noise = {.noise = NoiseProfile{NoiseModel{{sigma, sigma, sigma}}, std::nullopt}}});
      }
    }
  }
  std::vector<std::vector<Frame>> expected;  // by choice and frame
  for (const PlayerSettings& choice : choices) {
    const std::unique_ptr<Denoiser> denoiser = make(choice, clip[0], choice.noise.noise->noise);
    auto& results = expected.emplace_back();
    for (const Frame& frame : clip) {
      denoiser->send(frame);
      results.push_back(*denoiser->receive());
    }
  }

  std::atomic<int> alive = 0;
  {
    Playing playing;
    playing.frames = 1 << 30;
    playing.rate = 500;
    std::int64_t next = 0;
    playing.stages.read = [&]() -> io::Reader::Item {
      Frame frame = clip[static_cast<std::size_t>(next++ % kFrames)];
      ++alive;
      frame.attachment = std::shared_ptr<void>(nullptr, [&alive](void*) { --alive; });
      frame.index = next - 1;
      return frame;
    };
    playing.stages.seek = [&](double seconds, double /*before*/, const auto&...) {
      next = std::max<std::int64_t>(0, std::llround(seconds * playing.rate));
    };
    playing.stages.make_denoiser = make;
    Player& player = playing.start();
    player.set_settings(choices[0]);
    const auto expect_whole = [&](const PlayedFrame& shown) {
      const auto choice = std::find(choices.begin(), choices.end(), shown.settings);
      if (choice != choices.end()) {  // not of before the first change
        const Frame& truth = expected[static_cast<std::size_t>(choice - choices.begin())]
                                     [static_cast<std::size_t>(shown.noisy.index % kFrames)];
        EXPECT_TRUE(oracle::same_bits(truth, shown.denoised));
      }
    };
    std::mt19937 random(5);
    for (int change = 0; change < kChanges && !HasFailure(); ++change) {
      player.set_settings(choices[random() % choices.size()]);
      switch (random() % 16) {
        case 0:
          player.set_paused(!player.paused());
          break;
        case 1:
          player.step_forward();
          break;
        case 2:
          player.seek(static_cast<double>(random() % 100) / 50);
          break;
        default:
          break;
      }
      if (const std::shared_ptr<const PlayedFrame> shown = playing.next(2ms)) {
        expect_whole(*shown);
      }
    }
    // And each once, however slow the machine is.
    player.set_paused(false);
    for (const PlayerSettings& choice : choices) {
      player.set_settings(choice);
      std::shared_ptr<const PlayedFrame> shown;
      do {
        shown = playing.next();
        ASSERT_NE(shown, nullptr);
        expect_whole(*shown);
      } while (shown->settings != choice);
    }
    EXPECT_LT(alive, 40) << "frames pile up";
  }
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace limpid::app
