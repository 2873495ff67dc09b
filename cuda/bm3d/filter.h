#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <span>

#include "core/bm3d/bm3d_parameters.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// Collaborative filtering of groups and aggregation of what comes back, into fixed-point sums.

namespace limpid::cuda {

/// How fixed-point sums are scaled so that none can overflow.
struct FixedPoint {
  float numerator_scale = 0;
  int weight_bits = 0;
  float most_hits = 0;  ///< of a group on one sample, as the aggregation window weighs them
  /// The greatest contribution, weight * |sample - offset|, in units of 1 / numerator_scale. Kernels see to
  /// it where noise isn't white.
  float greatest_contribution = 0;
};

/// `amplitude` is the greatest |sample - offset| of the plane; `fast` says which of the kernels adds.
FixedPoint choose_fixed_point(const Bm3dStep& step, GroupTransform transform, bool wiener, float amplitude,
                              bool fast);

/// A step's transform and aggregation window in the form that kernels take. Made once, since making it takes
/// longer than launching the kernels.
struct FilterTables {
  /// Two neighboring elements of a matrix row as half floats, and the rounding errors of these as half
  /// floats.
  struct Pair {
    unsigned high;
    unsigned low;
  };
  static constexpr int kLanes = 32;
  static constexpr int kMaxPatch = 16;
  Pair forward[kLanes] = {};  ///< of the 2D transform along one axis, by lanes; patches of 8x8 only
  Pair inverse[kLanes] = {};
  float window[kMaxPatch] = {};  ///< along one axis, as long as a patch
};
FilterTables make_filter_tables(const Bm3dStep& step);

/// Tables and working memory of filter_any().
struct GeneralFilter {
  const float* forward = nullptr;  ///< patch_size^2: the 2D transform along one axis
  const float* inverse = nullptr;
  const float* window = nullptr;  ///< patch_size^2: the aggregation window
  float* scratch = nullptr;       ///< scratch_floats()
  /// Two for each of the current device's multiprocessors.
  static int blocks() { return 2 * device_limits().multiprocessors; }
  static std::size_t scratch_floats(const Bm3dStep& step, int capacity) {
    return std::size_t{2} * blocks() * capacity * step.patch_size * step.patch_size;
  }
};

/// What filtering one plane needs. In the first step `basic.data` is null.
struct FilterJob {
  Bm3dStep step;
  float lambda = 0;  ///< first step
  float sigma = 0;   ///< of the plane's noise
  /// Bm3dComponent::coefficient_variances of the step, and its curve. The Fourier transforms take all to
  /// be 1.
  std::span<const float> variances;
  std::optional<NoiseShape::Curve> curve;
  const float* brightness = nullptr;  ///< of find_brightness(), where the curve is by the guide
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  FixedPoint fixed_point;
  const FilterTables* tables = nullptr;  ///< for filter_fast()
  GeneralFilter general;                 ///< for filter_any()
  bool samples_are_halves = false;       ///< whether half floats hold sample - sums.offset exactly
};

/// The most reference patches of a tile of filter_fast(), whose sums are 32-bit integers.
inline constexpr int kFilterTileColumns = 8;
inline constexpr int kFilterTileRows = 16;

using FilterGroups = void(const FilterJob& job, cudaStream_t stream);
struct FilterVariant : Variant<Bm3dStep, FilterGroups> {
  /// Whether it adds in 32 bits first (choose_fixed_point()), and takes samples in units of range_unit().
  bool tile_sums;
};

/// All that filter groups by separable transforms.
std::span<const FilterVariant> filter_variants();

// The table's entries, filter_*.cu.

/// Patches of 8x8, groups of up to 32, moderate windows of search and aggregation that fit into a device's
/// shared memory.
bool can_filter_fast(const Bm3dStep& step, const DeviceLimits& device);
FilterGroups filter_fast;

/// Many times slower.
FilterGroups filter_any;

}  // namespace limpid::cuda
