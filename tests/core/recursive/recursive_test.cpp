// SPDX-License-Identifier: MIT
#include "tests/oracle/recursive.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/frame.h"
#include "core/frame/metrics.h"
#include "core/recursive/recursive_parameters.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/along_motion.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;
using test::clean_picture;
using test::expect_same;
using test::kSigma;
using test::noisy_clip;
using test::run_stream;
using test::store_sample;
using test::white_noise;

constexpr double kDeviation = kSigma;

std::vector<Frame> joined(std::vector<Frame> first, const std::vector<Frame>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class RecursiveTest : public test::TemporalSuite<RecursiveParameters> {
 protected:
  std::unique_ptr<Denoiser> make(const FrameFormat& format) {
    return engine().make_denoiser(RecursiveParameters{}, white_noise(), format);
  }
  double psnr_of(const Frame& result, int t, unsigned scene = 0) {
    return measure(clean_picture(result.format, t, scene), result)[0].psnr;
  }
};

TEST_P(RecursiveTest, AgreesWithTheOracleForAllParameters) {
  const std::vector<Frame> frames = noisy_clip(gray(75, 90), 4, kDeviation);
  expect_as_defined(frames, recursive_profile(RecursiveProfile::kFast));
  expect_as_defined(frames, {.spacing = 1, .second_spacing = 8});
  expect_as_defined(frames, {.spacing = 8, .second_spacing = 1, .motion_searches = 1});
  expect_as_defined(frames, {.spacing = 7, .second_spacing = 5, .lambda = 4});
}

TEST_P(RecursiveTest, AgreesWithTheOracleWhereTheNoiseChanges) {
  const std::vector<Frame> frames = noisy_clip(yuv(53, 44, 1, 1), 6, kDeviation);
  const std::vector<NoiseModel> noise = {white_noise(), white_noise(), white_noise(20),
                                         {{8, 12, 12}}, {{8, 0, 12}},  {{12, 6, 12}}};
  expect_as_defined(frames, {}, noise);
}

TEST_P(RecursiveTest, BeginsAnewWhereItIsToldTo) {
  const FrameFormat format = yuv(64, 48, 1, 1);
  const std::vector<Frame> before = noisy_clip(format, 4, kDeviation);
  std::vector<Frame> behind = noisy_clip(format, 3, kDeviation, 2);
  behind[0].begins_anew = true;
  const std::vector<Frame> alone = run(behind);
  const std::vector<Frame> together = run(joined(before, behind));
  expect_same({together.begin() + 4, together.end()}, alone);
  // A seek, with frames under way or not.
  behind[0].begins_anew = false;
  for (const bool received : {false, true}) {
    const std::unique_ptr<Denoiser> denoiser = make(format);
    for (const Frame& frame : before) {
      denoiser->send(frame);
      if (received) {
        EXPECT_TRUE(denoiser->receive().has_value());
      }
    }
    denoiser->reset();
    expect_same(run_stream(*denoiser, behind), alone);
  }
}

// Where most of a picture has no prior, nobody has to tell of a cut.
TEST_P(RecursiveTest, ACutThatNobodyTellsOfIsTheFirstFrameOfAScene) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> before = noisy_clip(format, 4, kDeviation);
  std::vector<Frame> behind;
  for (const Frame& frame : before) {
    behind.push_back(oracle::add_noise(test::relit(clean_picture(format, 0), -1, 255), kDeviation,
                                       500 + static_cast<std::uint64_t>(frame.index)));
  }
  const std::vector<Frame> alone = run(behind);
  const std::vector<Frame> together = run(joined(before, behind));
  EXPECT_TRUE(oracle::same_bits(together[4], alone[0]));
  EXPECT_TRUE(oracle::same_bits(together[7], alone[3]));
}

TEST_P(RecursiveTest, RepeatedFramesHoldTheState) {
  for (const FrameFormat& format : {yuv(64, 48, 1, 1), rgb(48, 40), gray(64, 48, 10)}) {
    const std::vector<Frame> frames = noisy_clip(format, 4, kDeviation);
    const std::vector<Frame> once = run(frames);
    std::vector<Frame> twice;
    for (const Frame& frame : frames) {
      twice.insert(twice.end(), {frame, frame});
    }
    const std::vector<Frame> results = run(twice);
    for (std::size_t t = 0; t < results.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(results[t], once[t / 2])) << t;
    }
  }
}

