// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursive_parameters.h"

namespace limpid::oracle {

/// The recursive filter of a whole stream by its definition (docs/algorithms.md), in double precision and in
/// the plainest code there is: the results of all frames, context or not. Frames may begin anew. `noise`: a
/// model for all frames, or for each its own.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const RecursiveParameters& parameters,
                           const std::vector<NoiseModel>& noise);

}  // namespace limpid::oracle
