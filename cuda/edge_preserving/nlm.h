// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// Non-local means and NLM-bilateral: means of the samples of a search window, weighted by the similarity of
// their patches, as core/edge_preserving/edge_preserving.h defines them (PatchWeights).

namespace limpid::cuda {

/// Input of nlm_*(): a plane's matching values (patch_scale()), in rows of the same pitch as the float plane.
struct PatchPlane {
  FloatPlane samples;              ///< samples in 8-bit code values
  std::int16_t* values = nullptr;  ///< matching value of (x, y) at [y * samples.pitch + x]
  MatchingScale scale;
  bool exact = false;  ///< samples have at most 10 bits and equal their matching values
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

/// All variants. Their results are equal.
std::span<const NlmVariant> nlm_variants();

// The entries of the table, nlm_*.cu.

/// True for exact matching values, patches of up to 9x9 and a moderate window. Patch distances are computed
/// by tensor cores, with the precision of half floats.
bool can_average_fast(const NlmJob& job, const DeviceLimits& device);
AveragePatches nlm_fast;

/// Exact patch distances.
AveragePatches nlm_any;

}  // namespace limpid::cuda
