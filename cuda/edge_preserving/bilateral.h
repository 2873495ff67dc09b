#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/planes.h"

// The bilateral filter and the two passes of the adaptive one, as core/edge_preserving/edge_preserving.h
// defines them.

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

/// Whether bilateral_series() can do the pass: not kAdapted, a moderate radius, a range sigma of 8 or more.
bool can_filter_by_series(const BilateralJob& job);

/// Whether it takes less time than bilateral_bytes(), by trial on an H200.
bool series_is_faster(const BilateralJob& job, int width, int height);

/// bilateral_bytes() in time that does not depend on the radius.
void bilateral_series(const BilateralJob& job, const SamplePlane& in, int width, int height,
                      const SamplePlane& out, cudaStream_t stream);

/// bilateral_bytes() for kAdapted.
void bilateral_halves(const BilateralJob& job, const SamplePlane& in, int width, int height,
                      const SamplePlane& out, cudaStream_t stream);

/// Samples of any depth, any radius. kVariance writes nothing to `out`.
void bilateral_any(const BilateralJob& job, const FloatPlane& in, const FloatPlane& out, cudaStream_t stream);

}  // namespace limpid::cuda
