#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"

namespace limpid::oracle {

/// Undoes in `out`, the estimate of `noisy`, what the ends of the range have made of its noise
/// (core/noise/clipping.h).
void undo_clipping(const Frame& noisy, const NoiseModel& noise, Frame& out);

}  // namespace limpid::oracle
