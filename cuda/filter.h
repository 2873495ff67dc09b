#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "core/parameters.h"
#include "cuda/planes.h"

// Collaborative filtering of groups and aggregation of what comes back, into fixed-point sums.

namespace limpid::cuda {

/// What filtering one plane needs. In the first step `basic.data` is null.
struct FilterJob {
  Bm3dStep step;
  float lambda = 0;  ///< first step
  float sigma = 0;   ///< of the plane's noise
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  float amplitude = 128;            ///< greatest |sample - sums.offset|
  bool samples_are_halves = false;  ///< whether half floats hold sample - sums.offset exactly
};

/// Tables and working memory of filter_any().
struct GeneralFilter {
  const float* forward = nullptr;  ///< patch_size^2: the 2D transform along one axis
  const float* inverse = nullptr;
  const float* window = nullptr;  ///< patch_size^2: the aggregation window
  float* scratch = nullptr;       ///< scratch_floats()
  static constexpr int kBlocks = 264;
  static std::size_t scratch_floats(const Bm3dStep& step, int capacity) {
    return std::size_t{2} * kBlocks * capacity * step.patch_size * step.patch_size;
  }
};

/// Reference patches on each side of a tile of filter_fast(), whose sums are 32-bit integers.
inline constexpr int kFilterTile = 8;

/// Whether filter_fast() can do it: patches of 8x8, groups of up to 32, moderate windows of search and
/// aggregation.
bool can_filter_fast(const Bm3dStep& step);

void filter_fast(const FilterJob& job, cudaStream_t stream);

/// Whatever the parameters.
void filter_any(const FilterJob& job, const GeneralFilter& general, cudaStream_t stream);

/// How fixed-point sums are scaled so that none can overflow. `amplitude` is the greatest |sample - offset|
/// of the plane; `fast` says which of the kernels adds.
struct FixedPoint {
  int numerator_bits = 0;
  int weight_bits = 0;
  float greatest_contribution = 0;
};
FixedPoint choose_fixed_point(const Bm3dStep& step, bool wiener, float amplitude, bool fast);

}  // namespace limpid::cuda
