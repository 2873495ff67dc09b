// SPDX-License-Identifier: MIT
#include "core/grain/autoregression.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>

namespace limpid {
namespace {

struct Neighbor {
  int dx;
  int dy;
};
using Neighbors = std::array<Neighbor, Autoregression::kNeighbors>;

constexpr Neighbors kNeighborhood = [] {
  Neighbors neighbors{};
  std::size_t i = 0;
  for (int dy = -Autoregression::kLag; dy <= 0; ++dy) {
    for (int dx = -Autoregression::kLag; dx <= (dy < 0 ? Autoregression::kLag : -1); ++dx) {
      neighbors[i++] = {dx, dy};
    }
  }
  return neighbors;
}();

using Equations = std::array<std::array<double, Autoregression::kNeighbors>, Autoregression::kNeighbors>;
using Weights = std::array<double, Autoregression::kNeighbors>;

/// Solves a symmetric system of equations by Gaussian elimination.
Weights solve(Equations a, Weights b) {
  constexpr int kSize = Autoregression::kNeighbors;
  for (int column = 0; column < kSize; ++column) {
    int pivot = column;
    for (int row = column; row < kSize; ++row) {
      pivot = std::abs(a[row][column]) > std::abs(a[pivot][column]) ? row : pivot;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (int row = column + 1; row < kSize; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (int i = column; i < kSize; ++i) {
        a[row][i] -= factor * a[column][i];
      }
      b[row] -= factor * b[column];
    }
  }
  Weights x{};
  for (int row = kSize - 1; row >= 0; --row) {
    double rest = b[row];
    for (int i = row + 1; i < kSize; ++i) {
      rest -= a[row][i] * x[i];
    }
    x[row] = rest / a[row][row];
  }
  return x;
}

}  // namespace

double filtered_variance(const Autoregression& filter) {
  constexpr int kRows = 64;
  constexpr int kColumns = 129;
  constexpr int kTail = 4;  // rows
  constexpr double kMostInTail = 1e-3;
  std::vector<double> response(static_cast<std::size_t>(kRows) * kColumns);  // to a single sample
  const auto at = [&](int y, int x) -> double& {
    return response[static_cast<std::size_t>(y) * kColumns + x];
  };
  double all = 0;
  double tail = 0;
  for (int y = 0; y < kRows; ++y) {
    for (int x = Autoregression::kLag; x < kColumns - Autoregression::kLag; ++x) {
      double& value = at(y, x);
      value = y == 0 && x == kColumns / 2 ? 1 : 0;
      for (std::size_t i = 0; i < kNeighborhood.size(); ++i) {
        const auto [dx, dy] = kNeighborhood[i];
        value += y + dy >= 0 ? filter.weights[i] * at(y + dy, x + dx) : 0;
      }
      all += value * value;
      tail += y >= kRows - kTail ? value * value : 0;
    }
  }
  return std::isfinite(all) && tail < kMostInTail * all ? all : std::numeric_limits<double>::infinity();
}

Autoregression autoregression_of(const NoiseShape& shape, double taper) {
  Autoregression result;
  if (shape.is_white()) {
    return result;
  }
  constexpr int kSpan = NoiseShape::kFrequencies;
  const std::array<double, 64> covariances = noise_covariance(shape);
  const auto covariance = [&](int dx, int dy) {
    const double factor = std::pow(taper, std::hypot(dx, dy));
    return factor * covariances[std::abs(dy) * kSpan + std::abs(dx)];
  };
  Equations equations{};
  Weights right{};
  for (std::size_t row = 0; row < kNeighborhood.size(); ++row) {
    for (std::size_t column = 0; column < kNeighborhood.size(); ++column) {
      equations[row][column] = covariance(kNeighborhood[row].dx - kNeighborhood[column].dx,
                                          kNeighborhood[row].dy - kNeighborhood[column].dy);
    }
    right[row] = covariance(kNeighborhood[row].dx, kNeighborhood[row].dy);
  }
  result.weights = solve(equations, right);
  return result;
}

}  // namespace limpid
