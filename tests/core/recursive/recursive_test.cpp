// SPDX-License-Identifier: MIT
#include "tests/oracle/recursive.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/code_values.h"
#include "core/frame/metrics.h"
#include "core/recursive/recursion.h"
#include "core/recursive/recursive_parameters.h"
#include "tests/core/engine/engine_suite.h"
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
using test::kSigma;
using test::noisy_clip;
using test::run_stream;
using test::store_sample;
using test::white_noise;

constexpr double kDeviation = kSigma;

// The same frames with a flag.
std::vector<Frame> interlaced(std::vector<Frame> frames) {
  for (Frame& frame : frames) {
    frame.interlaced = true;
  }
  return frames;
}

std::vector<Frame> joined(std::vector<Frame> first, const std::vector<Frame>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

NoiseModel shaped_noise() {
  NoiseModel noise = white_noise();
  for (NoiseShape& shape : noise.shape) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) {
      shape.spectrum[i] = 1.0F / (1 + 0.2F * static_cast<float>(i / 8 + 2 * (i % 8)));
      sum += double{shape.spectrum[i]};
    }
    for (float& variance : shape.spectrum) {
      variance *= static_cast<float>(64 / sum);
    }
    for (std::size_t i = 0; i < shape.curve.size(); ++i) {
      shape.curve[i] = 0.7F + 0.04F * static_cast<float>(i);
    }
  }
  return noise;
}

class RecursiveTest : public EngineSuite {
 protected:
  std::unique_ptr<Denoiser> make(const FrameFormat& format, const RecursiveParameters& parameters = {},
                                 const NoiseModel& noise = white_noise()) {
    return engine().make_denoiser(parameters, noise, format);
  }
  std::vector<Frame> run_recursive(const std::vector<Frame>& frames,
                                   const RecursiveParameters& parameters = {},
                                   const NoiseModel& noise = white_noise()) {
    return run_stream(*make(frames.front().format, parameters, noise), frames);
  }

  static void expect_alike(const std::vector<Frame>& results, const std::vector<Frame>& expected) {
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t t = 0; t < results.size(); ++t) {
      const oracle::Agreement agreement = oracle::compare(results[t], expected[t]);
      EXPECT_TRUE(oracle::within_contract(agreement)) << "frame " << t << ": " << to_string(agreement);
      EXPECT_EQ(results[t].index, expected[t].index);
    }
  }
  void expect_recursive_as_defined(const std::vector<Frame>& frames,
                                   const RecursiveParameters& parameters = {},
                                   const NoiseModel& noise = white_noise()) {
    expect_alike(run_recursive(frames, parameters, noise), oracle::denoise(frames, parameters, {noise}));
  }
  static void expect_same(const std::vector<Frame>& a, const std::vector<Frame>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t t = 0; t < a.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(a[t], b[t])) << t;
    }
  }
  double psnr_of(const Frame& result, int t, unsigned scene = 0) {
    return measure(clean_picture(result.format, t, scene), result)[0].psnr;
  }
};

TEST_P(RecursiveTest, AgreesWithTheOracleInEveryFormat) {
  const FrameFormat formats[] = {
      gray(41, 35),      gray(40, 33, 10),      gray(33, 40, 16),     as_float(gray(40, 33)),
      yuv(44, 38, 1, 1), yuv(43, 37, 1, 1, 10), yuv(42, 30, 1, 0),    yuv(40, 34, 2, 0),
      yuv(34, 33, 0, 0), rgb(36, 33),           as_float(rgb(33, 35))};
  for (const FrameFormat& format : formats) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    expect_recursive_as_defined(noisy_clip(format, 5, kDeviation));
  }
}

