// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/bm3d/filter.h"
#include "cuda/runtime/planes.h"

namespace limpid::cuda {

/// Sets the sums of a plane of width x height to zero.
void clear_sums(const AggregationSums& sums, int width, int height, cudaStream_t stream);

/// Computes the estimate out = numerator / denominator + offset. The denominator is the weights spread by the
/// aggregation window of patches of `patch_size`.
void finish(const AggregationSums& sums, int patch_size, const FilterTables& tables, const FloatPlane& out,
            cudaStream_t stream);

}  // namespace limpid::cuda
