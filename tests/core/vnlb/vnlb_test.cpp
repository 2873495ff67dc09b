// SPDX-License-Identifier: MIT
#include "tests/oracle/vnlb.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "core/filter/filter.h"
#include "core/frame/metrics.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cpu/vnlb/vnlb.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/core/vbm4d/along_motion.h"
#include "tests/core/vbm4d/clips.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::gray;
using oracle::yuv;
using test::clean_picture;
using test::kSigma;
using test::noisy_clip;
using test::run_stream;
using test::white_noise;

VnlbParameters small_vnlb() { return test::small_parameters<VnlbParameters>(); }

class VnlbTest : public test::TemporalSuite<VnlbParameters> {};

TEST_P(VnlbTest, AgreesWithTheOracleForAllParameters) {
  const std::vector<Frame> frames = noisy_clip(gray(48, 40), 6, static_cast<double>(kSigma));
  VnlbParameters parameters = small_vnlb();
  parameters.before = 3;
  parameters.after = 2;
  parameters.first.group_size = vnlb::kMostPatches;
  expect_as_defined(frames, parameters);
  parameters.second.reset();
  expect_as_defined(frames, parameters);
  parameters = small_vnlb();
  parameters.delay = 0;
  expect_as_defined(frames, parameters);
  parameters.delay = 5;
  expect_as_defined(frames, parameters);
  parameters = small_vnlb();
  parameters.before = parameters.after = 0;
  expect_as_defined(frames, parameters);
  parameters.first.group_size = 2;
  parameters.second->trajectory_threshold = 0.1F;
  expect_as_defined(frames, parameters);
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
    return measure(clean_picture(format, 3), run(frames, parameters, white_noise(20))[3])[0].psnr;
  };
  const double both = psnr(3, true);
  EXPECT_GT(both, psnr(3, false) + 0.2);
  EXPECT_GT(both, psnr(0, true) + 1);
}

INSTANTIATE_TEST_SUITE_P(Engines, VnlbTest, kSuiteEngines, suite_name);

class VnlbSimdTest : public SimdLevelTest {};

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
