#pragma once

#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vnlb/vnlb_parameters.h"

namespace limpid::oracle {

/// VNLB of a whole stream by its definition (core/README.md), in double precision and in the plainest code
/// there is: the results of all frames, context or not. Frames may begin anew. `noise`: a model for all
/// frames, or for each its own.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const VnlbParameters& parameters,
                           const std::vector<NoiseModel>& noise);

/// The eigenvalues of a symmetric matrix of `size` rows and its eigenvectors, as rows, by Jacobi's method.
void decompose(std::vector<double>& matrix, int size, std::vector<double>& eigenvectors);

}  // namespace limpid::oracle
