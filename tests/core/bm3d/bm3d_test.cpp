// SPDX-License-Identifier: MIT
// Every engine's BM3D compared with the plain double-precision implementation and with itself. Results agree
// if they fulfill the engines' contract: within one 8-bit code value on 99.99 % of the samples, nowhere more
// than 4, and at least 60 dB.
#include "tests/oracle/bm3d.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "core/base/error.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cpu/bm3d/tile.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/transforms.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;

constexpr float kSigma = 19.37F;

constexpr Transform2d kTransforms2d[] = {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard,
                                         Transform2d::kHaar};
constexpr Transform1d kTransforms1d[] = {Transform1d::kWalshHadamard, Transform1d::kHaar};

NoiseModel equal_noise(float sigma) { return {{sigma, sigma, sigma}}; }

Frame noisy_picture(const FrameFormat& format, double sigma = static_cast<double>(kSigma),
                    std::uint64_t seed = 1) {
  return oracle::add_noise(oracle::draw_picture(format), sigma, seed);
}

Bm3dParameters first_step_only(Bm3dParameters parameters) {
  parameters.wiener.reset();
  return parameters;
}

void expect_frames_agree(const Frame& result, const Frame& expected) {
  const oracle::Agreement agreement = oracle::compare(result, expected);
  EXPECT_TRUE(oracle::within_contract(agreement)) << oracle::to_string(agreement);
}

void expect_agrees(Engine& engine, const Frame& frame, const Bm3dParameters& parameters,
                   const NoiseModel& noise) {
  expect_frames_agree(run_filter(engine, frame, parameters, noise),
                      oracle::denoise(frame, parameters, noise));
}

class Bm3dTest : public EngineSuite {};

TEST_P(Bm3dTest, AllProfilesAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(60, 45));
  for (const Profile profile : {Profile::kFast, Profile::kLc, Profile::kNp, Profile::kHigh}) {
    SCOPED_TRACE(to_string(profile));
    expect_agrees(engine(), frame, bm3d_profile(profile), equal_noise(kSigma));
    expect_agrees(engine(), frame, first_step_only(bm3d_profile(profile)), equal_noise(kSigma));
  }
  const Frame noisier = noisy_picture(gray(60, 45), 50.7);
  expect_agrees(engine(), noisier, bm3d_profile(Profile::kNp), equal_noise(50.7F));
  expect_agrees(engine(), noisier, first_step_only(bm3d_profile(Profile::kNp)), equal_noise(50.7F));
}

TEST_P(Bm3dTest, CoefficientsAtTheThresholdAreKept) {
  // Integers' transforms equal 2.7 * 20 = 54 exactly, so rounding would decide.
  const Frame frame = noisy_picture(gray(60, 45), 20);
  for (const Profile profile : {Profile::kFast, Profile::kNp}) {
    const Bm3dParameters parameters = first_step_only(bm3d_profile(profile));
    const oracle::Agreement agreement =
        oracle::compare(run_filter(engine(), frame, parameters, equal_noise(20)),
                        oracle::denoise(frame, parameters, equal_noise(20)));
    EXPECT_LE(agreement.greatest, 1) << oracle::to_string(agreement);
  }
}

TEST_P(Bm3dTest, AllTransformsAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(40, 37));
  for (const Transform2d transform_2d : kTransforms2d) {
    for (const Transform1d transform_1d : kTransforms1d) {
      SCOPED_TRACE(std::string(to_string(transform_2d)) + " and " + std::string(to_string(transform_1d)));
      Bm3dParameters parameters = bm3d_profile(Profile::kNp);
      for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
        step->transform_2d = transform_2d;
        step->transform_1d = transform_1d;
      }
      expect_agrees(engine(), frame, parameters, equal_noise(kSigma));
      expect_agrees(engine(), frame, first_step_only(parameters), equal_noise(kSigma));
    }
  }
}

