// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// Corrects `out`, the estimate of `noisy`, for the clipping of noise at the ends of the sample range, on the
/// threads of the caller's arena.
void undo_clipping(const Frame& noisy, const NoiseModel& noise, ClippedEndsOfPlanes& ends, Frame& out);

}  // namespace limpid::cpu
