// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// The share of the second filter's result, by the noise of the frame.
using FilterShares = std::function<PlaneMixes(const NoiseModel& noise)>;

/// The mix of the results of two filters: first * (1 - share) + second * share (core/frame/mixing.h).
std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, FilterShares shares,
                                         const FrameFormat& format);

}  // namespace limpid::cuda
