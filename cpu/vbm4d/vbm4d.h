// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/vbm3d/vbm3d_parameters.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/frame_filter.h"

namespace limpid::cpu {

/// V-BM4D and V-BM3D on the CPU (docs/algorithms.md). Throw UsageError for illegal parameters, and Error for
/// invalid formats.
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm3dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
