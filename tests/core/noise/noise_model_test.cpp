// SPDX-License-Identifier: MIT
// Properties derived from a noise model's spectrum, compared with white noise filtered by a known kernel.
#include "core/noise/noise_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/bm3d/transforms.h"

namespace limpid {
namespace {

constexpr int kSize = NoiseShape::kFrequencies;
using Kernel = std::vector<double>;  // along one axis, of odd length

// Covariance of unit white noise after the kernel.
double covariance(const Kernel& kernel, int distance) {
  double sum = 0;
  for (std::size_t i = static_cast<std::size_t>(distance); i < kernel.size(); ++i) {
    sum += kernel[i] * kernel[i - static_cast<std::size_t>(distance)];
  }
  return sum;
}

// The variance of sum_i row_i n_i, where n is unit white noise after the kernel.
double variance(const double* row, int size, const Kernel& kernel) {
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      sum += row[i] * row[j] * covariance(kernel, std::abs(i - j));
    }
  }
  return sum;
}

std::vector<double> dct_rows() { return transform_matrices(Transform2d::kDct, kSize).forward; }

NoiseShape shape_of(const Kernel& horizontal, const Kernel& vertical) {
  const double total = covariance(horizontal, 0) * covariance(vertical, 0);
  const std::vector<double> rows = dct_rows();
  NoiseShape shape;
  for (int v = 0; v < kSize; ++v) {
    for (int u = 0; u < kSize; ++u) {
      shape.spectrum[v * kSize + u] = static_cast<float>(variance(&rows[u * kSize], kSize, horizontal) *
                                                         variance(&rows[v * kSize], kSize, vertical) / total);
    }
  }
  return shape;
}

const Kernel kWide = {1, 2, 3, 2, 1};
const Kernel kNarrow = {0.3, 1, 0.3};

TEST(NoiseModel, WhiteNoiseIsWhiteInEveryTransformAndSize) {
  for (const Transform2d transform :
       {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard, Transform2d::kHaar}) {
    for (const int k : {2, 4, 8, 16}) {
      for (const float value : coefficient_variances({}, transform_matrices(transform, k).forward)) {
        EXPECT_EQ(value, 1);
      }
    }
  }
  EXPECT_TRUE(NoiseShape().is_white());
  EXPECT_FALSE(shape_of(kWide, kNarrow).is_white());
}

TEST(NoiseModel, TheSpectrumTellsTheCovariances) {
  const std::array<double, 64> covariances = noise_covariance(shape_of(kWide, kNarrow));
  for (int dy = 0; dy < kSize; ++dy) {
    for (int dx = 0; dx < kSize; ++dx) {
      const double expected =
          covariance(kWide, dx) / covariance(kWide, 0) * covariance(kNarrow, dy) / covariance(kNarrow, 0);
      EXPECT_NEAR(covariances[dy * kSize + dx], expected, 1e-5) << dx << ", " << dy;
    }
  }
}

TEST(NoiseModel, VariancesOfOtherTransformsFollow) {
  const NoiseShape shape = shape_of(kWide, kNarrow);
  const double total = covariance(kWide, 0) * covariance(kNarrow, 0);
  for (const Transform2d transform : {Transform2d::kDct, Transform2d::kBior15, Transform2d::kHaar}) {
    for (const int k : {2, 4, 8, 16}) {
      const std::vector<double> rows = transform_matrices(transform, k).forward;
      const std::vector<float> variances = coefficient_variances(shape, rows);
      for (int v = 0; v < k; ++v) {
        for (int u = 0; u < k; ++u) {
          const double expected =
              variance(&rows[u * k], k, kWide) * variance(&rows[v * k], k, kNarrow) / total;
          EXPECT_NEAR(variances[v * k + u], expected, 2e-3 + 1e-3 * expected) << k << ": " << u << ", " << v;
        }
      }
    }
  }
}

TEST(NoiseModel, VariancesArePositiveWhateverTheSpectrum) {
  NoiseShape shape;
  shape.spectrum.fill(1e-3F);
  shape.spectrum[9] = 60;
  for (const int k : {4, 8, 16}) {
    for (const float value :
         coefficient_variances(shape, transform_matrices(Transform2d::kHaar, k).forward)) {
      EXPECT_GT(value, 0);
    }
  }
  EXPECT_GT(filtered_variance(shape, {1, 1}, {1, 1}), 0);
}

TEST(NoiseModel, FiltersLeaveTheVarianceOfTheFilteredNoise) {
  const std::vector<double> filter = {1, 6, 1};
  const NoiseShape shape = shape_of(kWide, kNarrow);
  const double expected = variance(filter.data(), 3, kWide) * variance(filter.data(), 3, kNarrow) /
                          (covariance(kWide, 0) * covariance(kNarrow, 0));
  EXPECT_NEAR(filtered_variance(shape, filter, filter), expected, 1e-4 * expected);
  EXPECT_EQ(filtered_variance({}, filter, filter), 38.0 * 38);
}

TEST(NoiseModel, DeviationsBetweenBrightnessesAreInterpolated) {
  NoiseShape::Curve curve;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i] = static_cast<float>(i * i);
  }
  for (const auto& [brightness, deviation] : {std::pair{-5.0F, 0.0F},
                                              {0.0F, 0.0F},
                                              {16.0F, 1.0F},
                                              {20.0F, 1.75F},
                                              {40.0F, 6.5F},
                                              {252.0F, 248.25F},
                                              {256.0F, 256.0F},
                                              {1e9F, 256.0F}}) {
    EXPECT_EQ(deviation_at(curve, brightness), deviation) << brightness;
  }
  EXPECT_EQ(deviation_at(curve, std::numeric_limits<float>::quiet_NaN()), 0);
}

TEST(NoiseModel, ImpossibleOnesAreRefused) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NO_THROW((NoiseModel{{0, 255, 3}}.validate()));
  for (const float sigma : {-1.0F, 256.0F, kNan}) {
    EXPECT_THROW((NoiseModel{{1, sigma, 1}}.validate()), UsageError);
    NoiseModel noise;
    noise.opponent[1].sigma = sigma;
    EXPECT_THROW(noise.validate(), UsageError);
  }
  for (const float value : {0.0F, -1.0F, kNan}) {
    NoiseModel noise;
    noise.shape[2].spectrum[63] = value;
    EXPECT_THROW(noise.validate(), UsageError);
    noise = {};
    noise.opponent[0].shape.curve[16] = value;
    EXPECT_THROW(noise.validate(), UsageError);
  }
  for (const float repetition : {-0.1F, 1.0F, kNan}) {
    NoiseModel noise;
    noise.shape[1].repetition = repetition;
    EXPECT_THROW(noise.validate(), UsageError);
  }
}

TEST(NoiseModel, SpectrumFollowsFromCovariances) {
  const NoiseShape shape = shape_of(kNarrow, kWide);
  const std::array<double, 64> spectrum = noise_spectrum(noise_covariance(shape));
  for (std::size_t i = 0; i < spectrum.size(); ++i) {
    EXPECT_NEAR(spectrum[i], static_cast<double>(shape.spectrum[i]), 1e-4) << i;
  }
}

}  // namespace
}  // namespace limpid
