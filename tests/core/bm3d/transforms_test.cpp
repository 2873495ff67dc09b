// SPDX-License-Identifier: MIT
#include "core/bm3d/transforms.h"

#include <fftw3.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "tests/oracle/transforms.h"

namespace limpid {
namespace {

constexpr double kTolerance = 1e-12;

double dot(const double* a, const double* b, int size) {
  double sum = 0;
  for (int i = 0; i < size; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

void expect_inverse(const TransformMatrices& transform) {
  const int n = transform.size;
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < n; ++c) {
      double sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += transform.inverse[r * n + i] * transform.forward[i * n + c];
      }
      EXPECT_NEAR(sum, r == c ? 1 : 0, kTolerance) << "row " << r << ", column " << c << " of " << n;
    }
  }
}

void expect_unit_rows(const TransformMatrices& transform) {
  for (int r = 0; r < transform.size; ++r) {
    const double* row = transform.forward.data() + r * transform.size;
    EXPECT_NEAR(dot(row, row, transform.size), 1, kTolerance) << "row " << r << " of " << transform.size;
  }
}

void expect_orthonormal(const TransformMatrices& transform) {
  const int n = transform.size;
  for (int r = 0; r < n; ++r) {
    for (int s = 0; s < n; ++s) {
      EXPECT_NEAR(dot(transform.forward.data() + r * n, transform.forward.data() + s * n, n), r == s ? 1 : 0,
                  kTolerance)
          << "rows " << r << " and " << s << " of " << n;
      EXPECT_EQ(transform.inverse[r * n + s], transform.forward[s * n + r]);
    }
  }
}

void expect_equal(const std::vector<double>& values, const oracle::Matrix& expected,
                  const std::string& name) {
  ASSERT_EQ(values.size(), expected.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected.values[i], kTolerance)
        << name << ": row " << i / expected.size << ", column " << i % expected.size << " of "
        << expected.size;
  }
}

// Haar's details may have either sign: the filters treat a coefficient and its negative equally.
void expect_equal_up_to_sign(const std::vector<double>& values, const oracle::Matrix& expected,
                             const std::string& name) {
  const int n = expected.size;
  ASSERT_EQ(values.size(), expected.values.size());
  oracle::Matrix turned = expected;
  for (int r = 0; r < n; ++r) {
    if (dot(values.data() + r * n, expected.values.data() + r * n, n) < 0) {
      std::transform(turned.values.begin() + r * n, turned.values.begin() + (r + 1) * n,
                     turned.values.begin() + r * n, [](double value) { return -value; });
    }
  }
  expect_equal(values, turned, name);
}

TEST(Transforms, DctIsFftwsDctTwoMadeOrthonormal) {
  for (int n = 2; n <= 16; ++n) {
    const TransformMatrices transform = transform_matrices(Transform2d::kDct, n);
    ASSERT_EQ(transform.size, n);
    std::vector<double> samples(n);
    std::vector<double> coefficients(n);
    const auto destroy = [](fftw_plan plan) { fftw_destroy_plan(plan); };
    const std::unique_ptr<std::remove_pointer_t<fftw_plan>, decltype(destroy)> plan(
        fftw_plan_r2r_1d(n, samples.data(), coefficients.data(), FFTW_REDFT10, FFTW_ESTIMATE), destroy);
    for (int column = 0; column < n; ++column) {
      std::fill(samples.begin(), samples.end(), 0.0);
      samples[column] = 1;
      fftw_execute(plan.get());
      for (int k = 0; k < n; ++k) {
        // FFTW computes 2 sum x cos; the orthonormal transform has sqrt(2/n), and sqrt(1/n) for k = 0.
        const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / n) / 2;
        EXPECT_NEAR(transform.forward[k * n + column], scale * coefficients[k], kTolerance)
            << "size " << n << ", coefficient " << k << " of sample " << column;
      }
    }
  }
}

TEST(Transforms, DctWalshHadamardAndHaarAreOrthonormal) {
  for (int n = 2; n <= 16; ++n) {
    expect_orthonormal(transform_matrices(Transform2d::kDct, n));
  }
  for (int n = 1; n <= 64; n *= 2) {
    expect_orthonormal(transform_matrices(Transform1d::kWalshHadamard, n));
    expect_orthonormal(transform_matrices(Transform1d::kHaar, n));
  }
  for (int n = 2; n <= 16; n *= 2) {
    expect_orthonormal(transform_matrices(Transform2d::kWalshHadamard, n));
    expect_orthonormal(transform_matrices(Transform2d::kHaar, n));
  }
}

