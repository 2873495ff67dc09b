// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/vbm4d_parameters.h"

namespace limpid::oracle {

/// V-BM4D of a whole stream by its definition (docs/algorithms.md), in double
/// precision and the simplest possible code: the results of all frames, including context. `begins_anew` is
/// honored. `noise`: one model for all frames, or one per frame.
std::vector<Frame> denoise(const std::vector<Frame>& frames, const Vbm4dParameters& parameters,
                           const std::vector<NoiseModel>& noise);

}  // namespace limpid::oracle