// White noise filtered by a kernel that decays as exp(-distance / reach): the variances of its coefficients.
NoiseShape correlated(double reach_x, double reach_y) {
  constexpr int k = NoiseShape::kFrequencies;
  const auto variances = [](double reach) {
    const oracle::Matrix dct = oracle::make_transform(Transform2d::kDct, k).forward;
    std::array<double, k> result{};
    for (int u = 0; u < k; ++u) {
      for (int i = 0; i < k; ++i) {
        for (int j = 0; j < k; ++j) {
          result[u] += dct.at(u, i) * dct.at(u, j) * std::exp(-std::abs(i - j) / reach);
        }
      }
    }
    return result;
  };
  NoiseShape shape;
  for (int v = 0; v < k; ++v) {
    for (int u = 0; u < k; ++u) {
      shape.spectrum[v * k + u] = static_cast<float>(variances(reach_y)[v] * variances(reach_x)[u]);
    }
  }
  return shape;
}

TEST_P(Bm3dTest, NoiseThatIsNotWhiteAgreesWithTheOracle) {
  NoiseModel noise = equal_noise(kSigma);
  noise.shape = {correlated(1.5, 0.6), correlated(3, 2), correlated(0.3, 0.9)};
  for (const FrameFormat& format : {gray(60, 45), gray(60, 45, 10), as_float(gray(60, 45)), yuv(60, 45, 1, 1),
                                    yuv(49, 42, 1, 0), yuv(40, 33, 0, 0), rgb(40, 33)}) {
    SCOPED_TRACE(to_string(format));
    for (const Profile profile : {Profile::kLc, Profile::kNp}) {
      expect_agrees(engine(), noisy_picture(format), bm3d_profile(profile), noise);
    }
  }
  NoiseModel dependent = noise;
  dependent.opponent = {{{14, correlated(1, 2)}, {5, correlated(2, 1)}, {0, {}}}};
  expect_agrees(engine(), noisy_picture(rgb(40, 33)), bm3d_profile(Profile::kNp), dependent);
  for (const Transform2d transform : kTransforms2d) {
    for (const int k : {4, 8, 11}) {
      if (k == 11 && transform != Transform2d::kDct) {
        continue;
      }
      SCOPED_TRACE(std::to_string(k) + ", " + std::string(to_string(transform)));
      Bm3dParameters parameters = bm3d_profile(Profile::kNp);
      for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
        step->patch_size = k;
        step->transform_2d = transform;
        step->search_window = 15;
      }
      expect_agrees(engine(), noisy_picture(gray(45, 40)), parameters, noise);
    }
  }
}

TEST_P(Bm3dTest, NoiseThatDependsOnBrightnessAgreesWithTheOracle) {
  NoiseModel noise = equal_noise(kSigma);
  for (std::size_t p = 0; p < 3; ++p) {
    NoiseShape::Curve& curve = noise.shape[p].curve;
    for (std::size_t i = 0; i < curve.size(); ++i) {
      const float brightness = static_cast<float>(i) / static_cast<float>(curve.size() - 1);
      curve[i] = p == 1 ? 1.5F - brightness : 0.4F + 1.6F * brightness * brightness;
    }
  }
  const auto check = [&](const FrameFormat& format, const Bm3dParameters& parameters,
                         const NoiseModel& model) {
    SCOPED_TRACE(to_string(format));
    expect_agrees(engine(), noisy_picture(format), parameters, model);
    expect_agrees(engine(), noisy_picture(format), first_step_only(parameters), model);
  };
  for (const int depth : {8, 9, 10, 12, 14, 16}) {
    check(gray(60, 45, depth), bm3d_profile(Profile::kNp), noise);
  }
  for (const FrameFormat& format : {as_float(gray(60, 45)), yuv(60, 45, 1, 1), yuv(40, 33, 0, 0, 10),
                                    rgb(40, 33), as_float(rgb(40, 33))}) {
    check(format, bm3d_profile(Profile::kLc), noise);
    check(format, bm3d_profile(Profile::kNp), noise);
  }
  NoiseModel of_channels = equal_noise(kSigma);
  of_channels.opponent = {{{14, noise.shape[0]}, {5, noise.shape[1]}, {0, {}}}};
  check(rgb(40, 33), bm3d_profile(Profile::kNp), of_channels);
  noise.shape[0].spectrum = correlated(1.5, 0.6).spectrum;
  check(gray(60, 45), bm3d_profile(Profile::kHigh), noise);
  for (const int k : {4, 8, 11}) {
    Bm3dParameters parameters = bm3d_profile(Profile::kNp);
    for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
      step->patch_size = k;
      step->search_window = 15;
      step->transform_2d = k == 11 ? Transform2d::kDct : Transform2d::kBior15;
    }
    check(gray(45, 40), parameters, noise);
  }
}

