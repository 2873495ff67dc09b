// SPDX-License-Identifier: MIT
#include "tests/oracle/vnlb.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/metrics.h"
#include "core/vnlb/space_time_patches.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cpu/vnlb/patch_groups.h"
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

VnlbParameters small_vnlb() {
  VnlbParameters parameters;
  parameters.before = 1;
  parameters.after = 1;
  parameters.first = {.spacing = 7, .group_size = 20, .search_window = 5, .temporal_search_window = 3};
  parameters.second = {.spacing = 6, .group_size = 17, .search_window = 5, .temporal_search_window = 3};
  return parameters;
}

class VnlbTest : public EngineSuite {
 protected:
  std::vector<Frame> run_vnlb(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                              const NoiseModel& noise = white_noise()) {
    return run_stream(*engine().make_denoiser(parameters, noise, frames.front().format), frames);
  }

  void expect_vnlb_as_defined(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                              const NoiseModel& noise = white_noise()) {
    const std::vector<Frame> expected = oracle::denoise(frames, parameters, {noise});
    const std::vector<Frame> results = run_vnlb(frames, parameters, noise);
    ASSERT_EQ(results.size(), frames.size());
    for (std::size_t t = 0; t < results.size(); ++t) {
      const oracle::Agreement agreement = oracle::compare(results[t], expected[t]);
      EXPECT_TRUE(oracle::within_contract(agreement)) << "frame " << t << ": " << to_string(agreement);
      EXPECT_EQ(results[t].index, frames[t].index);
    }
  }
};

TEST_P(VnlbTest, AgreesWithTheOracleInEveryFormat) {
  const FrameFormat formats[] = {gray(41, 35),      gray(33, 40, 16),      as_float(gray(40, 33)),
                                 yuv(44, 38, 1, 1), yuv(43, 37, 1, 1, 10), yuv(40, 34, 2, 0),
                                 yuv(34, 33, 0, 0), rgb(36, 33),           as_float(rgb(33, 35))};
  for (const FrameFormat& format : formats) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    expect_vnlb_as_defined(noisy_clip(format, 4, static_cast<double>(kSigma)), small_vnlb());
  }
}

TEST_P(VnlbTest, AgreesWithTheOracleForAllParameters) {
  const std::vector<Frame> frames = noisy_clip(gray(48, 40), 6, static_cast<double>(kSigma));
  VnlbParameters parameters = small_vnlb();
  parameters.before = 3;
  parameters.after = 2;
  parameters.first.group_size = vnlb::kMostPatches;
  expect_vnlb_as_defined(frames, parameters);
  parameters.second.reset();
  expect_vnlb_as_defined(frames, parameters);
  parameters = small_vnlb();
  parameters.delay = 0;
  expect_vnlb_as_defined(frames, parameters);
  parameters.delay = 5;
  expect_vnlb_as_defined(frames, parameters);
  parameters = small_vnlb();
  parameters.before = parameters.after = 0;
  expect_vnlb_as_defined(frames, parameters);
  parameters.first.group_size = 2;
  parameters.second->trajectory_threshold = 0.1F;
  expect_vnlb_as_defined(frames, parameters);
}

TEST_P(VnlbTest, AgreesWithTheOracleForNoiseOfAnyShape) {
  const std::vector<Frame> frames = noisy_clip(yuv(40, 36, 1, 1), 4, static_cast<double>(kSigma));
  NoiseModel noise = white_noise();
  for (int p = 0; p < 3; ++p) {
    double sum = 0;
    for (int i = 0; i < 64; ++i) {
      noise.shape[p].spectrum[i] = 1.0F / (1 + 0.2F * static_cast<float>(i / 8 + 2 * (i % 8)));
      sum += double{noise.shape[p].spectrum[i]};
    }
    for (float& variance : noise.shape[p].spectrum) {
      variance *= static_cast<float>(64 / sum);
    }
    for (std::size_t i = 0; i < noise.shape[p].curve.size(); ++i) {
      noise.shape[p].curve[i] = 0.7F + 0.04F * static_cast<float>(i);
    }
  }
  expect_vnlb_as_defined(frames, small_vnlb(), noise);
  // Planes with different noise, and one without.
  expect_vnlb_as_defined(frames, small_vnlb(), {{12, 0, 20}});
  expect_vnlb_as_defined(frames, small_vnlb(), {{0, 9, 9}});
}

