// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/edge_preserving/edge_preserving_parameters.h"
#include "cuda/runtime/convert.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// The bilateral filter and the two passes of the adaptive one, as core/edge_preserving/edge_preserving.h
// defines them.

namespace limpid::cuda {

enum class BilateralPass : std::uint8_t {
  kMean,      ///< the bilateral filter
  kVariance,  ///< the first pass of the adaptive filter, which computes V(p)
  kAdapted    ///< its second pass
};

struct BilateralJob {
  BilateralPass pass = BilateralPass::kMean;
  /// The weights of the pass. For kAdapted, which has its own range weights, `first.range` is ignored; other
  /// passes use only `first`.
  AdaptiveBilateralWeights weights;
  FloatPlane variance;  ///< V: written by kVariance, read by kAdapted
  int width = 0;
  int height = 0;
  bool bytes = false;  ///< true for 8-bit samples; otherwise only variants that take floats apply
  SamplePlane in;      ///< input of variants that take bytes
  SamplePlane out;     ///< output, except of kVariance, which writes to `variance`
  FloatPlane noisy;    ///< input of variants that take floats
  FloatPlane result;
};

using FilterBilateral = void(const BilateralJob& job, cudaStream_t stream);
struct BilateralVariant : Variant<BilateralJob, FilterBilateral> {
  bool takes_bytes;
};

/// All variants. Their results are equal up to the rounding in the tables of variants that take bytes.
std::span<const BilateralVariant> bilateral_variants();

// The entries of the table, bilateral_*.cu.

/// Maximum radius of the variants that take bytes.
inline constexpr int kMostBytesRadius = 15;

/// True for passes other than kAdapted, if the tables fit a device's shared memory.
bool can_filter_bytes(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_bytes;

/// True for passes other than kAdapted and a range sigma of 8 or more. The time does not depend on the
/// radius.
bool can_filter_by_series(const BilateralJob& job, const DeviceLimits& device);
/// True if bilateral_series() is faster than bilateral_bytes().
bool series_pays(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_series;

/// True for kAdapted.
bool can_filter_halves(const BilateralJob& job, const DeviceLimits& device);
FilterBilateral bilateral_halves;

/// The general kernel, for samples of any depth and any radius.
FilterBilateral bilateral_any;

// Non-local means and NLM-bilateral: means of the samples of a search window, weighted by the similarity of
// their patches, as core/edge_preserving/edge_preserving.h defines them (PatchWeights).

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
