// SPDX-License-Identifier: MIT
#include "core/frame/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/frame/frame.h"
#include "tests/oracle/pictures.h"
#include "tests/oracle/samples.h"

namespace limpid {
namespace {

constexpr FrameFormat kGray8 = {.width = 40, .height = 30};

FrameFormat with_depth(FrameFormat format, int bit_depth) {
  format.bit_depth = bit_depth;
  format.sample_type = bit_depth == 8    ? SampleType::kUint8
                       : bit_depth == 32 ? SampleType::kFloat32
                                         : SampleType::kUint16;
  return format;
}

// A frame whose samples are `value(plane, x, y)` code values.
Frame make_frame(const FrameFormat& format, const std::function<double(int, int, int)>& value) {
  Frame frame = allocate_frame(format);
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = frame.planes[p];
    for (int y = 0; y < plane.height; ++y) {
      for (int x = 0; x < plane.width; ++x) {
        oracle::set_sample(frame, p, x, y, value(p, x, y) * format.code_value());
      }
    }
  }
  return frame;
}

Frame constant_frame(const FrameFormat& format, double value) {
  return make_frame(format, [value](int, int, int) { return value; });
}

Frame random_frame(const FrameFormat& format, unsigned seed) {
  std::mt19937 generator(seed);
  return make_frame(format, [&](int, int x, int y) {
    const auto noise = static_cast<double>(generator() % 64);
    return std::floor(90 + 80 * std::sin(x * 0.3) * std::cos(y * 0.2) + noise) - 8;
  });
}

double sample_at(const Frame& frame, int x, int y) {
  double value = 0;
  load_code_values(frame.planes[0], frame.format, x, y, 1, &value);
  return value;
}

// SSIM by the paper's equations: one window position at a time, two-dimensional weights.
double plain_ssim(const Frame& a, const Frame& b) {
  const int wx = std::min(11, a.format.width);
  const int wy = std::min(11, a.format.height);
  double total = 0;
  int positions = 0;
  for (int y0 = 0; y0 + wy <= a.format.height; ++y0) {
    for (int x0 = 0; x0 + wx <= a.format.width; ++x0) {
      const auto weighted = [&](const auto& value) {
        double sum = 0;
        double weights = 0;
        for (int y = 0; y < wy; ++y) {
          for (int x = 0; x < wx; ++x) {
            const double w = std::exp(-(std::pow(x - (wx - 1) / 2.0, 2) + std::pow(y - (wy - 1) / 2.0, 2)) /
                                      (2 * 1.5 * 1.5));
            sum += w * value(sample_at(a, x0 + x, y0 + y), sample_at(b, x0 + x, y0 + y));
            weights += w;
          }
        }
        return sum / weights;
      };
      const double mean_a = weighted([](double s, double) { return s; });
      const double mean_b = weighted([](double, double t) { return t; });
      const double variance_a = weighted([&](double s, double) { return (s - mean_a) * (s - mean_a); });
      const double variance_b = weighted([&](double, double t) { return (t - mean_b) * (t - mean_b); });
      const double covariance = weighted([&](double s, double t) { return (s - mean_a) * (t - mean_b); });
      const double c1 = 2.55 * 2.55;
      const double c2 = 7.65 * 7.65;
      total += (2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
               ((mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2));
      ++positions;
    }
  }
  return total / positions;
}

TEST(Psnr, FollowsItsFormula) {
  EXPECT_DOUBLE_EQ(psnr_from_mse(255.0 * 255.0), 0);
  EXPECT_NEAR(psnr_from_mse(400), 22.1102, 1e-4);
  EXPECT_EQ(psnr_from_mse(0), std::numeric_limits<double>::infinity());
}

TEST(Metrics, ConstantOffsetGivesThePsnrOfTheDepthsPeak) {
  for (const int depth : {8, 9, 10, 12, 16, 32}) {
    const FrameFormat format = with_depth(kGray8, depth);
    const PlaneQuality quality = measure(constant_frame(format, 100), constant_frame(format, 103)).at(0);
    EXPECT_NEAR(quality.mse, 9, 1e-4) << depth;
    // For samples of 10 bits: 12 against 1023.
    const double peak = depth == 32 ? 255 : (std::exp2(depth) - 1) / std::exp2(depth - 8);
    EXPECT_NEAR(quality.psnr, 20 * std::log10(peak / 3), 1e-4) << depth;
  }
}

TEST(Metrics, DepthsMayDiffer) {
  const Frame reference = random_frame(kGray8, 1);
  const Frame test = random_frame(kGray8, 2);
  const PlaneQuality expected = measure(reference, test).at(0);
  for (const int depth : {10, 16, 32}) {
    const Frame deep = random_frame(with_depth(kGray8, depth), 2);
    const PlaneQuality quality = measure(reference, deep).at(0);
    EXPECT_NEAR(quality.mse, expected.mse, 1e-3) << depth;
    EXPECT_NEAR(quality.ssim, expected.ssim, 1e-6) << depth;
  }
}

TEST(Metrics, EqualFramesArePerfect) {
  const Frame frame = random_frame(kGray8, 3);
  const PlaneQuality quality = measure(frame, frame).at(0);
  EXPECT_EQ(quality.mse, 0);
  EXPECT_EQ(quality.psnr, std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(quality.ssim, 1);
}

TEST(Metrics, MeanSquaredErrorOfKnownSamples) {
  const Frame reference = constant_frame({.width = 4, .height = 2}, 50);
  const Frame test =
      make_frame(reference.format, [](int, int x, int y) { return 50 + (x == 3 && y == 1 ? 20 : x); });
  EXPECT_DOUBLE_EQ(measure(reference, test).at(0).mse, (2 * (0 + 1 + 4) + 9 + 400) / 8.0);
}

TEST(Ssim, ConstantPlanesHaveTheLuminanceTerm) {
  const PlaneQuality quality = measure(constant_frame(kGray8, 60), constant_frame(kGray8, 120)).at(0);
  const double c1 = 2.55 * 2.55;
  EXPECT_NEAR(quality.ssim, (2 * 60 * 120 + c1) / (60 * 60 + 120 * 120 + c1), 1e-9);
}

TEST(Ssim, AgreesWithTheEquationsWrittenDown) {
  for (const auto& [width, height] : {std::pair{40, 30}, {11, 11}, {12, 11}, {7, 9}, {30, 4}, {1, 1}}) {
    const FrameFormat format = {.width = width, .height = height};
    const Frame a = random_frame(format, 4);
    const Frame b = random_frame(format, 5);
    EXPECT_NEAR(measure(a, b).at(0).ssim, plain_ssim(a, b), 1e-9) << width << "x" << height;
  }
}

TEST(Ssim, InvertedContrastIsNegative) {
  const Frame a = make_frame(kGray8, [](int, int x, int y) { return 128 + ((x + y) % 2 == 0 ? 60 : -60); });
  const Frame b = make_frame(kGray8, [](int, int x, int y) { return 128 + ((x + y) % 2 == 0 ? -60 : 60); });
  EXPECT_LT(measure(a, b).at(0).ssim, -0.9);
}

TEST(Metrics, MeasuresEachColorPlaneAndLeavesAlphaOut) {
  const FrameFormat format = {.width = 31,
                              .height = 17,
                              .color_model = ColorModel::kYuv,
                              .chroma_shift_x = 1,
                              .chroma_shift_y = 1,
                              .has_alpha = true};
  const Frame reference = constant_frame(format, 100);
  const Frame test = make_frame(format, [](int p, int, int) { return 101 + p; });
  const std::vector<PlaneQuality> quality = measure(reference, test);
  ASSERT_EQ(quality.size(), 3U);
  EXPECT_DOUBLE_EQ(quality[0].mse, 1);
  EXPECT_DOUBLE_EQ(quality[1].mse, 4);
  EXPECT_DOUBLE_EQ(quality[2].mse, 9);
}

TEST(Metrics, FramesThatDoNotCompareAreErrors) {
  const Frame reference = constant_frame({.width = 16, .height = 16}, 1);
  Frame wider = constant_frame({.width = 17, .height = 16}, 1);
  wider.index = 12;
  EXPECT_THROW(
      measure(reference, constant_frame({.width = 16, .height = 16, .color_model = ColorModel::kRgb}, 1)),
      Error);
  try {
    measure(reference, wider);
    FAIL() << "a wider frame was accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("frame 12"), std::string::npos) << error.what();
  }
  EXPECT_THROW(mean_squared_error(reference.planes[0], reference.format, wider.planes[0], wider.format),
               Error);
}

TEST(Flicker, IsWhatErrorsChangeWhereTheReferenceStandsStill) {
  const FrameFormat format = oracle::gray(10, 4);
  const auto filled = [&](int value) {
    Frame frame = allocate_frame(format);
    for (int y = 0; y < format.height; ++y) {
      std::fill_n(frame.planes[0].row<std::uint8_t>(y), format.width, static_cast<std::uint8_t>(value));
    }
    return frame;
  };
  // Constant errors of 3, errors of 3 and -3, and none.
  const auto of = [&](int first, int second) {
    return measure_flicker(filled(100), filled(100 + first), filled(100), filled(100 + second))[0];
  };
  EXPECT_EQ(of(3, 3).deviation(), 0);
  EXPECT_EQ(of(3, 3).share(), 0);
  EXPECT_DOUBLE_EQ(of(3, -3).deviation(), 6);
  EXPECT_DOUBLE_EQ(of(3, -3).share(), 2);
  EXPECT_EQ(of(0, 0).share(), 0);
  EXPECT_EQ(of(3, -3).samples, 40);
  // If the reference changes by more than a code value, nothing counts.
  const Frame moving = filled(100);
  moving.planes[0].row<std::uint8_t>(1)[3] = 102;
  const Flicker flicker = measure_flicker(filled(100), filled(103), moving, filled(97))[0];
  EXPECT_EQ(flicker.samples, 39);
  EXPECT_DOUBLE_EQ(flicker.deviation(), 6);
  Flicker both = flicker;
  both += of(3, 3);
  EXPECT_EQ(both.samples, 79);
  EXPECT_EQ(Flicker().deviation(), 0);
}

}  // namespace
}  // namespace limpid