TEST_P(VnlbTest, FiltersFieldsAndScenesByThemselves) {
  std::vector<Frame> frames = noisy_clip(yuv(40, 70, 1, 1), 4, static_cast<double>(kSigma));
  for (Frame& frame : frames) {
    frame.interlaced = true;
  }
  frames[3].interlaced = false;
  expect_vnlb_as_defined(frames, small_vnlb());

  // With marked and unmarked cuts.
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> before = noisy_clip(format, 3, static_cast<double>(kSigma), 1);
  const std::vector<Frame> behind = noisy_clip(format, 1, static_cast<double>(kSigma), 2);
  frames = before;
  frames.insert(frames.end(), behind.begin(), behind.end());
  std::vector<Frame> expected = run_vnlb(before, small_vnlb());
  expected.push_back(run_vnlb(behind, small_vnlb()).front());
  for (const bool told : {false, true}) {
    frames[3].begins_anew = told;
    const std::vector<Frame> results = run_vnlb(frames, small_vnlb());
    for (std::size_t t = 0; t < frames.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(results[t], expected[t])) << t << (told ? ", told" : "");
    }
  }
}

// Noise that is repeated with its picture would look like static content.
TEST_P(VnlbTest, RepeatedPicturesAreNoEvidence) {
  const FrameFormat format = gray(64, 48);
  std::vector<Frame> frames = noisy_clip(format, 3, 20);
  for (int t = 2; t >= 0; --t) {
    frames.insert(frames.begin() + t, 1 + t % 2, frames[t]);  // twice and three times, alternating
  }
  VnlbParameters parameters = small_vnlb();
  parameters.before = parameters.after = 3;
  expect_vnlb_as_defined(frames, parameters, white_noise(20));
  // A still picture is filtered as a single picture.
  const std::vector<Frame> still(5, frames.front());
  const Frame alone = run_vnlb({still.front()}, parameters, white_noise(20)).front();
  const double psnr = measure(clean_picture(format, 0), alone)[0].psnr;
  EXPECT_GT(psnr, measure(clean_picture(format, 0), frames.front())[0].psnr + 3);
  for (const Frame& result : run_vnlb(still, parameters, white_noise(20))) {
    EXPECT_GT(measure(clean_picture(format, 0), result)[0].psnr, psnr - 0.1);
  }
}

TEST_P(VnlbTest, AnySegmentWithItsContextGivesTheBitsOfTheWhole) {
  const std::vector<Frame> frames = noisy_clip(yuv(32, 30, 1, 1), 14, static_cast<double>(kSigma));
  for (const std::optional<int> delay : {std::optional<int>(), std::optional<int>(0)}) {
    VnlbParameters parameters = small_vnlb();
    parameters.delay = delay;
    test::expect_segments_as_the_whole(engine(), parameters, frames);
  }
}

TEST_P(VnlbTest, WaitsForNoMoreFramesThanItMay) {
  const std::vector<Frame> frames = noisy_clip(gray(24, 24), 10, static_cast<double>(kSigma));
  for (const int delay : {0, 1, 2, 5, 32}) {
    VnlbParameters parameters = small_vnlb();
    parameters.delay = delay;
    test::expect_no_later(engine(), parameters, delay, frames);
  }
}

