// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// V-BM4D on the CPU (docs/algorithms.md). Throws UsageError for illegal parameters, and Error for invalid
/// formats.
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
