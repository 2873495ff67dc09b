// SPDX-License-Identifier: MIT
#pragma once

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/matched_group.h"
#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// Implements Engine::find_matches().
MatchedGroup find_matches(const Frame& frame, const Bm3dParameters& parameters, const NoiseModel& noise,
                          int x, int y);

}  // namespace limpid::cpu