TEST_P(Bm3dTest, AllPatchSizesAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(37, 34));
  for (int k = 2; k <= 16; ++k) {
    for (const Transform2d transform : kTransforms2d) {
      if (transform != Transform2d::kDct && (k & (k - 1)) != 0) {
        continue;
      }
      SCOPED_TRACE(std::to_string(k) + ", " + std::string(to_string(transform)));
      Bm3dParameters parameters = bm3d_profile(Profile::kNp);
      for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
        step->patch_size = k;
        step->spacing = std::min(k, 4);
        step->search_window = 15;
        step->transform_2d = transform;
      }
      expect_agrees(engine(), frame, parameters, equal_noise(kSigma));
    }
  }
}

TEST_P(Bm3dTest, StepsWithDifferentPatchSizesAgreeWithTheOracle) {
  Bm3dParameters parameters = bm3d_profile(Profile::kNp);
  parameters.wiener->patch_size = 11;
  expect_agrees(engine(), noisy_picture(gray(50, 40), 50.7), parameters, equal_noise(50.7F));
  parameters.hard_threshold.patch_size = 4;
  parameters.hard_threshold.spacing = 3;
  parameters.wiener->patch_size = 8;
  expect_agrees(engine(), noisy_picture(yuv(40, 36, 1, 1)), parameters, equal_noise(kSigma));
}

TEST_P(Bm3dTest, AllGroupSizesAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(40, 33));
  for (const int group_size : {1, 2, 3, 4, 8, 16, 32, 64}) {
    for (const Transform1d transform : kTransforms1d) {
      SCOPED_TRACE(std::to_string(group_size) + ", " + std::string(to_string(transform)));
      Bm3dParameters parameters = bm3d_profile(Profile::kLc);
      for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
        step->max_group_size = group_size;
        step->transform_1d = transform;
      }
      expect_agrees(engine(), frame, parameters, equal_noise(kSigma));
    }
  }
}

TEST_P(Bm3dTest, FloatSamplesAgreeWithTheOracleWithoutRounding) {
  const Frame frame = noisy_picture(as_float(gray(48, 40)));
  for (const Bm3dParameters& parameters :
       {bm3d_profile(Profile::kNp), first_step_only(bm3d_profile(Profile::kNp))}) {
    const Frame result = run_filter(engine(), frame, parameters, equal_noise(kSigma));
    const Frame expected = oracle::denoise(frame, parameters, equal_noise(kSigma));
    expect_frames_agree(result, expected);
    // Only slightly above the precision of the arithmetic: wrong windows or weights are detected here.
    EXPECT_GE(oracle::compare(result, expected).psnr, 75);
  }
}

TEST_P(Bm3dTest, FloatSamplesOutsideOfTheNominalRangeAreNotClipped) {
  Frame frame = noisy_picture(as_float(gray(40, 32)));
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 40; ++x) {
      frame.planes[0].row<float>(y)[x] = 1.6F * frame.planes[0].row<float>(y)[x] - 0.4F;
    }
  }
  const Frame result = run_filter(engine(), frame, bm3d_profile(Profile::kNp), equal_noise(1.6F * kSigma));
  expect_frames_agree(result, oracle::denoise(frame, bm3d_profile(Profile::kNp), equal_noise(1.6F * kSigma)));
  float least = 0;
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 40; ++x) {
      least = std::min(least, result.planes[0].row<float>(y)[x]);
    }
  }
  EXPECT_LT(least, 0);
}

TEST_P(Bm3dTest, RgbAgreesWithTheOracle) {
  const Frame frame = noisy_picture(rgb(40, 35));
  expect_agrees(engine(), frame, bm3d_profile(Profile::kNp), equal_noise(kSigma));
  expect_agrees(engine(), frame, bm3d_profile(Profile::kLc), {{kSigma, 7.1F, 31.3F}});
}

