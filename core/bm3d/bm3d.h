#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/frame/frame.h"

// What is the same of BM3D in every engine.

namespace limpid {

/// Standard deviations of the opponent channels of RGB.
std::array<float, 3> opponent_sigma(const std::array<float, 3>& sigma);

/// A sentence for each plane that is smaller than a patch of either step: such planes pass through unchanged.
std::vector<std::string> warnings_of_small_planes(const Bm3dParameters& parameters,
                                                  const FrameFormat& format);

}  // namespace limpid
