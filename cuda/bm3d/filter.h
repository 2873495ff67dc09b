// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <span>

#include "core/bm3d/bm3d_parameters.h"
#include "core/noise/noise_model.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/variants.h"

// Collaborative filtering of groups, and aggregation of the results into fixed-point sums.

namespace limpid::cuda {

/// Scaling of fixed-point sums that prevents overflow.
struct FixedPoint {
  float numerator_scale = 0;
  int weight_bits = 0;
  float most_hits = 0;  ///< maximum of the aggregation window's weights that a group adds up at one sample
  /// The greatest contribution, weight * |sample - offset|, in units of 1 / numerator_scale. Kernels enforce
  /// it for colored noise.
  float greatest_contribution = 0;
};

/// The scaling for a plane in which |sample - offset| is at most `amplitude`. `fast`: true for the fast
/// kernel.
FixedPoint choose_fixed_point(const Bm3dStep& step, bool wiener, float amplitude, bool fast);

/// A step's transform and aggregation window in the layout for kernels. Made once, since making it takes
/// longer than launching the kernels.
struct FilterTables {
  /// Two neighboring elements of a matrix row as half floats, and their rounding errors as half floats.
  struct Pair {
    unsigned high;
    unsigned low;
  };
  static constexpr int kLanes = 32;
  static constexpr int kMaxPatch = 16;
  Pair forward[kLanes] = {};  ///< the 2D transform along one axis, by lanes; patches of 8x8 only
  Pair inverse[kLanes] = {};
  float window[kMaxPatch] = {};  ///< aggregation window along one axis
};
FilterTables make_filter_tables(const Bm3dStep& step);

/// Tables and working memory of filter_any().
struct GeneralFilter {
  const float* forward = nullptr;  ///< patch_size^2: the 2D transform along one axis
  const float* inverse = nullptr;
  const float* window = nullptr;  ///< patch_size^2: the aggregation window
  float* scratch = nullptr;       ///< scratch_floats()
  /// Two blocks for each multiprocessor of the current device.
  static int blocks() { return 2 * device_limits().multiprocessors; }
  static std::size_t scratch_floats(const Bm3dStep& step, int capacity) {
    return std::size_t{2} * blocks() * capacity * step.patch_size * step.patch_size;
  }
};

/// Parameters for filtering one plane. In the first step `basic.data` is null.
struct FilterJob {
  Bm3dStep step;
  float lambda = 0;  ///< first step
  float sigma = 0;   ///< noise level of the plane
  /// Bm3dComponent::coefficient_variances of the step, and the component's curve.
  std::span<const float> variances;
  std::optional<NoiseShape::Curve> curve;
  const float* brightness = nullptr;  ///< brightness from find_brightness(), for curves by the guide
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  FixedPoint fixed_point;
  const FilterTables* tables = nullptr;  ///< for filter_fast()
  GeneralFilter general;                 ///< for filter_any()
  bool samples_are_halves = false;       ///< true if half floats hold sample - sums.offset exactly
};

/// Maximum number of reference patches in a tile of filter_fast(), whose sums are 32-bit integers.
inline constexpr int kFilterTileColumns = 8;
inline constexpr int kFilterTileRows = 16;

using FilterGroups = void(const FilterJob& job, cudaStream_t stream);
struct FilterVariant : Variant<Bm3dStep, FilterGroups> {
  /// True if the kernel first adds in 32 bits (choose_fixed_point()) and takes samples in units of
  /// range_unit().
  bool tile_sums;
};

/// All filters of groups.
std::span<const FilterVariant> filter_variants();

// The entries of the table, filter_*.cu.

/// True for patches of 8x8, groups of up to 32, and search and aggregation windows that fit a device's shared
/// memory.
bool can_filter_fast(const Bm3dStep& step, const DeviceLimits& device);
FilterGroups filter_fast;

/// The general kernel, many times slower than filter_fast.
FilterGroups filter_any;

/// Sets the sums of a plane of width x height to zero.
void clear_sums(const AggregationSums& sums, int width, int height, cudaStream_t stream);

/// Computes the estimate out = numerator / denominator + offset. The denominator is the weights spread by the
/// aggregation window of patches of `patch_size`.
void finish(const AggregationSums& sums, int patch_size, const FilterTables& tables, const FloatPlane& out,
            cudaStream_t stream);

}  // namespace limpid::cuda