TEST_P(Bm3dTest, EverySizeAgreesWithTheOracle) {
  Bm3dParameters parameters = bm3d_profile(Profile::kLc);
  parameters.hard_threshold.search_window = parameters.wiener->search_window = 13;
  for (int width = 8; width <= 27; ++width) {
    SCOPED_TRACE(width);
    expect_agrees(engine(), noisy_picture(gray(width, 35 - width)), parameters, equal_noise(kSigma));
  }
  // One sample more than a tile of any power of two, one row, and one column more than the patches' grid.
  for (const auto& [width, height] :
       {std::pair{65, 9}, std::pair{9, 65}, std::pair{129, 8}, std::pair{8, 131}}) {
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    expect_agrees(engine(), noisy_picture(gray(width, height)), parameters, equal_noise(kSigma));
    expect_agrees(engine(), noisy_picture(yuv(width, height, 1, 1)), parameters, equal_noise(kSigma));
  }
}

TEST_P(Bm3dTest, ExtremesOfTheParametersAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(33, 30));
  const auto check = [&](const char* what, const Bm3dParameters& parameters, float sigma = kSigma) {
    SCOPED_TRACE(what);
    expect_agrees(engine(), frame, parameters, equal_noise(sigma));
    expect_agrees(engine(), frame, first_step_only(parameters), equal_noise(sigma));
  };
  const auto with = [](auto change) {
    Bm3dParameters parameters = bm3d_profile(Profile::kLc);
    change(parameters.hard_threshold);
    change(*parameters.wiener);
    return parameters;
  };
  check("no search", with([](Bm3dStep& step) { step.search_window = 1; }));
  check("widest search", with([](Bm3dStep& step) { step.search_window = 129; }));
  check("tau 0", with([](Bm3dStep& step) { step.max_distance = 0; }));
  check("greatest tau", with([](Bm3dStep& step) { step.max_distance = 65025; }));
  check("flat window", with([](Bm3dStep& step) { step.kaiser_beta = 0; }));
  check("narrowest window", with([](Bm3dStep& step) { step.kaiser_beta = 8; }));
  check("step 1", with([](Bm3dStep& step) { step.spacing = 1; }));
  check("step k", with([](Bm3dStep& step) { step.spacing = step.patch_size; }));
  Bm3dParameters parameters = bm3d_profile(Profile::kLc);
  parameters.lambda = 100;
  check("lambda 100", parameters);
  parameters.lambda = 0.001F;
  check("lambda 0.001", parameters);
  check("faint noise", bm3d_profile(Profile::kLc), 0.013F);
  check("strong noise", bm3d_profile(Profile::kNp), 203.3F);
}

// Matching alone: everything but the mean of a group is thresholded away, reference patches do not overlap
// and groups are small, so that a single wrong patch in a group is visible. Few gray levels give many equal
// distances, many of which equal tau.
TEST_P(Bm3dTest, GroupsAreThoseOfTheOracle) {
  std::mt19937_64 random(11);
  for (const int k : {2, 4, 8, 16}) {
    for (const int group_size : {2, 4, 8}) {
      SCOPED_TRACE("patches of " + std::to_string(k) + ", groups of " + std::to_string(group_size));
      const int width = 4 * k + 24;
      const int height = 3 * k + 16;
      const Frame frame = allocate_frame(gray(width - width % k, height - height % k));
      for (int y = 0; y < frame.format.height; ++y) {
        for (int x = 0; x < frame.format.width; ++x) {
          frame.planes[0].row<std::uint8_t>(y)[x] = static_cast<std::uint8_t>(85 * (random() % 4));
        }
      }
      Bm3dParameters parameters;
      parameters.lambda = 100;
      parameters.hard_threshold = {.patch_size = k,
                                   .spacing = k,
                                   .max_group_size = group_size,
                                   .search_window = 21,
                                   .max_distance = 85 * 85,
                                   .transform_2d = Transform2d::kHaar};
      for (const int tau_in_levels : {1, 2, 9}) {
        parameters.hard_threshold.max_distance = static_cast<float>(85 * 85 * tau_in_levels);
        const Frame result = run_filter(engine(), frame, parameters, equal_noise(200));
        const Frame expected = oracle::denoise(frame, parameters, equal_noise(200));
        // A mean of exactly one half may be rounded either way, and correcting for clipping doubles the
        // difference at each end. A wrong patch causes more than 10.
        EXPECT_LE(oracle::compare(result, expected).greatest, 4);
      }
    }
  }
}

