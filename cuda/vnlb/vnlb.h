// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/frame/frame.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// VNLB. Throws UsageError for illegal parameters, and Error for invalid formats or insufficient memory.
std::unique_ptr<FrameFilter> make_frame_filter(const VnlbParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cuda
