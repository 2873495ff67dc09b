// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "core/bm3d/bm3d_parameters.h"
#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "core/filter/filter.h"
#include "core/noise/noise_model.h"
#include "cpu/runtime/aligned_vector.h"

// The inner part of BM3D: the work on one tile of reference patches, on one thread. cpu/bm3d/bm3d.h divides
// planes into tiles and computes estimates from the sums.

namespace limpid::cpu {

/// Mid-gray. It is subtracted from samples before summation to keep sums and their rounding errors small.
inline constexpr float kSumsOffset = 128;

/// An allocator for planes' working memory that does not initialize elements. The system then maps the memory
/// when threads first write to it, in parallel, instead of when one thread allocates it.
template <typename T>
struct UninitializedAllocator : std::allocator<T> {
  template <typename U>
  void construct(U* element) {
    ::new (static_cast<void*>(element)) U;
  }
};
template <typename T>
using PlaneBuffer = std::vector<T, UninitializedAllocator<T>>;

/// Numerators and weights of one plane under reconstruction. `weight` holds each patch's weight once, at the
/// patch's first sample; spread by the aggregation window, it gives the denominators.
///
/// Within a tile, sums are floats, added in a fixed order. Between tiles they are 64-bit fixed-point numbers
/// with StepTables::sum_fraction_bits, so that they do not depend on the order in which tiles finish.
struct AggregationSums {
  PlaneBuffer<std::int64_t> numerator;
  PlaneBuffer<std::int64_t> weight;
};

/// The noise of a plane in the form that shrinkage uses: k x k tables for the coefficients of the 2D
/// transform, transposed for patches of 8x8, whose coefficients are transposed (transforms-inl.h).
struct CoefficientNoise {
  std::vector<float> bounds;               ///< thresholds in the first step, variances in the second
  std::vector<float> variances;            ///< variances relative to the plane's noise
  std::optional<NoiseShape::Curve> curve;  ///< Bm3dComponent::curve
  bool curve_by_guide = false;             ///< Bm3dComponent::curve_by_guide
  float least_deviation = 1;               ///< least value of the curve
  float sigma = 0;                         ///< noise level of the plane

  /// The noise of a group of this brightness, relative to the plane's noise.
  float deviation_of(float brightness) const { return curve ? deviation_at(*curve, brightness) : 1; }
};

/// One filtered plane. All planes of a StepJob have the job's size.
struct FilteredPlane {
  const float* noisy = nullptr;  ///< width * height samples in 8-bit code values
  const float* basic = nullptr;  ///< basic estimate, in the same layout; null in the first step
  CoefficientNoise noise;
  AggregationSums* sums = nullptr;
};

/// Tables that depend only on the parameters of a step.
struct StepTables {
  StepTables(const Bm3dStep& step_parameters, float threshold_factor);

  Bm3dStep step;
  float lambda = 0;
  std::vector<float> window;   ///< aggregation window, k x k
  std::vector<float> forward;  ///< 2D transform along one axis, k x k
  std::vector<float> inverse;

  /// Fractional bits of AggregationSums: as many of the 64 bits as the greatest possible sum leaves. With the
  /// search window n, at most ((n + k - 2) / p + 2)^2 groups have patches that cover a sample, at most min(N,
  /// k^2) each. Weights and window are at most 1, and estimates are below 2^17: samples are at most 2^8 code
  /// values, float samples are limited to 2^12, and a transform pair overshoots by at most the patch's norm,
  /// 2^4. The result ranges from 24 bits at the extremes of the parameters to 31 for np.
  int sum_fraction_bits = 0;
  /// The unit of the numerators, in units of the weights.
  float numerator_unit = 1;
};

/// The noise of `component`, which must be filtered (sigma > 0).
CoefficientNoise make_coefficient_noise(const StepTables& tables, bool wiener,
                                        const Bm3dComponent& component);

/// One step for planes that share their groups.
struct StepJob {
  const StepTables* tables = nullptr;
  bool wiener = false;
  int width = 0;
  int height = 0;
  const std::int16_t* matching = nullptr;  ///< width * height values as MatchingScale defines
  MatchingScale scale;
  MatchingDistances distances;
  std::vector<int> grid_x;  ///< columns of the reference patches, ascending
  std::vector<int> grid_y;  ///< rows of the reference patches, ascending
  std::vector<FilteredPlane> planes;
  /// Locks of the sums, one for each block of kLockedRows x kLockedColumns samples, row by row.
  std::vector<std::mutex>* locks = nullptr;
};

inline constexpr int kLockedRows = 32;
inline constexpr int kLockedColumns = 128;

/// The number of blocks of `length` samples in a row or column of `size`.
inline int block_count(int size, int length) { return (size + length - 1) / length; }

/// Reference patches grid_x[first_x, last_x) x grid_y[first_y, last_y).
struct Tile {
  int first_x = 0;
  int last_x = 0;
  int first_y = 0;
  int last_y = 0;
};

/// The samples [x0, x1) x [y0, y1).
struct Area {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
};

/// The part of the planes that a tile's groups read and whose sums they add to.
Area tile_reach(const StepJob& job, const Tile& tile);

/// Positions of reference patches along an axis of `size` samples: 0, spacing, 2 spacing, ... and the last
/// possible position.
std::vector<int> reference_grid(int size, int patch, int spacing);

/// Working memory of a thread. Grows to the size of the largest tile and is reused.
struct TileScratch {
  AlignedVector<std::uint32_t> words;     ///< matching samples, several per word; see matching-inl.h
  AlignedVector<std::int32_t> energy;     ///< sums of squares of the patches
  AlignedVector<std::int32_t> distances;  ///< distances of up to four reference patches
  AlignedVector<float> noisy_group;       ///< patches or coefficients of the group being filtered
  AlignedVector<float> basic_group;
  struct Sums {
    AlignedVector<float> numerator;
    AlignedVector<float> weight;
  };
  std::vector<Sums> sums;  ///< per plane, for the samples that the tile reaches
};

/// Matches, filters and aggregates one tile into the planes' sums. Thread-safe for different scratches.
void process_tile(const StepJob& job, const Tile& tile, TileScratch& scratch);

/// The estimate: numerator / denominator, where the denominator is the sum of weights spread by the
/// aggregation window. `weights[i]` is row y - k + 1 + i of the weights, i < k, null outside the plane; each
/// has `width` values.
void estimate_row(const StepTables& tables, const std::int64_t* numerator, const std::int64_t* const* weights,
                  int width, float* out);

/// A patch position found by matching, relative to the plane.
struct Position {
  int x = 0;
  int y = 0;
  bool operator==(const Position&) const = default;
};

/// Matching only, for tests and benchmarks: the group of the reference patch at each grid position of `tile`,
/// row by row, not rounded to a power of two.
std::vector<std::vector<Position>> match_tile(const StepJob& job, const Tile& tile, TileScratch& scratch);

/// Name of the active instruction set: "AVX3_DL" and so on.
const char* instruction_set();

}  // namespace limpid::cpu
