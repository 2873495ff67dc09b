#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/matching.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// Block matching: for every reference patch the closest patches of its search window, as core/README.md
// defines them.

namespace limpid::cuda {

/// A plane prepared for matching. Samples lie inside of a margin of repeated border samples, so that blocks
/// of threads read whole regions: sample (x, y) of the plane is `samples[(y + kMargin) * pitch + x +
/// kMargin]`.
struct MatchingPlane {
  static constexpr int kMargin = 32;      ///< on the left and above: match_fast()'s greatest radius
  static constexpr int kFarMargin = 128;  ///< on the right and below: what a block of threads reads beyond

  std::int16_t* samples = nullptr;  ///< matching values, as `scale` says
  MatchingScale scale;
  int width = 0;
  int height = 0;
  int pitch = 0;  ///< samples; a multiple of 64

  LIMPID_HOST_DEVICE static int pitch_of(int width) { return (width + kMargin + kFarMargin + 63) / 64 * 64; }
  LIMPID_HOST_DEVICE static int rows_of(int height) { return height + kMargin + kFarMargin; }
};

/// Fills `out` from `guide`, which is smoothed first if `smooth` says so (core/bm3d/matching.h).
void prepare_matching(const FloatPlane& guide, bool smooth, const MatchingPlane& out, cudaStream_t stream);

/// Finds `groups`.
using Match = void(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
                   const MatchingDistances& distances, const Groups& groups, cudaStream_t stream);
using MatchingVariant = Variant<Bm3dStep, Match>;

/// All that find the same groups.
std::span<const MatchingVariant> matching_variants();

// The table's entries, matching_*.cu.

/// Patches of 8x8 on tensor cores, narrow windows of references not too far apart.
bool can_match_narrow(const Bm3dStep& step, const DeviceLimits& device);
Match match_narrow;

/// Patches of 8x8 on tensor cores, moderate windows.
bool can_match_fast(const Bm3dStep& step, const DeviceLimits& device);
Match match_fast;

Match match_any;

}  // namespace limpid::cuda
