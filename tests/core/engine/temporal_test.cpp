// SPDX-License-Identifier: MIT
// Temporal filters on the CPU engine, and distributed to several engines.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/engine_group.h"
#include "core/frame/frame.h"
#include "cpu/engine/cpu_engine.h"
#include "cpu/runtime/frame_filter.h"
#include "tests/core/engine/temporal_suite.h"

namespace limpid {
namespace {

// The filter of temporal_suite.h. Basic estimates are stored with their frames.
class TwoStepMean final : public cpu::FrameFilter {
 public:
  struct Counts {
    std::atomic<int> states = 0;  ///< number made
    std::atomic<int> basics = 0;  ///< number computed
  };
  explicit TwoStepMean(Counts& counts) : counts_(counts) {}

  Reach reach() const override { return temporal::kReach; }

  void filter_window(const cpu::FilterWindow& window, Frame& out) override {
    const FrameFormat& format = out.format;
    const std::size_t t = window.current;
    for (std::size_t i = t - std::min<std::size_t>(t, 1); i <= t + 1 && i < window.frames.size(); ++i) {
      prepare(window, i);
    }
    for (int place = 0; place < format.width * format.height; ++place) {
      out.planes[0].row<std::uint8_t>(place / format.width)[place % format.width] = static_cast<std::uint8_t>(
          mean_around(window, t, [&](std::size_t i) { return (*state_of(window, i).basic)[place]; }));
    }
  }

  std::unique_ptr<FrameState> make_state() override {
    ++counts_.states;
    return std::make_unique<State>();
  }
  void renew(FrameState& state) override { static_cast<State&>(state).basic.reset(); }

 private:
  struct State final : FrameState {
    std::optional<std::vector<int>> basic;
  };

  static State& state_of(const cpu::FilterWindow& window, std::size_t i) {
    return static_cast<State&>(*window.frames[i].state);
  }

  template <typename Value>
  static int mean_around(const cpu::FilterWindow& window, std::size_t t, const Value& value) {
    int sum = 0;
    int weights = 0;
    for (std::size_t i = t - std::min<std::size_t>(t, 1); i <= t + 1 && i < window.frames.size(); ++i) {
      const int weight = temporal::kWeights[i + 1 - t];
      sum += weight * value(i);
      weights += weight;
    }
    return sum / weights;
  }

  void prepare(const cpu::FilterWindow& window, std::size_t t) {
    State& state = state_of(window, t);
    if (state.basic) {
      return;
    }
    ++counts_.basics;
    state.basic.emplace();
    const FrameFormat& format = window.frames[t].frame->format;
    for (int place = 0; place < format.width * format.height; ++place) {
      state.basic->push_back(
          mean_around(window, t,
                      [&](std::size_t i) {
                        const Plane& plane = window.frames[i].frame->planes[0];
                        return int{plane.row<std::uint8_t>(place / format.width)[place % format.width]};
                      }) +
          static_cast<int>(window.frames[t].noise.sigma[0]));
    }
  }

