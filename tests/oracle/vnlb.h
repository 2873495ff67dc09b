#pragma once

#include <random>
#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vnlb/space_time_patches.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid::oracle {

/// VNLB of a whole stream by its definition (core/README.md), in double precision and in the plainest code
/// there is: the results of all frames, context or not. Frames may begin anew. `noise`: a model for all
/// frames, or for each its own.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                           const std::vector<NoiseModel>& noise);

/// A symmetric matrix of `size` rows with factors in place of its eigenvalues.
std::vector<double> filter_eigenvalues(std::vector<double> matrix, int size,
                                       const vnlb::EigenvalueFilter& filter);

/// The sum of what is on its diagonal, and so of its eigenvalues.
float trace(const std::vector<double>& matrix, int size);

/// A symmetric matrix of twice that rank, or less, with eigenvalues that are alike, and very different.
std::vector<double> make_products(int size, int rank, double greatest, std::mt19937& random);

}  // namespace limpid::oracle
