// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/engine/denoiser.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// The filter on the current device. Throws UsageError for illegal parameters, and Error for invalid formats
/// or insufficient memory.
std::unique_ptr<FrameFilter> make_filter(const Filter& filter, const FrameFormat& format);

/// The engines "cuda:0", "cuda:1", ..., or one named "cuda" with the reason why there are none.
std::vector<EngineInfo> list_cuda();

/// Throws Error if the device cannot be used.
std::shared_ptr<Engine> open_cuda(std::string_view name, const EngineOptions& options);

}  // namespace limpid::cuda