TEST(Transforms, Bior15HasUnitRowsAndAnExactInverse) {
  for (int n = 2; n <= 16; n *= 2) {
    const TransformMatrices transform = transform_matrices(Transform2d::kBior15, n);
    expect_unit_rows(transform);
    expect_inverse(transform);
  }
}

TEST(Transforms, FirstCoefficientIsTheMean) {
  for (const auto kind :
       {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard, Transform2d::kHaar}) {
    for (int n = 2; n <= 16; n *= 2) {
      const TransformMatrices transform = transform_matrices(kind, n);
      for (int r = 0; r < n; ++r) {
        double sum = 0;
        for (int c = 0; c < n; ++c) {
          sum += transform.forward[r * n + c];
        }
        EXPECT_NEAR(sum, r == 0 ? std::sqrt(n) : 0, kTolerance)
            << to_string(kind) << " of " << n << ", row " << r;
      }
    }
  }
}

TEST(Transforms, AreThoseOfTheOracle) {
  for (int n = 2; n <= 16; ++n) {
    for (const auto kind :
         {Transform2d::kDct, Transform2d::kBior15, Transform2d::kWalshHadamard, Transform2d::kHaar}) {
      if (kind != Transform2d::kDct && (n & (n - 1)) != 0) {
        continue;
      }
      const oracle::Transform expected = oracle::make_transform(kind, n);
      const TransformMatrices transform = transform_matrices(kind, n);
      const std::string name(to_string(kind));
      if (kind == Transform2d::kHaar) {
        expect_equal_up_to_sign(transform.forward, expected.forward, name);
      } else {
        expect_equal(transform.forward, expected.forward, name);
        expect_equal(transform.inverse, expected.inverse, name + " inverse");
      }
    }
  }
  for (int n = 1; n <= 64; n *= 2) {
    expect_equal(transform_matrices(Transform1d::kWalshHadamard, n).forward,
                 oracle::make_transform(Transform1d::kWalshHadamard, n).forward, "Walsh-Hadamard");
    expect_equal_up_to_sign(transform_matrices(Transform1d::kHaar, n).forward,
                            oracle::make_transform(Transform1d::kHaar, n).forward, "Haar");
  }
}

TEST(Transforms, WalshHadamardIsInNaturalOrder) {
  const TransformMatrices transform = transform_matrices(Transform1d::kWalshHadamard, 4);
  const std::vector<double> expected = {1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1};
  for (int i = 0; i < 16; ++i) {
    EXPECT_NEAR(transform.forward[i], expected[i] / 2, kTolerance) << i;
  }
}

TEST(KaiserWindow, IsFlatForBetaZeroAndFallsFromTheMiddleOtherwise) {
  for (const double weight : kaiser_window(8, 0)) {
    EXPECT_EQ(weight, 1);
  }
  const std::vector<double> window = kaiser_window(8, 2);
  ASSERT_EQ(window.size(), 64U);
  // [Lebrun 2012] prints this window: 0.1924 in the corner, 0.9718 in the middle.
  EXPECT_NEAR(window[0], 0.1924, 5e-5);
  EXPECT_NEAR(window[3 * 8 + 3], 0.9718, 5e-5);
  EXPECT_EQ(window[63], window[0]);
}

TEST(KaiserWindow, IsThatOfTheOracle) {
  for (const int k : {2, 3, 8, 11, 16}) {
    for (const double beta : {0.0, 0.5, 1.5, 2.0, 2.5, 20.0}) {
      const std::vector<double> line = oracle::kaiser_line(k, beta);
      const std::vector<double> window = kaiser_window(k, beta);
      for (int y = 0; y < k; ++y) {
        for (int x = 0; x < k; ++x) {
          EXPECT_NEAR(window[y * k + x], line[y] * line[x], kTolerance) << k << ", beta " << beta;
        }
      }
    }
  }
}

}  // namespace
}  // namespace limpid