TEST_P(VnlbTest, SmallPlanesPassThroughOrHaveFewPatches) {
  for (const FrameFormat& format : {gray(7, 40), gray(40, 7), yuv(14, 14, 1, 1, 10), gray(8, 8, 10),
                                    gray(9, 8, 10), yuv(15, 9, 0, 0, 10)}) {
    SCOPED_TRACE(std::to_string(format.width) + "x" + std::to_string(format.height));
    expect_vnlb_as_defined(noisy_clip(format, 3, static_cast<double>(kSigma)), small_vnlb());
    expect_vnlb_as_defined(noisy_clip(format, 1, static_cast<double>(kSigma)), small_vnlb());
  }
}

TEST_P(VnlbTest, FlatPicturesStayWhatTheyAre) {
  const FrameFormat format = yuv(48, 40, 1, 1);
  for (const double level : {0.0, 100.0, 255.0}) {
    std::vector<Frame> frames;
    for (int t = 0; t < 4; ++t) {
      frames.push_back(allocate_frame(format));
      for (int p = 0; p < 3; ++p) {
        for (int y = 0; y < format.plane_height(p); ++y) {
          for (int x = 0; x < format.plane_width(p); ++x) {
            store_sample(frames.back(), p, x, y, level);
          }
        }
      }
    }
    for (const Frame& result : run_vnlb(frames, small_vnlb())) {
      EXPECT_TRUE(oracle::same_bits(result, frames[0])) << level;
    }
  }
}

TEST_P(VnlbTest, IsAlikeFromRunToRunAndForAnyNumberOfThreads) {
  const std::vector<Frame> frames = noisy_clip(yuv(130, 90, 1, 1), 3, static_cast<double>(kSigma));
  const std::vector<Frame> once = run_vnlb(frames, small_vnlb());
  for (const int threads : {1, 3, 3}) {
    engine_ = engine_registry().open(GetParam(), {.threads = threads});
    const std::vector<Frame> again = run_vnlb(frames, small_vnlb());
    for (std::size_t t = 0; t < frames.size(); ++t) {
      EXPECT_TRUE(oracle::same_bits(once[t], again[t])) << t;
    }
  }
}

TEST_P(VnlbTest, HardlyAnyNoiseChangesHardlyAnything) {
  const std::vector<Frame> frames = noisy_clip(yuv(44, 38, 1, 1), 3, 20);
  for (const float sigma : {1e-6F, 1e-3F, 0.05F}) {
    NoiseModel noise = white_noise(sigma);
    for (int i = 0; i < 2; ++i) {
      const std::vector<Frame> results = run_vnlb(frames, small_vnlb(), noise);
      for (std::size_t t = 0; t < frames.size(); ++t) {
        EXPECT_LE(oracle::compare(results[t], frames[t]).greatest, 1) << sigma << ", " << t;
      }
      // Also with brightnesses that have even less noise.
      noise.shape[0].curve.fill(1e-3F);
    }
  }
}

