#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/edge_preserving.h"
#include "cuda/convert.h"
#include "cuda/planes.h"

// The bilateral filter and the two passes of the adaptive one, as core/edge_preserving.h defines them.

namespace limpid::cuda {

enum class BilateralPass : std::uint8_t {
  kMean,      ///< the bilateral filter
  kVariance,  ///< V(p), the first pass of the adaptive one
  kAdapted    ///< its second pass
};

struct BilateralJob {
  BilateralPass pass = BilateralPass::kMean;
  /// For kAdapted, whose range weights are its own, `first.range` does not count; for the others only `first`
  /// does.
  AdaptiveBilateralWeights weights;
  FloatPlane variance;  ///< V: kVariance writes it, kAdapted reads it
};

/// Whether bilateral_bytes() can do the pass: a moderate radius, and tables that fit into the current
/// device's shared memory.
bool can_filter_bytes(const BilateralJob& job);

/// A plane of 8-bit samples. kVariance writes nothing to `out`.
void bilateral_bytes(const BilateralJob& job, const SamplePlane& in, int width, int height,
                     const SamplePlane& out, cudaStream_t stream);

/// bilateral_bytes() for kAdapted.
void bilateral_halves(const BilateralJob& job, const SamplePlane& in, int width, int height,
                      const SamplePlane& out, cudaStream_t stream);

/// Samples of any depth, any radius. kVariance writes nothing to `out`.
void bilateral_any(const BilateralJob& job, const FloatPlane& in, const FloatPlane& out, cudaStream_t stream);

}  // namespace limpid::cuda
