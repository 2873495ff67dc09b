// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::oracle {

/// Corrects `out`, the estimate of `noisy`, for the clipping of noise at the ends of the range
/// (core/noise/clipping.h).
void undo_clipping(const Frame& noisy, const NoiseModel& noise, Frame& out);

}  // namespace limpid::oracle
