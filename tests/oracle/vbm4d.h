#pragma once

#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/vbm4d_parameters.h"

namespace limpid::oracle {

/// V-BM4D, or V-BM3D by vbm4d_of(), of a whole stream by its definition (core/README.md), in double precision
/// and in the plainest code there is: the results of all frames, context or not. Frames may begin anew.
/// `noise`: a model for all frames, or for each its own.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                           const std::vector<NoiseModel>& noise);

}  // namespace limpid::oracle
