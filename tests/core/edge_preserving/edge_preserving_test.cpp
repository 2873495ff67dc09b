// SPDX-License-Identifier: MIT
// Every engine's edge-preserving filters compared with the plain double-precision ones: before rounding,
// within a quarter of a code value everywhere.
#include "tests/oracle/edge_preserving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edge_preserving/edge_preserving_parameters.h"
#include "core/engine/denoiser.h"
#include "core/engines.h"
#include "cpu/edge_preserving/edge_preserving.h"
#include "tests/core/engine/engine_suite.h"
#include "tests/cpu/simd_level.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::as_float;
using oracle::gray;
using oracle::rgb;
using oracle::yuv;

constexpr float kSceneSigma = 14.3F;
constexpr NoiseModel kNoise{{kSceneSigma, 9, 11}};

// The four filters, small enough for the oracle.
std::vector<Filter> small_filters() {
  return {BilateralParameters{.radius = 3}, AdaptiveBilateralParameters{.radius = 3},
          NlmParameters{.patch_size = 5, .search_window = 9}, NlmBilateralParameters{.search_window = 9}};
}

Frame noisy_scene(const FrameFormat& format, std::uint64_t seed = 1) {
  return oracle::add_noise(oracle::draw_picture(format), static_cast<double>(kSceneSigma), seed);
}

void expect_agrees(Engine& engine, const Frame& frame, const Filter& filter,
                   const NoiseModel& noise = kNoise) {
  SCOPED_TRACE(std::string(to_string(filter)) + ", " + to_string(frame.format));
  const Frame result = run_filter(engine, frame, filter, noise);
  const std::vector<oracle::Picture> expected = oracle::filter_planes(frame, filter, noise);
  const double rounding = frame.format.is_float() ? 0 : 0.5 / frame.format.code_value();
  for (int plane = 0; plane < frame.format.color_plane_count(); ++plane) {
    const oracle::Picture picture = oracle::to_picture(result, plane);
    double greatest = 0;
    for (std::size_t i = 0; i < picture.samples.size(); ++i) {
      const double difference = std::abs(picture.samples[i] - expected[plane].samples[i]);
      // NaN must not count as agreement.
      greatest = difference <= greatest ? greatest : difference;
    }
    EXPECT_LE(greatest, 0.25 + rounding) << "plane " << plane;
  }
}

void expect_agrees(Engine& engine, const FrameFormat& format, const Filter& filter) {
  expect_agrees(engine, noisy_scene(format), filter);
}

class EdgePreservingTest : public EngineSuite {};

TEST_P(EdgePreservingTest, AllFormatsAgreeWithTheOracle) {
  for (const FrameFormat& format : {gray(41, 23), gray(35, 18, 10), gray(19, 17, 16), as_float(gray(24, 19)),
                                    yuv(33, 21, 1, 1), yuv(20, 22, 1, 0, 12), rgb(17, 16)}) {
    for (const Filter& filter : small_filters()) {
      expect_agrees(engine(), format, filter);
    }
  }
}

TEST_P(EdgePreservingTest, ParametersDerivedFromSigmaAgreeWithTheOracle) {
  const Frame frame = noisy_scene(gray(37, 30));
  for (const std::string_view name : {"bilateral", "adaptive-bilateral", "nlm", "nlm-bilateral"}) {
    for (const float sigma : {3.0F, 20.0F, 80.0F}) {
      SCOPED_TRACE(sigma);
      expect_agrees(engine(), frame, parse_filter(name), {{sigma}});
    }
  }
}

TEST_P(EdgePreservingTest, AnySizeAgreesWithTheOracle) {
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 40}, {70, 1}, {2, 2}, {3, 5}, {65, 4}, {130, 67}}) {
    for (const Filter& filter : small_filters()) {
      expect_agrees(engine(), gray(width, height), filter);
    }
  }
}

TEST_P(EdgePreservingTest, WindowsLargerThanThePlaneAgreeWithTheOracle) {
  const Frame frame = noisy_scene(gray(23, 14));
  expect_agrees(engine(), frame, BilateralParameters{.radius = 30, .spatial_sigma = 20.0F});
  expect_agrees(engine(), frame, AdaptiveBilateralParameters{.radius = 64});
  expect_agrees(engine(), frame, NlmParameters{.patch_size = 21, .search_window = 101});
  expect_agrees(engine(), frame, NlmBilateralParameters{.patch_size = 7, .search_window = 57});
}

TEST_P(EdgePreservingTest, SearchingTheWholePlaneAgreesWithTheOracle) {
  for (const auto& [width, height] : {std::pair{9, 150}, {300, 5}, {45, 40}}) {
    expect_agrees(engine(), gray(width, height),
                  NlmBilateralParameters{.patch_size = 3, .search_window = 0, .range_sigma = 60.0F});
  }
}