TEST_P(RecursiveTest, AgreesWithTheOracleForAllParameters) {
  const std::vector<Frame> frames = noisy_clip(gray(75, 90), 4, kDeviation);
  expect_recursive_as_defined(frames, recursive_profile(RecursiveProfile::kFast));
  expect_recursive_as_defined(frames, {.spacing = 1, .second_spacing = 8});
  expect_recursive_as_defined(frames, {.spacing = 8, .second_spacing = 1, .motion_searches = 1});
  expect_recursive_as_defined(frames, {.spacing = 7, .second_spacing = 5, .lambda = 4});
}

TEST_P(RecursiveTest, AgreesWithTheOracleForNoiseOfAnyShape) {
  const std::vector<Frame> frames = noisy_clip(yuv(53, 44, 1, 1), 4, kDeviation);
  expect_recursive_as_defined(frames, {}, shaped_noise());
  expect_recursive_as_defined(noisy_clip(rgb(40, 44), 3, kDeviation), {}, shaped_noise());
  // Of planes with different noise, and one without.
  expect_recursive_as_defined(frames, {}, {{12, 0, 20}});
  expect_recursive_as_defined(frames, {}, {{0, 9, 9}});
}

TEST_P(RecursiveTest, AgreesWithTheOracleWhereTheNoiseChanges) {
  const std::vector<Frame> frames = noisy_clip(yuv(53, 44, 1, 1), 6, kDeviation);
  const std::vector<NoiseModel> noise = {white_noise(), white_noise(), white_noise(20),
                                         {{8, 12, 12}}, {{8, 0, 12}},  {{12, 6, 12}}};
  const std::unique_ptr<Denoiser> denoiser = make(frames[0].format);
  std::vector<Frame> results;
  for (std::size_t t = 0; t < frames.size(); ++t) {
    denoiser->set_noise(noise[t]);
    denoiser->send(frames[t]);
    results.push_back(denoiser->receive().value());
  }
  expect_alike(results, oracle::denoise(frames, {}, noise));
}

TEST_P(RecursiveTest, FiltersFieldsByThemselves) {
  std::vector<Frame> frames = interlaced(noisy_clip(yuv(40, 71, 1, 1), 4, kDeviation));
  expect_recursive_as_defined(frames);
  // And begins anew where frames are whole again.
  frames[2].interlaced = frames[3].interlaced = false;
  expect_recursive_as_defined(frames);
}

TEST_P(RecursiveTest, BeginsAnewWhereItIsToldTo) {
  const FrameFormat format = yuv(64, 48, 1, 1);
  const std::vector<Frame> before = noisy_clip(format, 4, kDeviation);
  std::vector<Frame> behind = noisy_clip(format, 3, kDeviation, 2);
  behind[0].begins_anew = true;
  const std::vector<Frame> alone = run_recursive(behind);
  const std::vector<Frame> together = run_recursive(joined(before, behind));
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
  const std::vector<Frame> alone = run_recursive(behind);
  const std::vector<Frame> together = run_recursive(joined(before, behind));
  EXPECT_TRUE(oracle::same_bits(together[4], alone[0]));
  EXPECT_TRUE(oracle::same_bits(together[7], alone[3]));
}

TEST_P(RecursiveTest, RepeatedFramesHoldTheState) {
  for (const FrameFormat& format : {yuv(64, 48, 1, 1), rgb(48, 40), gray(64, 48, 10)}) {
    const std::vector<Frame> frames = noisy_clip(format, 4, kDeviation);
    const std::vector<Frame> once = run_recursive(frames);
    std::vector<Frame> twice;
    for (const Frame& frame : frames) {
      twice.insert(twice.end(), {frame, frame});
    }
    const std::vector<Frame> results = run_recursive(twice);
    for (std::size_t t = 0; t < results.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(results[t], once[t / 2])) << t;
    }
  }
}

