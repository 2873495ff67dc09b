// SPDX-License-Identifier: MIT
#include "tests/oracle/transforms.h"

#include <cmath>
#include <functional>
#include <numbers>

namespace limpid::oracle {
namespace {

using Vector = std::vector<double>;

// One level of a wavelet turns a vector into its approximation and its details, each of half the length.
struct Level {
  Vector approximation;
  Vector details;
};
using Analysis = std::function<Level(const Vector&)>;
using Synthesis = std::function<Vector(const Level&)>;

Matrix matrix_of(int size, const std::function<Vector(const Vector&)>& linear_map) {
  Matrix matrix{size, Vector(size * size)};
  for (int column = 0; column < size; ++column) {
    Vector unit(size, 0.0);
    unit[column] = 1;
    const Vector image = linear_map(unit);
    for (int row = 0; row < size; ++row) {
      matrix.at(row, column) = image[row];
    }
  }
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result = matrix;
  for (int row = 0; row < matrix.size; ++row) {
    for (int column = 0; column < matrix.size; ++column) {
      result.at(column, row) = matrix.at(row, column);
    }
  }
  return result;
}

// The approximation of the last level comes first, then the details from the coarsest to the finest.
Vector decompose(const Vector& samples, const Analysis& analysis) {
  if (samples.size() == 1) {
    return samples;
  }
  const Level level = analysis(samples);
  Vector coefficients = decompose(level.approximation, analysis);
  coefficients.insert(coefficients.end(), level.details.begin(), level.details.end());
  return coefficients;
}

Vector recompose(const Vector& coefficients, const Synthesis& synthesis) {
  if (coefficients.size() == 1) {
    return coefficients;
  }
  const auto middle = coefficients.begin() + static_cast<std::ptrdiff_t>(coefficients.size() / 2);
  return synthesis(
      {recompose(Vector(coefficients.begin(), middle), synthesis), Vector(middle, coefficients.end())});
}

Level haar_analysis(const Vector& x) {
  Level level;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    level.approximation.push_back((x[i] + x[i + 1]) / std::numbers::sqrt2);
    level.details.push_back((x[i + 1] - x[i]) / std::numbers::sqrt2);
  }
  return level;
}

Vector haar_synthesis(const Level& level) {
  Vector x;
  for (std::size_t i = 0; i < level.details.size(); ++i) {
    x.push_back((level.approximation[i] - level.details[i]) / std::numbers::sqrt2);
    x.push_back((level.approximation[i] + level.details[i]) / std::numbers::sqrt2);
  }
  return x;
}

// What bior1.5's low-pass filter (3, -3, -22, 22, 128, 128, 22, -22, -3, 3) sqrt(2)/256 adds to Haar's: its
// outer taps come in pairs (t, -t), each of which is -t sqrt(2) times a detail.
double bior_correction(const Vector& details, int i) {
  const int n = static_cast<int>(details.size());
  const auto d = [&](int offset) { return details[((i + offset) % n + n) % n]; };
  return (-3 * d(-2) + 22 * d(-1) - 22 * d(1) + 3 * d(2)) / 128;
}

Level bior_analysis(const Vector& x) {
  Level level = haar_analysis(x);
  for (std::size_t i = 0; i < level.details.size(); ++i) {
    level.approximation[i] += bior_correction(level.details, static_cast<int>(i));
  }
  return level;
}

Vector bior_synthesis(const Level& level) {
  Level haar = level;
  for (std::size_t i = 0; i < level.details.size(); ++i) {
    haar.approximation[i] -= bior_correction(level.details, static_cast<int>(i));
  }
  return haar_synthesis(haar);
}

Transform dct(int size) {
  Matrix forward{size, Vector(size * size)};
  for (int n = 0; n < size; ++n) {
    forward.at(0, n) = std::sqrt(1.0 / size);
    for (int k = 1; k < size; ++k) {
      forward.at(k, n) = std::sqrt(2.0 / size) * std::cos(std::numbers::pi * k * (n + 0.5) / size);
    }
  }
  return {forward, transposed(forward)};
}

Transform walsh_hadamard(int size) {
  Matrix forward{1, {1.0}};
  while (forward.size < size) {
    const int half = forward.size;
    Matrix doubled{2 * half, Vector(4 * half * half)};
    for (int row = 0; row < half; ++row) {
      for (int column = 0; column < half; ++column) {
        const double value = forward.at(row, column) / std::numbers::sqrt2;
        doubled.at(row, column) = value;
        doubled.at(row, column + half) = value;
        doubled.at(row + half, column) = value;
        doubled.at(row + half, column + half) = -value;
      }
    }
    forward = doubled;
  }
  return {forward, transposed(forward)};
}

Transform haar(int size) {
  const Matrix forward = matrix_of(size, [](const Vector& x) { return decompose(x, haar_analysis); });
  return {forward, transposed(forward)};
}

Transform bior15(int size) {
  Transform transform{matrix_of(size, [](const Vector& x) { return decompose(x, bior_analysis); }),
                      matrix_of(size, [](const Vector& x) { return recompose(x, bior_synthesis); })};
  for (int row = 0; row < size; ++row) {
    double energy = 0;
    for (int column = 0; column < size; ++column) {
      energy += transform.forward.at(row, column) * transform.forward.at(row, column);
    }
    for (int column = 0; column < size; ++column) {
      transform.forward.at(row, column) /= std::sqrt(energy);
      transform.inverse.at(column, row) *= std::sqrt(energy);
    }
  }
  return transform;
}

double bessel_i0(double x) {
  double sum = 1;
  double term = 1;
  for (int m = 1; m < 100; ++m) {
    term *= (x / 2 / m) * (x / 2 / m);
    sum += term;
  }
  return sum;
}

}  // namespace

Transform make_transform(Transform2d transform, int size) {
  switch (transform) {
    case Transform2d::kDct:
      return dct(size);
    case Transform2d::kBior15:
      return bior15(size);
    case Transform2d::kWalshHadamard:
      return walsh_hadamard(size);
    case Transform2d::kHaar:
      return haar(size);
  }
  return {};
}

Transform make_transform(Transform1d transform, int size) {
  return transform == Transform1d::kHaar ? haar(size) : walsh_hadamard(size);
}

std::vector<double> kaiser_line(int size, double beta) {
  std::vector<double> line;
  for (int i = 0; i < size; ++i) {
    const double position = 2.0 * i / (size - 1) - 1;
    line.push_back(bessel_i0(beta * std::sqrt(1 - position * position)) / bessel_i0(beta));
  }
  return line;
}

}  // namespace limpid::oracle
