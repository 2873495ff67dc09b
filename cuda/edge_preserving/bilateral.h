#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/edge_preserving/edge_preserving.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

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
  int width = 0;
  int height = 0;
  bool bytes = false;  ///< whether samples have 8 bits: else only variants that take floats can do it
  SamplePlane in;      ///< for variants that take bytes
  SamplePlane out;     ///< kVariance writes neither to this nor to `result`
  FloatPlane noisy;    ///< for those that take floats
  FloatPlane result;
};

using FilterBilateral = void(const BilateralJob& job, cudaStream_t stream);
struct BilateralVariant : Variant<BilateralJob, FilterBilateral> {
  bool takes_bytes;
};

/// All that filter alike: those that take bytes but for what their tables round.
std::span<const BilateralVariant> bilateral_variants();

// The table's entries, bilateral_*.cu.

/// The greatest radius of those that take bytes.
inline constexpr int kMostBytesRadius = 15;

/// Not kAdapted; tables that fit into a device's shared memory.
bool can_filter_bytes(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_bytes;

/// Not kAdapted, a range sigma of 8 or more. Its time does not depend on the radius.
bool can_filter_by_series(const BilateralJob& job, const DeviceLimits& device);
/// Whether it takes less time than bilateral_bytes().
bool series_pays(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_series;

/// kAdapted.
bool can_filter_halves(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_halves;

/// Samples of any depth, any radius.
FilterBilateral bilateral_any;

}  // namespace limpid::cuda
