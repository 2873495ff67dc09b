#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

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

struct NlmJob {
  PatchWeights weights;
  PatchPlane plane;
  FloatPlane out;
};

using AveragePatches = void(const NlmJob& job, cudaStream_t stream);
using NlmVariant = Variant<NlmJob, AveragePatches>;

/// All that average alike.
std::span<const NlmVariant> nlm_variants();

// The table's entries, nlm_*.cu.

/// Exact matching values, patches of up to 9x9 and a moderate window. Patch distances by tensor cores, of
/// half floats' precision.
bool can_average_fast(const NlmJob& job, const DeviceLimits& device);
AveragePatches nlm_fast;

/// Exact patch distances.
AveragePatches nlm_any;

}  // namespace limpid::cuda
