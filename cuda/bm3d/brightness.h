// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/bm3d/matching.h"
#include "cuda/runtime/planes.h"

// The brightness of reference patches in a guide, on which chroma's noise depends
// (Bm3dComponent::curve_by_guide).

namespace limpid::cuda {

/// Computes the brightness of the reference patches: out[row * grid.columns + column] = brightness_of() the
/// patch.
void find_brightness(const MatchingPlane& guide, const ReferenceGrid& grid, float* out, cudaStream_t stream);
/// find_brightness() for a guide of integer code values; `guide` points to sample (0, 0).
void find_brightness(const std::int8_t* guide, int pitch, const ReferenceGrid& grid, float* out,
                     cudaStream_t stream);

}  // namespace limpid::cuda