// As a lossy codec makes of a repeated frame.
TEST_P(RecursiveTest, NearlyRepeatedFramesHoldTheState) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> frames = noisy_clip(format, 4, kDeviation);
  const std::vector<Frame> once = run_recursive(frames);
  std::vector<Frame> twice;
  for (const Frame& frame : frames) {
    twice.insert(twice.end(), {frame, oracle::add_noise(frame, 1.5, 9)});
  }
  const std::vector<Frame> results = run_recursive(twice);
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_TRUE(oracle::same_bits(results[t], once[t / 2])) << t;
  }
  expect_recursive_as_defined(twice);
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
  const std::vector<Frame> results = run_recursive(frames);
  EXPECT_TRUE(oracle::same_bits(results[1], results[0]));
  EXPECT_NEAR(results[2].planes[0].row<std::uint8_t>(46)[46], 255, 30);

  std::vector<Frame> fading;
  for (int t = 0; t < 30; ++t) {
    fading.push_back(test::relit(still, 0.5, 10 + 2 * t));
  }
  const std::vector<Frame> faded = run_recursive(fading);
  for (int t = 0; t < 30; ++t) {
    EXPECT_GT(measure(fading[t], faded[t])[0].psnr, 30) << t;
  }
}

TEST_P(RecursiveTest, ContextFeedsTheState) {
  const std::vector<Frame> frames = noisy_clip(yuv(64, 48, 1, 1), 8, kDeviation);
  const std::vector<Frame> whole = run_recursive(frames);
  std::vector<Frame> segment = frames;
  for (int t = 0; t < 5; ++t) {
    segment[t].context_only = true;
  }
  expect_same(run_recursive(segment), {whole.begin() + 5, whole.end()});
}

TEST_P(RecursiveTest, WaitsForNoFrame) {
  test::expect_no_later(engine(), RecursiveParameters{}, 0, noisy_clip(gray(24, 24), 5, kDeviation));
  EXPECT_TRUE(make(gray(24, 24))->reach().unbounded);
}

TEST_P(RecursiveTest, SmallPlanesPassThroughOrHaveFewPatches) {
  for (const FrameFormat& format : {gray(7, 40), gray(40, 7), yuv(14, 14, 1, 1, 10), gray(8, 8, 10),
                                    gray(9, 8, 10), yuv(15, 9, 0, 0, 10), yuv(16, 17, 1, 1)}) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    expect_recursive_as_defined(noisy_clip(format, 3, kDeviation));
  }
  EXPECT_EQ(make(yuv(14, 20, 1, 1))->warnings().size(), 2U);
}

TEST_P(RecursiveTest, AlphaPassesThrough) {
  FrameFormat format = yuv(40, 36, 1, 1);
  format.has_alpha = true;
  const std::vector<Frame> frames = noisy_clip(format, 3, kDeviation);
  const std::vector<Frame> results = run_recursive(frames);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    for (int y = 0; y < format.height; ++y) {
      for (int x = 0; x < format.width; ++x) {
        ASSERT_EQ(results[t].planes[3].row<std::uint8_t>(y)[x], frames[t].planes[3].row<std::uint8_t>(y)[x]);
      }
    }
  }
}

TEST_P(RecursiveTest, FlatPicturesStayWhatTheyAre) {
  const FrameFormat format = yuv(48, 40, 1, 1);
  for (const double level : {0.0, 100.0, 255.0}) {
    Frame flat = allocate_frame(format);
    for (int p = 0; p < 3; ++p) {
      for (int y = 0; y < format.plane_height(p); ++y) {
        for (int x = 0; x < format.plane_width(p); ++x) {
          store_sample(flat, p, x, y, level);
        }
      }
    }
    for (const Frame& result : run_recursive({flat, flat, flat})) {
      EXPECT_TRUE(oracle::same_bits(result, flat)) << level;
    }
  }
}

