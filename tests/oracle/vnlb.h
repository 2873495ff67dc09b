// SPDX-License-Identifier: MIT
#pragma once

#include <random>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid::oracle {

/// VNLB of a whole stream by its definition (docs/algorithms.md), in double precision and the simplest
/// possible code: the results of all frames, including context. `begins_anew` is honored. `noise`: one model
/// for all frames, or one per frame.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                           const std::vector<NoiseModel>& noise);

/// A symmetric matrix of `size` rows with factors instead of its eigenvalues.
std::vector<double> filter_eigenvalues(std::vector<double> matrix, int size,
                                       const vnlb::EigenvalueFilter& filter);

/// The sum of the diagonal, and thus of the eigenvalues.
float trace(const std::vector<double>& matrix, int size);

/// A symmetric matrix of at most twice this rank, with similar and with very different eigenvalues.
std::vector<double> make_products(int size, int rank, double greatest, std::mt19937& random);

}  // namespace limpid::oracle
