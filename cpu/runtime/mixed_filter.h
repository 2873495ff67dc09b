// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/frame/frame.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// The mix of the results of two filters: first * (1 - share) + second * share (core/frame/mixing.h).
std::unique_ptr<FrameFilter> mix_filters(std::unique_ptr<FrameFilter> first,
                                         std::unique_ptr<FrameFilter> second, float share,
                                         const FrameFormat& format);

}  // namespace limpid::cpu