TEST_P(RecursiveTest, HardlyAnyNoiseChangesHardlyAnything) {
  const std::vector<Frame> frames = noisy_clip(yuv(44, 38, 1, 1), 3, 20);
  for (const float sigma : {1e-6F, 1e-3F, 0.05F}) {
    NoiseModel noise = white_noise(sigma);
    for (int i = 0; i < 2; ++i) {
      const std::vector<Frame> results = run_recursive(frames, {}, noise);
      for (std::size_t t = 0; t < frames.size(); ++t) {
        EXPECT_LE(oracle::compare(results[t], frames[t]).greatest, 1) << sigma << ", " << t;
      }
      // And where a part of the brightnesses has yet less.
      noise.shape[0].curve.fill(1e-3F);
    }
  }
}

TEST_P(RecursiveTest, FloatSamplesMayBeAnything) {
  const FrameFormat format = as_float(gray(40, 36));
  std::vector<Frame> frames = noisy_clip(format, 3, kDeviation);
  frames[1].planes[0].row<float>(7)[9] = std::numeric_limits<float>::quiet_NaN();
  frames[1].planes[0].row<float>(17)[9] = std::numeric_limits<float>::infinity();
  frames[1].planes[0].row<float>(17)[19] = -1e30F;
  const std::vector<Frame> results = run_recursive(frames);
  for (std::size_t t = 0; t < frames.size(); ++t) {
    for (int y = 0; y < format.height; ++y) {
      const auto* const in = frames[t].planes[0].row<float>(y);
      const auto* const out = results[t].planes[0].row<float>(y);
      for (int x = 0; x < format.width; ++x) {
        if (is_usable_sample(in[x])) {
          ASSERT_TRUE(std::isfinite(out[x]));
        } else {
          ASSERT_EQ(std::bit_cast<std::uint32_t>(out[x]), std::bit_cast<std::uint32_t>(in[x]));
        }
      }
    }
  }
}

TEST_P(RecursiveTest, IsAlikeFromRunToRunAndForAnyNumberOfThreads) {
  const std::vector<Frame> frames = noisy_clip(yuv(130, 150, 1, 1), 4, kDeviation);
  const std::vector<Frame> once = run_recursive(frames);
  for (const int threads : {1, 3, 3}) {
    engine_ = engine_registry().open(GetParam(), {.threads = threads});
    expect_same(run_recursive(frames), once);
  }
}

// What the filter is for.
TEST_P(RecursiveTest, MoreFramesGiveBetterPictures) {
  const FrameFormat format = gray(128, 96);
  const std::vector<Frame> frames = noisy_clip(format, 12, 20);
  const std::vector<Frame> results = run_recursive(frames, {}, white_noise(20));
  EXPECT_GT(psnr_of(results[11], 11), psnr_of(results[0], 0) + 1.5);
  const std::vector<Frame> fast =
      run_recursive(frames, recursive_profile(RecursiveProfile::kFast), white_noise(20));
  EXPECT_GT(psnr_of(results[11], 11), psnr_of(fast[11], 11));
}

INSTANTIATE_TEST_SUITE_P(Engines, RecursiveTest, kSuiteEngines, suite_name);

class RecursiveSimdTest : public SimdLevelTest {};

TEST_P(RecursiveSimdTest, AgreesWithTheOracle) {
  const std::vector<Frame> frames = noisy_clip(yuv(53, 44, 1, 1), 4, kDeviation);
  for (const NoiseModel& noise : {white_noise(), shaped_noise()}) {
    const std::vector<Frame> expected = oracle::denoise(frames, RecursiveParameters{}, {noise});
    const std::vector<Frame> results =
        run_stream(*engine().make_denoiser(RecursiveParameters{}, noise, frames[0].format), frames);
    ASSERT_EQ(results.size(), frames.size());
    for (std::size_t t = 0; t < results.size(); ++t) {
      const oracle::Agreement agreement = oracle::compare(results[t], expected[t]);
      EXPECT_TRUE(oracle::within_contract(agreement)) << t << ": " << to_string(agreement);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, RecursiveSimdTest, kSimdLevels, simd_level_name);

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