Bm3dStep random_step(std::mt19937_64& random) {
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  Bm3dStep step;
  step.transform_2d = kTransforms2d[draw(0, 3)];
  step.transform_1d = kTransforms1d[draw(0, 1)];
  step.patch_size = step.transform_2d == Transform2d::kDct ? draw(2, 16) : 1 << draw(1, 4);
  step.spacing = draw((step.patch_size + 1) / 2, step.patch_size);
  step.max_group_size = draw(1, 64);
  step.search_window = 2 * draw(3, 12) + 1;
  step.max_distance = static_cast<float>(draw(0, 8000));
  step.kaiser_beta = static_cast<float>(draw(0, 80)) / 10;
  return step;
}

// On such small pictures, a single coefficient at the threshold, or a single sample of the basic estimate
// between two steps of the matching scale, may be rounded either way in single precision and exceed the
// tolerance, especially if few large patches overlap. Some requests may therefore miss it, but only slightly.
TEST_P(Bm3dTest, RandomLegalRequestsAgreeWithTheOracle) {
  constexpr int kRequests = 60;
  std::string missed;
  int misses = 0;
  for (int seed = 1; seed <= kRequests; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](int least, int most) {
      return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    Bm3dParameters parameters;
    parameters.hard_threshold = random_step(random);
    parameters.lambda = 1 + static_cast<float>(draw(0, 300)) / 100;
    if (draw(0, 3) != 0) {
      parameters.wiener = random_step(random);
    }
    parameters.matching = draw(0, 2) == 0 ? Matching::kNearest : Matching::kStatistical;
    const int width = draw(5, 44);
    const int height = draw(5, 40);
    const int depth = 8 + 2 * draw(0, 4);
    FrameFormat format = draw(0, 3) == 0   ? rgb(width, height, depth)
                         : draw(0, 2) == 0 ? gray(width, height, depth)
                                           : yuv(width, height, draw(0, 1), draw(0, 1), depth);
    format = draw(0, 4) == 0 ? as_float(format) : format;
    format.has_alpha = draw(0, 4) == 0;
    const NoiseModel noise{
        {3.07F + static_cast<float>(draw(0, 50)), static_cast<float>(draw(0, 30)) * 1.013F, 5.03F}};
    Frame frame = noisy_picture(format, static_cast<double>(noise.sigma[0]), seed);
    frame.interlaced = draw(0, 5) == 0;

    const Bm3dStep& first = parameters.hard_threshold;
    const std::string request =
        "seed " + std::to_string(seed) + ", " + to_string(format) + ", k " +
        std::to_string(first.patch_size) + ", N " + std::to_string(first.max_group_size) + ", " +
        std::string(to_string(first.transform_2d)) + " and " + std::string(to_string(first.transform_1d)) +
        (parameters.wiener ? ", second step k " + std::to_string(parameters.wiener->patch_size) : "") +
        (frame.interlaced ? ", interlaced" : "");
    EXPECT_NO_THROW(parameters.validate()) << request;
    const oracle::Agreement agreement = oracle::compare(run_filter(engine(), frame, parameters, noise),
                                                        oracle::denoise(frame, parameters, noise));
    EXPECT_LE(agreement.over_one, 5 + agreement.samples / 20) << request << ": " << to_string(agreement);
    EXPECT_GE(agreement.psnr, 45) << request << ": " << to_string(agreement);
    if (!oracle::within_contract(agreement)) {
      ++misses;
      missed += request + ": " + to_string(agreement) + "\n";
    }
  }
  EXPECT_LE(misses, kRequests / 20) << missed;
}

