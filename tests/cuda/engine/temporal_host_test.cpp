// SPDX-License-Identifier: MIT
// Temporal filters in the CUDA engine's host code, on a stand-in for the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "cuda/engine/window_denoiser.h"
#include "tests/core/engine/temporal_suite.h"
#include "tests/cuda/engine/device_stand_in.h"
#include "tests/cuda/engine/temporal_filter.h"

namespace limpid::cuda {
namespace {

void enqueue_mean(const Mean& mean, cudaStream_t /*stream*/) {
  check(stand_in::enqueue([mean] {
    for (int y = 0; y < mean.height; ++y) {
      for (int x = 0; x < mean.width; ++x) {
        mean.compute(x, y);
      }
    }
  }));
}

class TemporalHostTest : public testing::Test {
 protected:
  TemporalHostTest() { stand_in::reset(); }
  ~TemporalHostTest() override { stand_in::reset(); }

  const temporal::Maker maker_ = [this] {
    return std::make_unique<WindowDenoiser>(
        0, FramePool(allocate_pinned_frame),
        [&] { return std::make_unique<TwoStepMean>(counts_, enqueue_mean); }, NoiseModel{},
        temporal::format());
  };
  TwoStepMean::Counts counts_;
};

TEST_F(TemporalHostTest, EveryStreamIsAsDefined) { temporal::expect_every_stream_as_defined(maker_); }
TEST_F(TemporalHostTest, SegmentsGiveTheWhole) { temporal::expect_segments_to_give_the_whole(maker_); }
TEST_F(TemporalHostTest, ResetBeginsAnew) { temporal::expect_reset_to_begin_anew(maker_); }

TEST_F(TemporalHostTest, FramesAreUploadedOnceAndAllMemoryIsUsedAgain) {
  const auto denoiser = maker_();
  temporal::run(*denoiser, std::vector<temporal::Sent>(30, {.value = 5}));
  const stand_in::Counts counts = stand_in::counts();
  const int states = counts_.states;
  for (int stream = 0; stream < 4; ++stream) {
    denoiser->reset();
    temporal::run(*denoiser, std::vector<temporal::Sent>(30, {.value = 5}));
  }
  EXPECT_EQ(stand_in::counts(), counts);
  EXPECT_EQ(counts_.states, states);
  EXPECT_EQ(counts_.basics, 5 * 30) << "each frame's once";
}

// Samples are read when the device gets to them, which may be late.
TEST_F(TemporalHostTest, FramesAreKeptUntilTheyAreReadAndNoLonger) {
  const auto denoiser = maker_();
  std::vector<std::weak_ptr<void>> samples;
  const auto kept = [&] {
    return std::count_if(samples.begin(), samples.end(), [](const auto& one) { return !one.expired(); });
  };
  for (int i = 0; i < 12; ++i) {
    Frame frame = temporal::make_frame({.value = i}, i);
    samples.push_back(frame.samples);
    denoiser->send(std::move(frame));
    EXPECT_EQ(kept(), i + 1) << "nothing was waited for yet";
  }
  EXPECT_TRUE(denoiser->receive().has_value());
  EXPECT_EQ(kept(), 11 - temporal::kReach.after) << "those that the result depends on have been read";
  // Long before results that depend on them.
  stand_in::run_all();
  Frame later = temporal::make_frame({.value = 12}, 12);
  samples.push_back(later.samples);
  denoiser->send(std::move(later));
  EXPECT_LE(kept(), 12 - temporal::kReach.after);
  stand_in::run_all();
  denoiser->send(temporal::make_frame({.value = 13}, 13));
  EXPECT_LE(kept(), 1);
  denoiser->reset();
  EXPECT_EQ(kept(), 0);
  // Context frames alone have no results.
  for (int i = 0; i < 100; ++i) {
    Frame frame = temporal::make_frame({.value = i, .context_only = true}, i);
    samples.push_back(frame.samples);
    denoiser->send(std::move(frame));
    EXPECT_LE(kept(), 20);
  }
}

TEST_F(TemporalHostTest, WhereverACallFailsWhatIsWholeComesAndNothingElse) {
  const std::vector<temporal::Sent> frames(8, {.value = 5, .sigma = 2});
  bool failed = true;
  for (int calls = 0; failed; ++calls) {
    SCOPED_TRACE("call " + std::to_string(calls));
    const auto denoiser = maker_();
    stand_in::fail_after(calls, stand_in::Failure::kOfOneCall);
    failed = false;
    std::size_t sent = 0;
    for (; sent < frames.size() && !failed; ++sent) {
      denoiser->set_noise({{frames[sent].sigma}});
      try {
        denoiser->send(temporal::make_frame(frames[sent], static_cast<std::int64_t>(sent)));
      } catch (const Error&) {
        failed = true;
      }
    }
    stand_in::fail_after(-1, stand_in::Failure::kOfOneCall);
    std::vector<Frame> results;
    while (std::optional<Frame> result = denoiser->receive()) {
      results.push_back(std::move(*result));
    }
    // The failed frame also loses the result that it completed.
    EXPECT_EQ(results.size(), std::max<std::size_t>(failed ? sent - 1 : sent, temporal::kReach.after) -
                                  temporal::kReach.after);
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].index, static_cast<std::int64_t>(i));
    }
    if (failed) {
      EXPECT_THROW(denoiser->send(temporal::make_frame(frames[0], 0)), Error);
    }
  }
}

}  // namespace
}  // namespace limpid::cuda
