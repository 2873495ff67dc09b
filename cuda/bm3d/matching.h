// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/bm3d/bm3d_parameters.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// Block matching: finds the closest patches in the search window of every reference patch, as
// docs/algorithms.md defines them.

namespace limpid::cuda {

/// A plane prepared for matching. Samples have a margin of repeated border samples, so that blocks of threads
/// can read whole regions: sample (x, y) of the plane is `samples[(y + kMargin) * pitch + x + kMargin]`.
struct MatchingPlane {
  /// Margin on the left and above: the maximum radius of match_fast().
  static constexpr int kMargin = 32;
  static constexpr int kFarMargin = 128;  ///< margin on the right and below, which blocks of threads read

  std::int16_t* samples = nullptr;  ///< matching values in the scale of `scale`
  MatchingScale scale;
  int width = 0;
  int height = 0;
  int pitch = 0;  ///< row length in samples; a multiple of 64

  LIMPID_HOST_DEVICE static int pitch_of(int width) { return (width + kMargin + kFarMargin + 63) / 64 * 64; }
  LIMPID_HOST_DEVICE static int rows_of(int height) { return height + kMargin + kFarMargin; }
};

/// Fills `out` from `guide`. `smooth` applies the kernel of core/bm3d/bm3d_parameters.h first.
void prepare_matching(const FloatPlane& guide, bool smooth, const MatchingPlane& out, cudaStream_t stream);

/// Finds `groups`.
using Match = void(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                   const MatchingDistances& distances, const Groups& groups, cudaStream_t stream);
using MatchingVariant = Variant<Bm3dStep, Match>;

/// All variants. They find equal groups.
std::span<const MatchingVariant> matching_variants();

// The entries of the table, matching_*.cu.

/// Kernel for patches of 8x8, narrow search windows and moderate spacing; uses tensor cores.
bool can_match_narrow(const Bm3dStep& step, const DeviceLimits& device);
Match match_narrow;

/// Kernel for patches of 8x8 and moderate search windows; uses tensor cores.
bool can_match_fast(const Bm3dStep& step, const DeviceLimits& device);
Match match_fast;

Match match_any;

// The brightness of reference patches in a guide, on which chroma's noise depends
// (Bm3dComponent::curve_by_guide).

/// Computes the brightness of the reference patches: out[row * grid.columns + column] = brightness_of() the
/// patch.
void find_brightness(const MatchingPlane& guide, const ReferenceGrid& grid, float* out, cudaStream_t stream);
/// find_brightness() for a guide of integer code values; `guide` points to sample (0, 0).
void find_brightness(const std::int8_t* guide, int pitch, const ReferenceGrid& grid, float* out,
                     cudaStream_t stream);

}  // namespace limpid::cuda
