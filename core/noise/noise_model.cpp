// SPDX-License-Identifier: MIT
#include "core/noise/noise_model.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/noise/noise_blocks.h"

namespace limpid {
namespace {

constexpr int kLags = NoiseShape::kFrequencies;
using Matrix = std::array<std::array<double, kLags>, kLags>;
// Minimum share of a coefficient's variance in the mean. Spectra are measured, and the variances that follow
// for other transforms may be negative.
constexpr double kLeastVariance = 1e-3;

// The factors of covariances at distances of 0 to 7 samples in the variance of a filter's response: the
// filter's autocorrelation, in both directions.
std::array<double, kLags> responses(const double* filter, std::size_t size) {
  std::array<double, kLags> response{};
  for (std::size_t d = 0; d < std::min<std::size_t>(kLags, size); ++d) {
    for (std::size_t i = d; i < size; ++i) {
      response[d] += (d == 0 ? 1 : 2) * filter[i] * filter[i - d];
    }
  }
  return response;
}

// Gauss-Jordan elimination in place. The matrix of noise_covariance() is well-conditioned, so rows need not
// be exchanged.
Matrix inverse(Matrix matrix) {
  for (int pivot = 0; pivot < kLags; ++pivot) {
    const double scale = 1 / std::exchange(matrix[pivot][pivot], 1);
    for (double& value : matrix[pivot]) {
      value *= scale;
    }
    for (int row = 0; row < kLags; ++row) {
      if (row == pivot) {
        continue;
      }
      const double factor = std::exchange(matrix[row][pivot], 0);
      for (int i = 0; i < kLags; ++i) {
        matrix[row][i] -= factor * matrix[pivot][i];
      }
    }
  }
  return matrix;
}

// The matrix M of the header.
const Matrix& covariance_to_spectrum() {
  static const Matrix from_covariance = [] {
    const noise::HalfDctMatrix half = noise::half_dct_matrix();
    Matrix matrix{};
    for (int u = 0; u < kLags; ++u) {
      std::array<double, kLags> row{};
      for (int i = 0; i < kLags / 2; ++i) {
        row[i] = static_cast<double>(half[u][i]);
        row[kLags - 1 - i] = u % 2 == 0 ? row[i] : -row[i];
      }
      matrix[u] = responses(row.data(), row.size());
    }
    return matrix;
  }();
  return from_covariance;
}

// The matrix M^-1 of the header.
const Matrix& spectrum_to_covariance() {
  static const Matrix from_spectrum = inverse(covariance_to_spectrum());
  return from_spectrum;
}

double variance_of(const std::array<double, 64>& covariance, const std::array<double, kLags>& horizontal,
                   const std::array<double, kLags>& vertical) {
  double variance = 0;
  for (int dy = 0; dy < kLags; ++dy) {
    double row = 0;
    for (int dx = 0; dx < kLags; ++dx) {
      row += horizontal[dx] * covariance[dy * kLags + dx];
    }
    variance += vertical[dy] * row;
  }
  return variance;
}

void validate_shape(const NoiseShape& shape) {
  const auto positive = [](float value) { return std::isfinite(value) && value > 0; };
  if (!std::all_of(shape.spectrum.begin(), shape.spectrum.end(), positive) ||
      !std::all_of(shape.curve.begin(), shape.curve.end(), positive)) {
    throw UsageError("a noise model's spectrum and curve must be of positive numbers");
  }
  const BrightnessScale& scale = shape.curve.scale;
  if (!std::isfinite(scale.origin) || !positive(scale.spacing)) {
    throw UsageError(
        "the brightness scale of a noise model must have a finite origin and a positive spacing");
  }
  if (!(shape.repetition >= 0 && shape.repetition < 1)) {
    throw UsageError("a noise model's repetition must be 0 to less than 1");
  }
}

}  // namespace

bool NoiseShape::is_white() const { return spectrum == NoiseShape().spectrum; }

void NoiseModel::validate() const {
  for (std::size_t p = 0; p < sigma.size(); ++p) {
    for (const float deviation : {sigma[p], opponent[p].sigma}) {
      if (!(deviation >= 0 && deviation <= 255)) {
        throw UsageError("a noise level of " + std::to_string(deviation) + " is not possible (0 to 255)");
      }
    }
    validate_shape(shape[p]);
    validate_shape(opponent[p].shape);
  }
}

NoiseModel NoiseEstimate::as_measured() const {
  NoiseModel model = static_cast<const NoiseModel&>(*this);
  for (std::size_t p = 0; p < measured.size(); ++p) {
    if (sigma[p] > 0 && measured[p].sigma > 0) {
      model.sigma[p] = measured[p].sigma;
      model.shape[p] = measured[p].shape;
    }
  }
  return model;
}

bool have_like_levels(const NoiseModel& a, const NoiseModel& b, float factor) {
  constexpr float kDifference = 0.5F;
  return std::ranges::equal(a.sigma, b.sigma, [&](float one, float other) {
    return std::abs(one - other) <= std::max(kDifference, (factor - 1) * std::min(one, other));
  });
}

std::array<double, 64> noise_covariance(const NoiseShape& shape) {
  const Matrix& to_covariance = spectrum_to_covariance();
  Matrix half{};  // M^-1 S
  for (int dy = 0; dy < kLags; ++dy) {
    for (int u = 0; u < kLags; ++u) {
      for (int v = 0; v < kLags; ++v) {
        half[dy][u] += to_covariance[dy][v] * static_cast<double>(shape.spectrum[v * kLags + u]);
      }
    }
  }
  std::array<double, 64> covariance{};
  for (int dy = 0; dy < kLags; ++dy) {
    for (int dx = 0; dx < kLags; ++dx) {
      for (int u = 0; u < kLags; ++u) {
        covariance[dy * kLags + dx] += half[dy][u] * to_covariance[dx][u];
      }
    }
  }
  return covariance;
}

std::array<double, 64> noise_spectrum(const std::array<double, 64>& covariance) {
  const Matrix& factors = covariance_to_spectrum();
  std::array<double, 64> spectrum{};
  double sum = 0;
  for (int v = 0; v < kLags; ++v) {
    for (int u = 0; u < kLags; ++u) {
      spectrum[v * kLags + u] = variance_of(covariance, factors[u], factors[v]);
      sum += spectrum[v * kLags + u];
    }
  }
  for (double& each : spectrum) {
    each *= static_cast<double>(spectrum.size()) / sum;
  }
  return spectrum;
}

std::vector<float> coefficient_variances(const NoiseShape& shape, const std::vector<double>& rows) {
  const auto k = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(rows.size()))));
  std::vector<float> variances(rows.size(), 1.0F);
  if (shape.is_white()) {
    return variances;
  }
  const std::array<double, 64> covariance = noise_covariance(shape);
  for (std::size_t v = 0; v < k; ++v) {
    for (std::size_t u = 0; u < k; ++u) {
      variances[v * k + u] = static_cast<float>(std::max(
          kLeastVariance, variance_of(covariance, responses(&rows[u * k], k), responses(&rows[v * k], k))));
    }
  }
  return variances;
}

double filtered_variance(const NoiseShape& shape, const std::vector<double>& horizontal,
                         const std::vector<double>& vertical) {
  const auto across = responses(horizontal.data(), horizontal.size());
  const auto down = responses(vertical.data(), vertical.size());
  if (shape.is_white()) {
    return across[0] * down[0];
  }
  return std::max(kLeastVariance, variance_of(noise_covariance(shape), across, down));
}

}  // namespace limpid
