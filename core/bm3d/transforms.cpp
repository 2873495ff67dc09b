// SPDX-License-Identifier: MIT
#include "core/bm3d/transforms.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace limpid {
namespace {

std::vector<double> transposed(const std::vector<double>& matrix, int size) {
  std::vector<double> result(matrix.size());
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) {
      result[c * size + r] = matrix[r * size + c];
    }
  }
  return result;
}

TransformMatrices orthonormal(std::vector<double> forward, int size) {
  std::vector<double> inverse = transposed(forward, size);
  return {size, std::move(forward), std::move(inverse)};
}

TransformMatrices dct(int size) {
  std::vector<double> forward(size * size);
  for (int k = 0; k < size; ++k) {
    for (int n = 0; n < size; ++n) {
      forward[k * size + n] =
          std::sqrt((k == 0 ? 1.0 : 2.0) / size) * std::cos((2 * n + 1) * k * std::numbers::pi / (2 * size));
    }
  }
  return orthonormal(std::move(forward), size);
}

TransformMatrices walsh_hadamard(int size) {
  std::vector<double> forward(size * size);
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) {
      const bool odd = __builtin_parity(static_cast<unsigned>(r & c)) != 0;
      forward[r * size + c] = (odd ? -1 : 1) / std::sqrt(size);
    }
  }
  return orthonormal(std::move(forward), size);
}

// Full dyadic decomposition with periodic extension of each column of the identity. Output i of a level's
// low-pass half is sum_t low[t] * x[2i + t - low_offset] with periodic x; the high-pass half is defined
// accordingly.
std::vector<double> wavelet_analysis(int size, const std::vector<double>& low,
                                     const std::vector<double>& high) {
  std::vector<double> forward(size * size);
  const auto tap = [](const std::vector<double>& filter, const std::vector<double>& x, int n, int i) {
    const int offset =
        static_cast<int>(filter.size()) / 2 - 1;  // centers the filter on samples 2i and 2i + 1
    double sum = 0;
    for (int t = 0; t < static_cast<int>(filter.size()); ++t) {
      sum += filter[t] * x[((2 * i + t - offset) % n + n) % n];
    }
    return sum;
  };
  for (int column = 0; column < size; ++column) {
    std::vector<double> x(size, 0.0);
    x[column] = 1;
    for (int n = size; n > 1; n /= 2) {
      std::vector<double> next(n);
      for (int i = 0; i < n / 2; ++i) {
        next[i] = tap(low, x, n, i);
        next[n / 2 + i] = tap(high, x, n, i);
      }
      for (int i = 0; i < n / 2; ++i) {
        forward[(n / 2 + i) * size + column] = next[n / 2 + i];
      }
      x = std::move(next);
    }
    forward[column] = x[0];
  }
  return forward;
}

constexpr double kHalfSqrt = std::numbers::sqrt2 / 2;

TransformMatrices haar(int size) {
  return orthonormal(wavelet_analysis(size, {kHalfSqrt, kHalfSqrt}, {kHalfSqrt, -kHalfSqrt}), size);
}

// Gauss-Jordan elimination with partial pivoting. The matrices are small and well-conditioned.
std::vector<double> inverted(std::vector<double> matrix, int size) {
  std::vector<double> result(size * size, 0.0);
  for (int i = 0; i < size; ++i) {
    result[i * size + i] = 1;
  }
  for (int column = 0; column < size; ++column) {
    int pivot = column;
    for (int r = column + 1; r < size; ++r) {
      if (std::abs(matrix[r * size + column]) > std::abs(matrix[pivot * size + column])) {
        pivot = r;
      }
    }
    for (int c = 0; c < size; ++c) {
      std::swap(matrix[pivot * size + c], matrix[column * size + c]);
      std::swap(result[pivot * size + c], result[column * size + c]);
    }
    const double scale = 1 / matrix[column * size + column];
    for (int c = 0; c < size; ++c) {
      matrix[column * size + c] *= scale;
      result[column * size + c] *= scale;
    }
    for (int r = 0; r < size; ++r) {
      const double factor = r == column ? 0 : matrix[r * size + column];
      for (int c = 0; c < size; ++c) {
        matrix[r * size + c] -= factor * matrix[column * size + c];
        result[r * size + c] -= factor * result[column * size + c];
      }
    }
  }
  return result;
}

TransformMatrices bior15(int size) {
  std::vector<double> low = {3, -3, -22, 22, 128, 128, 22, -22, -3, 3};
  for (double& tap : low) {
    tap *= std::numbers::sqrt2 / 256;
  }
  std::vector<double> forward = wavelet_analysis(size, low, {-kHalfSqrt, kHalfSqrt});
  for (int r = 0; r < size; ++r) {
    double energy = 0;
    for (int c = 0; c < size; ++c) {
      energy += forward[r * size + c] * forward[r * size + c];
    }
    for (int c = 0; c < size; ++c) {
      forward[r * size + c] /= std::sqrt(energy);
    }
  }
  std::vector<double> inverse = inverted(forward, size);
  return {size, std::move(forward), std::move(inverse)};
}

}  // namespace

TransformMatrices transform_matrices(Transform2d transform, int size) {
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

TransformMatrices transform_matrices(Transform1d transform, int size) {
  return transform == Transform1d::kHaar ? haar(size) : walsh_hadamard(size);
}

float coefficient_threshold(float lambda, float sigma) { return lambda * sigma * (1 - 0x1p-14F); }

namespace {

// The modified Bessel function of the first kind, of order 0, by its power series. std::cyl_bessel_i() is not
// thread-safe: it calls the C library's lgamma(), which writes a global variable.
double bessel_i0(double x) {
  double sum = 1;
  double term = 1;
  for (int k = 1; term > sum * std::numeric_limits<double>::epsilon(); ++k) {
    term *= x * x / 4 / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

}  // namespace

std::vector<double> kaiser_window(int patch_size, double beta) {
  std::vector<double> line(patch_size);
  for (int i = 0; i < patch_size; ++i) {
    const double position = patch_size == 1 ? 0 : 2.0 * i / (patch_size - 1) - 1;
    line[i] = bessel_i0(beta * std::sqrt(1 - position * position)) / bessel_i0(beta);
  }
  std::vector<double> window(patch_size * patch_size);
  for (int y = 0; y < patch_size; ++y) {
    for (int x = 0; x < patch_size; ++x) {
      window[y * patch_size + x] = line[y] * line[x];
    }
  }
  return window;
}

}  // namespace limpid
