#pragma once

#include "core/frame/frame.h"
#include "core/noise/clipping.h"
#include "core/noise/noise_model.h"

namespace limpid::cpu {

/// Undoes in `out`, the estimate of `noisy`, what the ends of the sample range have made of its noise, on the
/// threads of the caller's arena.
void undo_clipping(const Frame& noisy, const NoiseModel& noise, ClippedEndsOfPlanes& ends, Frame& out);

}  // namespace limpid::cpu
