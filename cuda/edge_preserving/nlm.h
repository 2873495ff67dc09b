#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/runtime/planes.h"

// Non-local means and NLM-bilateral: means of the samples of a search window, weighted by the likeness of
// their patches, as core/edge_preserving/edge_preserving.h defines them (PatchWeights).

namespace limpid::cuda {

/// What nlm_*() read: a plane's matching values (patch_scale()), whose rows are as long as those of
/// the float plane beside it.
struct PatchPlane {
  FloatPlane samples;              ///< in 8-bit code values
  std::int16_t* values = nullptr;  ///< matching value of (x, y) at [y * samples.pitch + x]
  MatchingScale scale;
  bool exact = false;  ///< samples have at most 10 bits, so that matching values are they
};

/// Fills `plane.values` from `plane.samples`.
void prepare_patches(const PatchPlane& plane, cudaStream_t stream);

/// Whether nlm_fast() can do it: exact matching values, patches of up to 9x9 and a moderate window.
bool can_average_fast(const PatchWeights& weights, const PatchPlane& plane);

/// Patch distances by tensor cores, of half floats' precision.
void nlm_fast(const PatchWeights& weights, const PatchPlane& plane, const FloatPlane& out,
              cudaStream_t stream);

/// Filters with any parameters; patch distances are exact.
void nlm_any(const PatchWeights& weights, const PatchPlane& plane, const FloatPlane& out,
             cudaStream_t stream);

}  // namespace limpid::cuda