// The purpose of the filter.
TEST_P(VnlbTest, MoreFramesAndStepsGiveBetterPictures) {
  const FrameFormat format = gray(96, 80);
  const std::vector<Frame> frames = noisy_clip(format, 7, 20);
  const auto psnr = [&](int reach, bool second) {
    VnlbParameters parameters = vnlb_profile(VnlbProfile::kNp);
    parameters.before = parameters.after = reach;
    if (!second) {
      parameters.second.reset();
    }
    return measure(clean_picture(format, 3), run_vnlb(frames, parameters, white_noise(20))[3])[0].psnr;
  };
  const double both = psnr(3, true);
  EXPECT_GT(both, psnr(3, false) + 0.2);
  EXPECT_GT(both, psnr(0, true) + 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, VnlbTest, kSuiteEngines, suite_name);

class VnlbSimdTest : public SimdLevelTest {};

TEST_P(VnlbSimdTest, AgreesWithTheOracle) {
  const std::vector<Frame> frames = noisy_clip(yuv(44, 38, 1, 1), 4, static_cast<double>(kSigma));
  const std::vector<Frame> expected = oracle::denoise(frames, small_vnlb(), {white_noise()});
  const std::vector<Frame> results =
      run_stream(*engine().make_denoiser(small_vnlb(), white_noise(), frames[0].format), frames);
  ASSERT_EQ(results.size(), frames.size());
  for (std::size_t t = 0; t < results.size(); ++t) {
    EXPECT_TRUE(oracle::within_contract(oracle::compare(results[t], expected[t]))) << t;
  }
}

TEST_P(VnlbSimdTest, FiltersEigenvaluesAsDefined) {
  std::mt19937 random(8);
  cpu::PatchGroupScratch scratch;
  for (const int size : {2, 3, 16, 17, 48, 63, 64}) {
    const int pitch = (size + 15) / 16 * 16;
    for (const int rank : {0, 1, size / 2, size}) {
      for (const double greatest : {1.0, 30.0}) {
        const std::vector<double> products = oracle::make_products(size, rank, greatest, random);
        cpu::AlignedVector<float> matrix(static_cast<std::size_t>(pitch) * pitch);
        for (int i = 0; i < size; ++i) {
          for (int j = 0; j < size; ++j) {
            matrix[i * pitch + j] = static_cast<float>(products[i * size + j]);
          }
        }
        for (const bool second_step : {false, true}) {
          const vnlb::EigenvalueFilter filter = vnlb::eigenvalue_filter(
              second_step, size, vnlb::noise_edge(size, 128), oracle::trace(products, size));
          const std::vector<double> expected = oracle::filter_eigenvalues(products, size, filter);
          vnlb::EigenvalueFilter alone = filter;
          alone.constant = 1;
          alone.inverse = -filter.bound;
          const std::vector<double> expected_kept = oracle::filter_eigenvalues(products, size, alone);
          cpu::AlignedVector<float> result(matrix.size());
          cpu::AlignedVector<float> kept(matrix.size());
          cpu::filter_eigenvalues(matrix.data(), size, filter, scratch, kept.data(), result.data());
          const double most = second_step ? 1.0 / (size - 1) : 1;
          for (int i = 0; i < size; ++i) {
            for (int j = 0; j < size; ++j) {
              ASSERT_NEAR(result[i * pitch + j], expected[i * size + j], 1e-4 * most) << size << ", " << rank;
              ASSERT_NEAR(kept[i * pitch + j], expected_kept[i * size + j], 1e-4) << size << ", " << rank;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, VnlbSimdTest, kSimdLevels, simd_level_name);

TEST(VnlbParameters, TellWhatIsIllegal) {
  const auto message = [](const auto& change) {
    VnlbParameters parameters;
    change(parameters);
    return message_of([&] { parameters.validate(); });
  };
  EXPECT_EQ(message([](VnlbParameters&) {}), "");
  EXPECT_NE(message([](VnlbParameters& p) { p.before = 8; }).find("reach"), std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.delay = 33; }).find("delay"), std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.second->spacing = 9; }).find("second step"), std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.first.group_size = 1; }).find("group size"), std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.first.group_size = 65; }).find("group size"),
            std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.first.search_window = 4; }).find("search window"),
            std::string::npos);
  EXPECT_NE(message([](VnlbParameters& p) { p.first.temporal_search_window = 35; }).find("search window"),
            std::string::npos);
  EXPECT_NE(
      message([](VnlbParameters& p) { p.first.trajectory_threshold = NAN; }).find("trajectory threshold"),
      std::string::npos);
}

TEST(VnlbReach, HoldsTheSecondSlicesToo) {
  VnlbParameters parameters;
  parameters.before = parameters.after = 4;
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 20, .after = 20}));
  parameters.second.reset();
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 10, .after = 10}));
  parameters.delay = 0;
  EXPECT_EQ(reach_of(parameters), (Reach{.before = 5, .after = 0}));
}

}  // namespace
}  // namespace limpid
