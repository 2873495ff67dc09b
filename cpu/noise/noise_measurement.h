#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_statistics.h"

namespace limpid::cpu {

/// What `frame` tells of its noise (core/noise/noise_statistics.h), and what its differences from the frame
/// before it tell, unless that is null. Both have one format and are in host memory. Of interlaced frames the
/// first fields are used. On the threads of the caller's arena; the result does not depend on how many these
/// are.
noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                     const BrightnessScale& scale = {});

}  // namespace limpid::cpu
