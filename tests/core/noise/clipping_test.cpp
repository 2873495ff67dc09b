// SPDX-License-Identifier: MIT
// Noise clipped at the ends of the range, and its correction, compared with plain integration and bisection.
#include "core/noise/clipping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/frame/metrics.h"
#include "cpu/noise/noise.h"
#include "tests/core/noise/clipped_ramp.h"
#include "tests/oracle/clipping.h"
#include "tests/oracle/pictures.h"

namespace limpid {
namespace {

using oracle::gray;
using oracle::rgb;
using test::ClippedRamp;
using test::copy_of;

Frame undone(const Frame& noisy, const NoiseModel& noise, const Frame& estimate) {
  Frame out = copy_of(estimate);
  cpu::undo_clipping(noisy, noise, out);
  return out;
}

NoiseModel equal_noise(float sigma) { return {{sigma, sigma, sigma}}; }

TEST(Clipping, IsUndoneAsTheOracleDoes) {
  for (const FrameFormat& format : {gray(120, 80), gray(97, 61, 10), gray(64, 70, 16), rgb(80, 60)}) {
    for (const float sigma : {1.5F, 5.0F, 20.0F, 60.0F}) {
      SCOPED_TRACE(to_string(format) + ", sigma " + std::to_string(sigma));
      const ClippedRamp ramp(format, static_cast<double>(sigma));
      NoiseModel noise = equal_noise(sigma);
      for (std::size_t i = 0; i < noise.shape[0].curve.size(); ++i) {
        noise.shape[0].curve[i] = 0.8F + 0.03F * static_cast<float>(i);
      }
      Frame expected = copy_of(ramp.estimate);
      oracle::undo_clipping(ramp.noisy, noise, expected);
      const Frame result = undone(ramp.noisy, noise, ramp.estimate);
      const double half_a_code_value = std::max(1.0, format.code_value() / 2);
      EXPECT_LE(oracle::compare(result, expected).greatest, half_a_code_value);
    }
  }
}

TEST(Clipping, UndoneBringsAPerfectEstimateBackToTheTruth) {
  for (const FrameFormat& format : {gray(200, 40), gray(200, 40, 10), rgb(150, 40)}) {
    for (const float sigma : {25.0F, 40.0F}) {
      const ClippedRamp ramp(format, static_cast<double>(sigma));
      const auto error = [&](const Frame& frame) { return measure(ramp.clean, frame).front().mse; };
      const double before = error(ramp.estimate);
      EXPECT_LT(error(undone(ramp.noisy, equal_noise(sigma), ramp.estimate)), before / 4) << sigma;
    }
  }
}

TEST(Clipping, ThatDidNotHappenIsNotUndone) {
  const ClippedRamp ramp(gray(160, 64), 10);
  // A clean picture with samples at the ends does not change.
  EXPECT_TRUE(oracle::same_bits(undone(ramp.clean, equal_noise(10), ramp.clean), ramp.clean));
  // Noise of a quarter of the declared level puts too few samples at the ends.
  const ClippedRamp weak(gray(160, 64), 2.5);
  EXPECT_TRUE(oracle::same_bits(undone(weak.noisy, equal_noise(10), weak.estimate), weak.estimate));
  // Negligible noise, a plane that is not filtered, and samples without ends.
  EXPECT_FALSE(clipped_ends(gray(8, 8), 0, {1.9F, {}}));
  EXPECT_FALSE(clipped_ends(gray(8, 8), 0, {0, {}}));
  EXPECT_FALSE(clipped_ends(oracle::as_float(gray(8, 8)), 0, {20, {}}));
  EXPECT_FALSE(clipped_ends(oracle::yuv(8, 8, 1, 1), 1, {20, {}}));
  EXPECT_TRUE(clipped_ends(rgb(8, 8), 2, {20, {}}));
}

// Planes smaller than a patch, which pass through, may have such samples.
TEST(Clipping, IllegalSamplesStayAsTheyAre) {
  ClippedRamp ramp(gray(160, 64, 10), 20);
  for (const Frame& frame : {ramp.noisy, ramp.estimate}) {
    frame.planes[0].row<std::uint16_t>(5)[7] = 1024;
    frame.planes[0].row<std::uint16_t>(9)[0] = 65535;
  }
  const Frame result = undone(ramp.noisy, equal_noise(20), ramp.estimate);
  EXPECT_EQ(result.planes[0].row<std::uint16_t>(5)[7], 1024);
  EXPECT_EQ(result.planes[0].row<std::uint16_t>(9)[0], 65535);
  EXPECT_FALSE(oracle::same_bits(result, ramp.estimate));
}

TEST(Clipping, LeavesMidTonesAndAlphaAlone) {
  FrameFormat format = rgb(256, 20);
  format.has_alpha = true;
  const ClippedRamp ramp(format, 8);
  const Frame result = undone(ramp.noisy, equal_noise(8), ramp.estimate);
  for (int p = 0; p < 4; ++p) {
    for (int x = 0; x < 256; ++x) {
      const int before = ramp.estimate.planes[p].row<std::uint8_t>(3)[x];
      if (p == 3 || (before > 30 && before < 225)) {
        EXPECT_EQ(result.planes[p].row<std::uint8_t>(3)[x], before) << p << ", " << x;
      }
    }
  }
}

// By integrating the noise's density in small steps.
TEST(Clipping, ShiftsAndSharesAreThoseOfTheNoise) {
  constexpr double kSigma = 17;
  const auto ends = clipped_ends(gray(8, 8), 0, {static_cast<float>(kSigma), {}});
  ASSERT_TRUE(ends);
  int counted = 0;
  // The curve of shifts begins with a kink, which linear interpolation rounds off.
  for (double truth = 1; truth < 60; truth += 0.25) {
    double mean = 0;
    double at_end = 0;
    constexpr double kStep = 0.01;
    for (double noisy = truth - 8 * kSigma; noisy < truth + 8 * kSigma; noisy += kStep) {
      const double z = (noisy - truth) / kSigma;
      const double density = std::exp(-z * z / 2) / (std::sqrt(2 * std::acos(-1.0)) * kSigma) * kStep;
      mean += density * std::max(noisy, 0.0);
      at_end += noisy < 0.5 ? density : 0;
    }
    for (const ClippedEnd& end : *ends) {
      EXPECT_NEAR(clipped_shift(end.shift.data(), static_cast<float>(mean)), mean - truth, 0.02) << truth;
      const auto distance = static_cast<std::size_t>(std::lround(mean));
      if (end.share[distance] > 0) {
        ++counted;
        EXPECT_NEAR(end.share[distance] / 65536.0, at_end, 0.03) << truth;  // the distance is rounded
      }
    }
  }
  EXPECT_GT(counted, 50);
}

TEST(Clipping, ShiftsFallFromAsMuchAsNoiseLiftsBlackToNothing) {
  for (const float sigma : {2.0F, 20.0F, 100.0F, 255.0F}) {
    const auto ends = clipped_ends(gray(8, 8), 0, {sigma, {}});
    ASSERT_TRUE(ends);
    for (const ClippedEnd& end : *ends) {
      EXPECT_EQ(end.shift[0], 0);  // nothing lies beyond the end
      for (int d = 1; d < ClippedEnd::kDistances; ++d) {
        EXPECT_GE(end.shift[d], 0);
        EXPECT_LE(end.shift[d], 0.4F * sigma);
        // Brighter samples remain brighter.
        EXPECT_LE(end.shift[d], end.shift[d - 1] + 1.001F);
      }
    }
  }
}

}  // namespace
}  // namespace limpid
