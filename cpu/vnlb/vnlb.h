// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/vnlb/vnlb_parameters.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// VNLB on the CPU (docs/algorithms.md). Throws UsageError for illegal parameters, and Error for invalid
/// formats.
std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