TEST_P(EdgePreservingTest, RandomParametersAgreeWithTheOracle) {
  std::mt19937 random(4711);
  const auto pick = [&](int least, int greatest) {
    return least + static_cast<int>(random() % static_cast<unsigned>(greatest - least + 1));
  };
  // Evenly distributed over the orders of magnitude.
  const auto magnitude = [&](double least, double greatest) {
    return static_cast<float>(least * std::pow(greatest / least, pick(0, 1000) / 1000.0));
  };
  for (int i = 0; i < 60; ++i) {
    FrameFormat format = gray(pick(1, 60), pick(1, 24), std::vector{8, 8, 10, 12, 16}[pick(0, 4)]);
    if (pick(0, 4) == 0) {
      format = as_float(format);
    }
    const std::vector<Filter> filters = {
        BilateralParameters{pick(1, 9), magnitude(0.3, 30), magnitude(0.05, 300)},
        AdaptiveBilateralParameters{pick(1, 7), magnitude(0.3, 30), magnitude(0.05, 300), magnitude(0.05, 20),
                                    magnitude(0.0001, 100)},
        NlmParameters{2 * pick(0, 5) + 1, 2 * pick(0, 8) + 1, magnitude(0.05, 100)},
        NlmBilateralParameters{2 * pick(0, 5) + 1, 2 * pick(0, 8) + 1, magnitude(0.05, 100),
                               magnitude(0.05, 300), magnitude(0.3, 30)}};
    std::ostringstream trace;
    trace << "case " << i;
    SCOPED_TRACE(trace.str());
    expect_agrees(engine(), noisy_scene(format, static_cast<std::uint64_t>(i)), filters[i % filters.size()],
                  {{magnitude(0.5, 120)}});
  }
}

TEST_P(EdgePreservingTest, ExtremeContrastAgreesWithTheOracle) {
  // Black and white noise has the largest possible distances.
  std::mt19937 random(5);
  for (const FrameFormat& format : {gray(24, 22), gray(24, 22, 16), as_float(gray(24, 22))}) {
    Frame frame = oracle::draw_picture(format);
    oracle::Picture picture = oracle::to_picture(frame, 0);
    for (double& sample : picture.samples) {
      sample = random() % 2 == 0 ? 0 : 255;
    }
    oracle::store(picture, frame, 0);
    expect_agrees(engine(), frame, BilateralParameters{3, 2.0F, 1000.0F});
    expect_agrees(engine(), frame, AdaptiveBilateralParameters{3, 2.0F, 200.0F});
    expect_agrees(engine(), frame, NlmParameters{21, 21, 100.0F});
    expect_agrees(engine(), frame, NlmBilateralParameters{21, 21, 200.0F, 200.0F});
  }
}

TEST_P(EdgePreservingTest, FramesOfOneStreamDoNotTouchEachOther) {
  const FrameFormat format = gray(50, 40);
  for (const Filter& filter : small_filters()) {
    const auto denoiser = engine().make_denoiser(filter, {{30}}, format);
    EXPECT_EQ(denoiser->latency(), 0);
    EXPECT_TRUE(denoiser->warnings().empty());
    denoiser->send(noisy_scene(format, 1));
    denoiser->set_noise(kNoise);
    denoiser->send(noisy_scene(format, 2));
    denoiser->flush();
    EXPECT_TRUE(oracle::same_bits(denoiser->receive().value(),
                                  run_filter(engine(), noisy_scene(format, 1), filter, {{30}})));
    EXPECT_TRUE(oracle::same_bits(denoiser->receive().value(),
                                  run_filter(engine(), noisy_scene(format, 2), filter, kNoise)));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EdgePreservingTest, kSuiteEngines, suite_name);

// The CPU's kernels, limited to the instruction set of the parameter.
class EdgePreservingSimdTest : public SimdLevelTest {};

TEST_P(EdgePreservingSimdTest, AgreesWithTheOracle) {
  for (const FrameFormat& format : {gray(43, 21), gray(130, 5, 10), as_float(gray(9, 70))}) {
    for (const Filter& filter : small_filters()) {
      expect_agrees(engine(), format, filter);
    }
    for (const int patch_size : {1, 3, 7, 11}) {
      expect_agrees(engine(), format, NlmParameters{patch_size, 7, 8.0F});
    }
    expect_agrees(engine(), format, NlmBilateralParameters{.patch_size = 3, .search_window = 0});
  }
}

TEST_P(EdgePreservingSimdTest, PowersOfTwoAreWithinTheirBound) {
  cpu::AlignedVector<float> x;
  for (int i = 0; i < 1 << 16; ++i) {
    x.push_back(-static_cast<float>(i) / 600);
  }
  cpu::AlignedVector<float> powers(x.size());
  cpu::exp2_row(x.data(), static_cast<int>(x.size()), powers.data());
  double greatest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = std::exp2(static_cast<double>(x[i]));
    greatest = std::max(greatest, std::abs(static_cast<double>(powers[i]) / expected - 1));
  }
  EXPECT_LT(greatest, std::exp2(-10.5));
}

// Denormals slow x86 processors down. The caller's treatment of denormals must not change.
TEST_P(EdgePreservingSimdTest, PowersAreNormalNumbersOrZero) {
  const cpu::AlignedVector<float> x{-125.5F, -125.9F, -126.01F, -126.5F, -126.99F, -127.0F, -127.5F, -140.0F,
                                    -1e10F,  0.0F,    0.0F,     0.0F,    0.0F,     0.0F,    0.0F,    0.0F};
  cpu::AlignedVector<float> powers(x.size());
  cpu::exp2_row(x.data(), static_cast<int>(x.size()), powers.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(std::fpclassify(powers[i]), x[i] < -126 ? FP_ZERO : FP_NORMAL) << x[i];
  }
  volatile float least = std::numeric_limits<float>::min();
  least = least / 2;
  EXPECT_EQ(std::fpclassify(least), FP_SUBNORMAL);
}

INSTANTIATE_TEST_SUITE_P(Cpu, EdgePreservingSimdTest, kSimdLevels, simd_level_name);

}  // namespace
}  // namespace limpid
