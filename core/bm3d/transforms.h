// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/bm3d/bm3d_parameters.h"

namespace limpid {

/// A one-dimensional transform of `size` samples as a pair of row-major size x size matrices: coefficients =
/// forward * samples and samples = inverse * coefficients. Rows of `forward` have unit norm; for the
/// orthonormal transforms `inverse` is the transpose of `forward`.
struct TransformMatrices {
  int size = 0;
  std::vector<double> forward;
  std::vector<double> inverse;
};

/// The transform that BM3D applies along rows and columns of a patch: DCT-II; bior1.5 of full depth with
/// periodic extension, rows normalized ([Dabov 2007], section IV); Walsh-Hadamard in natural order; Haar of
/// full depth, whose first coefficient is the mean and whose details follow from coarse to fine. All but the
/// DCT need a size that is a power of two.
TransformMatrices transform_matrices(Transform2d transform, int size);

/// The transform across the patches of a group; `size` is a power of two.
TransformMatrices transform_matrices(Transform1d transform, int size);

/// The threshold of a coefficient's magnitude in the first step. It is slightly less than lambda sigma,
/// because integer samples often have coefficients of exactly lambda sigma, which rounding would keep in one
/// engine and remove in another.
float coefficient_threshold(float lambda, float sigma);

/// The aggregation window of a k x k patch, row-major: the outer product of the Kaiser window
/// I0(beta sqrt(1 - (2i/(k-1) - 1)^2)) / I0(beta) with itself. All ones for beta = 0.
std::vector<double> kaiser_window(int patch_size, double beta);

}  // namespace limpid
