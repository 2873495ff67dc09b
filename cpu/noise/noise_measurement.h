// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/noise/noise_statistics.h"
#include "core/noise/scene_range.h"

namespace limpid::cpu {

/// Noise statistics of `frame` (core/noise/noise_statistics.h) and of its differences from the frame before,
/// unless that is null. Both have one format and are in host memory. For interlaced frames, the first fields
/// are used. Runs on the threads of the caller's arena; the result does not depend on their number.
noise::NoiseStatistics measure_noise(const Frame& frame, const Frame* before,
                                     const noise::SceneRange& range = {});

}  // namespace limpid::cpu
