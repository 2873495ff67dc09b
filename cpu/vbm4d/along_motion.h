// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/vbm4d/vbm4d_parameters.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/vbm4d/picture_groups.h"

namespace limpid::cpu {

/// The common part of CPU filters along motion: V-BM4D, and others that follow reference patches in the same
/// way (docs/algorithms.md).
///
/// Each picture passes through the same stages once. Its samples, guides and motion are computed when it
/// arrives, its groups of the first step when the pictures they reach have arrived, its basic estimate when
/// all groups that reach it are done, and so on. These data are kept with the picture until no later group
/// can reach it.
///
/// `parameters` define the steps, grids, windows and spans, and the end of trajectories. Throws UsageError
/// for illegal parameters, and Error for invalid formats.
std::unique_ptr<FrameFilter> make_filter_along_motion(const Vbm4dParameters& parameters,
                                                      const FrameFormat& format, const GroupStage& groups);

/// V-BM4D on the CPU (docs/algorithms.md). Throws UsageError for illegal parameters, and Error for invalid
/// formats.
std::unique_ptr<FrameFilter> make_frame_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cpu