  Counts& counts_;
};

class TemporalTest : public testing::Test {
 protected:
  std::unique_ptr<Denoiser> make() {
    return std::make_unique<cpu::WindowDenoiser>(std::make_shared<tbb::task_arena>(2), FramePool(),
                                                 std::make_unique<TwoStepMean>(counts_), NoiseModel{},
                                                 temporal::format());
  }
  const temporal::Maker maker_ = [this] { return make(); };
  TwoStepMean::Counts counts_;
};

TEST_F(TemporalTest, EveryStreamIsAsDefined) { temporal::expect_every_stream_as_defined(maker_); }
TEST_F(TemporalTest, SegmentsGiveTheWhole) { temporal::expect_segments_to_give_the_whole(maker_); }
TEST_F(TemporalTest, ResetBeginsAnew) { temporal::expect_reset_to_begin_anew(maker_); }

TEST_F(TemporalTest, FrameStateIsMadeOnceAndReused) {
  const auto denoiser = make();
  for (int stream = 0; stream < 3; ++stream) {
    temporal::run(*denoiser, std::vector<temporal::Sent>(20, {.value = 50, .sigma = 1}));
    denoiser->reset();
  }
  EXPECT_EQ(counts_.basics, 3 * 20) << "each frame's once";
  EXPECT_EQ(counts_.states, temporal::kReach.before + 1 + temporal::kReach.after);
}

TEST_F(TemporalTest, FramesAreLetGoOfOnceNoResultNeedsThem) {
  const auto denoiser = make();
  std::vector<std::weak_ptr<void>> samples;
  for (int i = 0; i < 10; ++i) {
    Frame frame = temporal::make_frame({.value = i}, i);
    samples.push_back(frame.samples);
    denoiser->send(std::move(frame));
    EXPECT_EQ(denoiser->receive().has_value(), i >= temporal::kReach.after);
    const auto kept =
        std::count_if(samples.begin(), samples.end(), [](const auto& one) { return !one.expired(); });
    EXPECT_LE(kept, temporal::kReach.before + temporal::kReach.after);
  }
  denoiser->reset();
  EXPECT_TRUE(std::all_of(samples.begin(), samples.end(), [](const auto& one) { return one.expired(); }));
}

TEST_F(TemporalTest, ContextAloneKeepsNoMoreThanItsReach) {
  const auto denoiser = make();
  std::vector<std::weak_ptr<void>> samples;
  for (int i = 0; i < 50; ++i) {
    Frame frame = temporal::make_frame({.value = i, .context_only = true}, i);
    samples.push_back(frame.samples);
    denoiser->send(std::move(frame));
    EXPECT_FALSE(denoiser->receive().has_value());
    const auto kept =
        std::count_if(samples.begin(), samples.end(), [](const auto& one) { return !one.expired(); });
    EXPECT_LE(kept, temporal::kReach.before + temporal::kReach.after);
  }
}

TEST_F(TemporalTest, AfterCancelResetBeginsAnew) {
  const auto denoiser = make();
  denoiser->send(temporal::make_frame({}, 0));
  denoiser->flush();
  denoiser->cancel();
  EXPECT_FALSE(denoiser->receive().has_value());
  denoiser->reset();
  const std::vector<temporal::Sent> frames(4, {.value = 9});
  temporal::expect_as_defined(temporal::run(*denoiser, frames), frames);
}

class TemporalGroupTest : public TemporalTest, public testing::WithParamInterface<int> {
 protected:
  TemporalGroupTest() {
    std::vector<std::shared_ptr<Engine>> engines;
    for (int i = 0; i < GetParam(); ++i) {
      engines.push_back(std::make_shared<temporal::OneFilterEngine>(maker_));
    }
    group_ = make_engine_group("temporal:all", std::move(engines));
  }
  const temporal::Maker group_maker_ = [this] {
    return group_->make_denoiser(Bm3dParameters{}, {}, temporal::format());
  };
  std::shared_ptr<Engine> group_;
};

TEST_P(TemporalGroupTest, EveryStreamIsAsDefined) { temporal::expect_every_stream_as_defined(group_maker_); }
TEST_P(TemporalGroupTest, SegmentsGiveTheWhole) { temporal::expect_segments_to_give_the_whole(group_maker_); }
TEST_P(TemporalGroupTest, ResetBeginsAnew) { temporal::expect_reset_to_begin_anew(group_maker_); }

TEST_P(TemporalGroupTest, TheEnginesShareTheWork) {
  const auto denoiser = group_maker_();
  const int frames = 20 * GetParam() * 4;
  temporal::run(*denoiser, std::vector<temporal::Sent>(static_cast<std::size_t>(frames), {.value = 50}));
  // In addition to its segment of eight, an engine computes the basic estimates of one frame on each side.
  EXPECT_LE(counts_.basics, frames + (GetParam() > 1 ? frames / 8 * 2 : 0));
}

INSTANTIATE_TEST_SUITE_P(Engines, TemporalGroupTest, testing::Values(1, 2, 3, 5));

}  // namespace
}  // namespace limpid
