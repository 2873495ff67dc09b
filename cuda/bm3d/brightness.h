#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/bm3d/matching.h"
#include "cuda/runtime/planes.h"

// How bright reference patches are in a guide, which chroma's noise depends on
// (Bm3dComponent::curve_by_guide).

namespace limpid::cuda {

/// out[row * grid.columns + column]: brightness_of() the reference patch.
void find_brightness(const MatchingPlane& guide, const ReferenceGrid& grid, float* out, cudaStream_t stream);
/// Of a guide of whole code values, of which `guide` is sample (0, 0).
void find_brightness(const std::int8_t* guide, int pitch, const ReferenceGrid& grid, float* out,
                     cudaStream_t stream);

}  // namespace limpid::cuda