TEST_P(Bm3dTest, DenoisingGainsDecibels) {
  for (const FrameFormat& format : {gray(96, 80), yuv(96, 80, 1, 1), rgb(96, 80)}) {
    SCOPED_TRACE(to_string(format));
    const Frame clean = oracle::draw_picture(format);
    const Frame noisy = oracle::add_noise(clean, 25, 17);
    const double before = oracle::compare(noisy, clean).psnr;
    const auto gain = [&](const Bm3dParameters& parameters) {
      return oracle::compare(run_filter(engine(), noisy, parameters, equal_noise(25)), clean).psnr - before;
    };
    const double fast = gain(bm3d_profile(Profile::kFast));
    const double np = gain(bm3d_profile(Profile::kNp));
    EXPECT_GT(fast, 5);
    EXPECT_GT(np, 8);
    EXPECT_GT(np, fast);
    EXPECT_GT(np, gain(first_step_only(bm3d_profile(Profile::kNp))));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Bm3dTest, kSuiteEngines, suite_name);

// Small windows and a tall picture, so that the second step begins above while the first is in progress
// below.
TEST(CpuBm3d, StepsAndPlanesThatOverlapInTimeDoNotChangeABit) {
  // By default, oneTBB starts at most as many threads as the machine has processors.
  const tbb::global_control threads_allowed(tbb::global_control::max_allowed_parallelism, 4);
  Bm3dParameters parameters = bm3d_profile(Profile::kFast);
  parameters.hard_threshold.search_window = parameters.wiener->search_window = 5;
  for (const FrameFormat& format : {yuv(40, 1200, 1, 1), rgb(40, 900)}) {
    SCOPED_TRACE(to_string(format));
    const Frame frame = noisy_picture(format);
    const auto result_with = [&](int threads) {
      const auto engine = engine_registry().open("cpu", {.threads = threads});
      return run_filter(*engine, frame, parameters, equal_noise(kSigma));
    };
    const Frame one = result_with(1);
    expect_frames_agree(one, oracle::denoise(frame, parameters, equal_noise(kSigma)));
    for (int repeat = 0; repeat < 5; ++repeat) {
      EXPECT_TRUE(oracle::same_bits(one, result_with(4)));
    }
  }
}

class Bm3dSimdTest : public SimdLevelTest {};

TEST_P(Bm3dSimdTest, IsTheOneInUse) {
  EXPECT_NE(engine().description().find(hwy::TargetName(GetParam())), std::string::npos)
      << engine().description();
}

TEST_P(Bm3dSimdTest, AllTransformsAndGroupSizesAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(35, 30));
  for (const Transform2d transform_2d : kTransforms2d) {
    for (const Transform1d transform_1d : kTransforms1d) {
      for (const int group_size : {1, 2, 4, 8, 16, 32, 64}) {
        SCOPED_TRACE(std::string(to_string(transform_2d)) + " and " + std::string(to_string(transform_1d)) +
                     ", groups of " + std::to_string(group_size));
        Bm3dParameters parameters = bm3d_profile(Profile::kLc);
        for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
          step->transform_2d = transform_2d;
          step->transform_1d = transform_1d;
          step->max_group_size = group_size;
          step->max_distance = 65025;
        }
        expect_agrees(engine(), frame, parameters, equal_noise(kSigma));
      }
    }
  }
}

TEST_P(Bm3dSimdTest, OtherPatchSizesAgreeWithTheOracle) {
  const Frame frame = noisy_picture(gray(37, 34));
  for (const int k : {2, 4, 5, 7, 11, 16}) {
    SCOPED_TRACE(k);
    Bm3dParameters parameters = bm3d_profile(Profile::kLc);
    for (Bm3dStep* step : {&parameters.hard_threshold, &*parameters.wiener}) {
      step->patch_size = k;
      step->spacing = std::min(k, 4);
      if (!std::has_single_bit(static_cast<unsigned>(k))) {
        step->transform_2d = Transform2d::kDct;
      }
    }
    expect_agrees(engine(), frame, parameters, equal_noise(kSigma));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Bm3dSimdTest, kSimdLevels, simd_level_name);

}  // namespace
}  // namespace limpid
