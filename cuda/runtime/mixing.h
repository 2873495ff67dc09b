// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "core/frame/frame.h"
#include "core/frame/mixing.h"
#include "core/frame/region.h"
#include "cuda/runtime/frame_filter.h"

namespace limpid::cuda {

/// Enqueues the mix of the noisy samples into the color planes of `out`, the estimate of `noisy`, bit-exact
/// with the CPU engine (core/frame/mixing.h).
void mix_in(const FrameFormat& format, const SamplePlanes& noisy, float mix, const SamplePlanes& out,
            cudaStream_t stream);

/// Enqueues the mix of two results of a frame into the color planes of `out`, bit-exact with the CPU engine
/// (mix_block()). `first`, `before` and `second` are planes of DeviceFrames of the format.
void mix_results(const FrameFormat& format, const SamplePlanes& first, const SamplePlanes& before,
                 const SamplePlanes& second, float share, const SamplePlanes& out, cudaStream_t stream);

/// Enqueues copies of the noisy samples outside `area` into the color planes of `out`.
void pass_outside(const FrameFormat& format, const SamplePlanes& noisy, const Region& area,
                  const SamplePlanes& out, cudaStream_t stream);

}  // namespace limpid::cuda
