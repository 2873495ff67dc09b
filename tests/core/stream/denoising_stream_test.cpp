// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/engines.h"
#include "core/settings/filter_settings.h"
#include "core/stream/stream.h"
#include "tests/core/noise/scenes.h"

namespace limpid {
namespace {

constexpr int kStreamFrames = 9;

class DenoisingStreamTest : public testing::Test {
 protected:
  DenoisingStreamTest() {
    for (int i = 0; i < kStreamFrames; ++i) {
      frames_.push_back(test::render(
          format_, [=](int p, int x, int y) { return test::textured(p, x + i, y); }, 8,
          static_cast<unsigned>(i) + 1));
    }
  }

  std::unique_ptr<DenoisingStream> stream(const NoiseSettings& noise, Latency latency = Latency::kLookAhead,
                                          const std::string& filter = "bilateral") {
    return std::make_unique<DenoisingStream>(
        engine_, make_filter({.name = filter, .profile = {}, .parameters = {}}, false), noise,
        FieldChoice::kAuto, format_, latency);
  }
  static NoiseSettings given(float sigma) {
    return {.noise = NoiseProfile{NoiseModel{{sigma, sigma, sigma}}, std::nullopt}};
  }

  // The samples of all results of frames_[first] and the later ones.
  std::vector<std::vector<std::uint8_t>> results_of(DenoisingStream& stream, int first = 0) {
    std::vector<std::vector<std::uint8_t>> results;
    const auto receive = [&] {
      while (const std::optional<Frame> result = stream.receive()) {
        results.push_back(samples_of(*result));
      }
    };
    for (int i = first; i < kStreamFrames; ++i) {
      stream.send(frames_[i]);
      receive();
    }
    stream.flush();
    receive();
    return results;
  }

  std::vector<std::uint8_t> samples_of(const Frame& frame) const {
    std::vector<std::uint8_t> samples;
    for (int y = 0; y < format_.height; ++y) {
      const auto* const row = frame.planes[0].row<const std::uint8_t>(y);
      samples.insert(samples.end(), row, row + format_.width);
    }
    return samples;
  }

  FrameFormat format_ = test::gray_format(80, 72);
  std::shared_ptr<Engine> engine_ = engine_registry().open("cpu");
  std::vector<Frame> frames_;
};

TEST_F(DenoisingStreamTest, FiltersEachFrameWithItsOwnLevel) {
  for (const Latency latency : {Latency::kLookAhead, Latency::kNone}) {
    NoiseControl noise({}, *engine_, {}, latency);
    std::vector<std::vector<std::uint8_t>> expected;
    const Filter filter = make_filter({.name = "bilateral", .profile = {}, .parameters = {}}, false);
    const auto filter_leveled = [&] {
      while (const std::optional<LeveledFrame> next = noise.receive()) {
        const std::unique_ptr<Denoiser> denoiser = engine_->make_denoiser(filter, next->level, format_);
        denoiser->send(next->frame);
        denoiser->flush();
        expected.push_back(samples_of(denoiser->receive().value()));
      }
    };
    for (const Frame& frame : frames_) {
      noise.send(frame);
      filter_leveled();
    }
    noise.flush();
    filter_leveled();
    EXPECT_EQ(results_of(*stream({}, latency)), expected);
  }
}

TEST_F(DenoisingStreamTest, ResultsComeAfterItsLatency) {
  const auto live = stream(given(8), Latency::kNone);
  EXPECT_EQ(live->latency(), 0);
  const auto estimating = stream({});
  EXPECT_EQ(estimating->latency(), NoiseTracker::kFramesToAverage - 1);
  const auto over_time = stream({}, Latency::kLookAhead, "vbm4d");
  EXPECT_EQ(over_time->latency(), estimating->latency() + over_time->denoiser().latency());
  for (int i = 0; i < estimating->latency(); ++i) {
    estimating->send(frames_[i]);
    EXPECT_FALSE(estimating->receive());
    EXPECT_FALSE(estimating->found());
  }
  estimating->send(frames_[estimating->latency()]);
  EXPECT_TRUE(estimating->receive());
  EXPECT_TRUE(estimating->found());
}

TEST_F(DenoisingStreamTest, ResetBeginsAStreamThatKnowsNothingOfTheOneBefore) {
  const auto reset = stream({});
  for (int i = 0; i < 7; ++i) {
    reset->send(frames_[kStreamFrames - 1 - i]);
  }
  reset->flush();
  reset->reset();
  EXPECT_FALSE(reset->is_flushed());
  EXPECT_EQ(results_of(*reset), results_of(*stream({})));
}

TEST_F(DenoisingStreamTest, FramesKeepTheLevelThatTheyHaveWhenTheNoiseIsSet) {
  const auto changed = stream({});
  for (int i = 0; i < 3; ++i) {
    changed->send(frames_[i]);
  }
  changed->set_noise(given(20));
  const auto results = results_of(*changed, 3);
  ASSERT_EQ(results.size(), static_cast<std::size_t>(kStreamFrames));
  EXPECT_EQ(results.back(), results_of(*stream(given(20))).back());
  EXPECT_NE(results.front(), results_of(*stream(given(20))).front());
}

// Also at the end, where the levels of several frames become known at once.
TEST_F(DenoisingStreamTest, EachResultHasTheNoiseOfItsOwnFrame) {
  const std::unique_ptr<DenoisingStream> estimating = stream({});
  std::vector<float> found;
  const auto receive = [&] {
    while (estimating->receive()) {
      found.push_back(estimating->found_of_result().value().sigma[0]);
    }
  };
  constexpr int kCut = 8;
  constexpr int kFrames = 12;
  for (int i = 0; i < kFrames; ++i) {
    const double dark = i < kCut ? 0 : -80;
    estimating->send(test::render(
        format_, [=](int p, int x, int y) { return test::textured(p, x + i, y) + dark; },
        i < kCut ? 4.0F : 20.0F, static_cast<unsigned>(i) + 1));
    receive();
  }
  estimating->flush();
  receive();
  ASSERT_EQ(std::ssize(found), kFrames);
  for (int i = 0; i < kFrames; ++i) {
    EXPECT_NEAR(test::error_of(found[i], i < kCut ? 4 : 20), 0, 0.25) << "frame " << i;
  }
}

TEST_F(DenoisingStreamTest, ResultsContainTheShareOfTheNoisyFrame) {
  NoiseSettings noise = given(8);
  noise.mix = 1;
  const auto own = stream(noise);
  own->send(frames_[0]);
  noise.mix = 0;
  own->set_noise(noise);
  own->send(frames_[0]);
  own->flush();
  EXPECT_EQ(samples_of(own->receive().value()), samples_of(frames_[0]));
  EXPECT_NE(samples_of(own->receive().value()), samples_of(frames_[0]));
}

TEST_F(DenoisingStreamTest, FramesOfAnotherFormatAreRefused) {
  const auto own = stream(given(8));
  EXPECT_THROW(own->send(allocate_frame(test::gray_format(40, 40))), UsageError);
}

TEST_F(DenoisingStreamTest, EitherAllFramesHaveMemoryForTheirResultsOrNone) {
  const auto own = stream(given(8));
  own->send(frames_[0]);
  EXPECT_THROW(own->send(frames_[1], allocate_frame(format_)), UsageError);
}

}  // namespace
}  // namespace limpid
