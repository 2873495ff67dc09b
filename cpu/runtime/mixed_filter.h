// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "core/frame/region.h"
#include "core/noise/noise_model.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// Mixes the noisy samples into the color planes of `out`, the estimate of `noisy` (core/frame/mixing.h), on
/// the threads of the caller's arena.
void mix_in(const Frame& noisy, const PlaneMixes& mixes, Frame& out);

/// Copies the noisy samples outside `area` into the color planes of `out`.
void pass_outside(const Frame& noisy, const Region& area, Frame& out);

/// The share of the second filter's result, by the noise of the frame.
using FilterShares = std::function<PlaneMixes(const NoiseModel& noise)>;

/// The mix of the results of two filters: first * (1 - share) + second * share (core/frame/mixing.h).
std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, FilterShares shares,
                                         const FrameFormat& format);

}  // namespace limpid::cpu
