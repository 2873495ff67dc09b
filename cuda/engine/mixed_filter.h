// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "core/frame/frame.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// V-BM4D with VNLB mixed in: the result of mixed_vbm4d() * (1 - share) + that of mixed_vnlb() * share, with
/// the shares of vnlb_share() and share_in_block(). Throws UsageError for illegal parameters.
std::unique_ptr<FrameFilter> make_mixed_filter(const Vbm4dParameters& parameters, const FrameFormat& format);

}  // namespace limpid::cuda
