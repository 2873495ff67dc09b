// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/bm3d/bm3d_parameters.h"

namespace limpid::oracle {

/// A square matrix, row-major.
struct Matrix {
  int size = 0;
  std::vector<double> values;
  double at(int row, int column) const { return values[row * size + column]; }
  double& at(int row, int column) { return values[row * size + column]; }
};

/// coefficients = forward * samples; samples = inverse * coefficients.
struct Transform {
  Matrix forward;
  Matrix inverse;
};

/// The transforms of BM3D from their textbook definitions, independent of core/bm3d/transforms.cpp: the DCT
/// by its cosines, Walsh-Hadamard by Sylvester's construction, Haar by sums and differences, bior1.5 by
/// lifting (its inverse reverses the lifting steps).
Transform make_transform(Transform2d transform, int size);
Transform make_transform(Transform1d transform, int size);

/// I0(beta sqrt(1 - (2i/(k-1) - 1)^2)) / I0(beta), by the power series of I0.
std::vector<double> kaiser_line(int size, double beta);

}  // namespace limpid::oracle