// As a lossy codec makes of a repeated frame.
TEST_P(RecursiveTest, NearlyRepeatedFramesHoldTheState) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> frames = noisy_clip(format, 4, kDeviation);
  const std::vector<Frame> once = run(frames);
  std::vector<Frame> twice;
  for (const Frame& frame : frames) {
    twice.insert(twice.end(), {frame, oracle::add_noise(frame, 1.5, 9)});
  }
  const std::vector<Frame> results = run(twice);
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_TRUE(oracle::same_bits(results[t], once[t / 2])) << t;
  }
  expect_as_defined(twice);
}

// A part that changes is not held back, however little it is, nor is a slow fade.
TEST_P(RecursiveTest, ChangesInARestingPictureAreShown) {
  const FrameFormat format = gray(96, 80);
  const Frame still = clean_picture(format, 0);
  std::vector<Frame> frames = {still, still, allocate_frame(format)};
  copy_samples(still, frames[2]);
  for (int y = 40; y < 52; ++y) {
    for (int x = 40; x < 52; ++x) {
      store_sample(frames[2], 0, x, y, x % 2 == 0 ? 255 : 0);
    }
  }
  const std::vector<Frame> results = run(frames);
  EXPECT_TRUE(oracle::same_bits(results[1], results[0]));
  EXPECT_NEAR(results[2].planes[0].row<std::uint8_t>(46)[46], 255, 30);

  std::vector<Frame> fading;
  for (int t = 0; t < 30; ++t) {
    fading.push_back(test::relit(still, 0.5, 10 + 2 * t));
  }
  const std::vector<Frame> faded = run(fading);
  for (int t = 0; t < 30; ++t) {
    EXPECT_GT(measure(fading[t], faded[t])[0].psnr, 30) << t;
  }
}

TEST_P(RecursiveTest, ContextFeedsTheState) {
  const std::vector<Frame> frames = noisy_clip(yuv(64, 48, 1, 1), 8, kDeviation);
  const std::vector<Frame> whole = run(frames);
  std::vector<Frame> segment = frames;
  for (int t = 0; t < 5; ++t) {
    segment[t].context_only = true;
  }
  expect_same(run(segment), {whole.begin() + 5, whole.end()});
}

TEST_P(RecursiveTest, WaitsForNoFrame) {
  test::expect_no_later(engine(), RecursiveParameters{}, 0, noisy_clip(gray(24, 24), 5, kDeviation));
  EXPECT_TRUE(make(gray(24, 24))->reach().unbounded);
}

// What the filter is for.
TEST_P(RecursiveTest, MoreFramesGiveBetterPictures) {
  const FrameFormat format = gray(128, 96);
  const std::vector<Frame> frames = noisy_clip(format, 12, 20);
  const std::vector<Frame> results = run(frames, {}, white_noise(20));
  EXPECT_GT(psnr_of(results[11], 11), psnr_of(results[0], 0) + 1.5);
  const std::vector<Frame> fast = run(frames, recursive_profile(RecursiveProfile::kFast), white_noise(20));
  EXPECT_GT(psnr_of(results[11], 11), psnr_of(fast[11], 11));
}

INSTANTIATE_TEST_SUITE_P(Engines, RecursiveTest, kSuiteEngines, suite_name);

TEST(RecursiveParameters, TellWhatIsIllegal) {
  const auto message = [](const RecursiveParameters& parameters) {
    return message_of([&] { parameters.validate(); });
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.spacing = 9}), "first step: a step of 9 is not possible (1 to 8)");
  EXPECT_NE(message({.second_spacing = 0}).find("second step"), std::string::npos);
  EXPECT_NE(message({.motion_searches = 3}).find("motion searches"), std::string::npos);
  EXPECT_NE(message({.lambda = NAN}).find("lambda"), std::string::npos);
}

TEST(Recursion, FractionsAreRoundedAndAtMostASample) {
  using recursive::EighthVector;
  // A ramp of 10 per sample, of 256 samples, that is ahead by so much.
  const auto of_ramp = [](int difference) {
    return recursive::fraction_of({256 * 400, 0, 0, 256 * 20 * difference, 0});
  };
  EXPECT_EQ(of_ramp(0), (EighthVector{0, 0}));
  EXPECT_EQ(of_ramp(5), (EighthVector{3, 0}));
  EXPECT_EQ(of_ramp(-5), (EighthVector{-3, 0}));
  EXPECT_EQ(of_ramp(200), (EighthVector{8, 0}));
  EXPECT_EQ(recursive::subsampled(-3, 1), -1);
  EXPECT_EQ(recursive::subsampled(3, 1), 2);
}

}  // namespace
}  // namespace limpid
