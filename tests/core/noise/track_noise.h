#pragma once

#include "core/cpu/noise/noise_estimation.h"
#include "core/frame/frame.h"
#include "core/noise/brightness.h"
#include "core/noise/noise_level.h"
#include "core/noise/noise_tracker.h"

namespace limpid {

/// The tracker's level for the next frame of its stream, as the CPU measures it.
inline NoiseLevel track_noise(NoiseTracker& tracker, const Frame& frame) {
  return tracker.update(brightness(frame), [&] { return cpu::estimate_noise(frame); });
}

}  // namespace limpid
