#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/noise_curve.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"

// How a warp filters groups of patches of 8x8 samples on tensor cores (filter_fast.cu): what kernels share
// that do so.

namespace limpid::cuda {

/// 1 / value, right to a unit in the last place or two.
__device__ __forceinline__ float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// The transform's matrix M, or its inverse: elements (g, 2 t) and (g, 2 t + 1), as operands of both
/// products. `low` is what rounding to half floats leaves of `high`.
using Matrix = FilterTables::Pair;

/// M X of a patch X, given its elements (2 t, g) and (2 t + 1, g): elements (g, 2 t) and (g, 2 t + 1). If
/// exact, it is right to single precision but for what kLow leaves out of the patch.
template <bool kExact, bool kLow>
__device__ __forceinline__ Operand transform_columns(const Matrix& matrix, const Operand& patch) {
  // There is room for two matrices; the second one's half of the result is not always used.
  float result[4] = {};
  multiply_add(result, {matrix.high, matrix.low}, patch.high);
  if constexpr (kLow) {
    multiply_add(result, {matrix.high, matrix.low}, patch.low);
  }
  return kExact ? split<true>(result[0] + result[2], result[1] + result[3])
                : split<false>(result[0], result[1]);
}

/// M X M^T of two patches: coefficients (g, 2 t) and (g, 2 t + 1) of the first are result[0 .. 1], the
/// second's are result[2 .. 3]. Given coefficients, (g, 2 t) and (g, 2 t + 1), and the inverse matrix, it is
/// the transpose of the patch.
template <bool kExact, bool kLow>
__device__ __forceinline__ void transform_pair(const Matrix& matrix, const Operand& first,
                                               const Operand& second, float (&result)[4]) {
  const Operand a = transform_columns<kExact, kLow>(matrix, first);
  const Operand b = transform_columns<kExact, kLow>(matrix, second);
#pragma unroll
  for (float& value : result) {
    value = 0;
  }
  if constexpr (kExact) {
    multiply_add(result, {a.high, b.high, a.low, b.low}, matrix.high, matrix.high);
    multiply_add(result, {a.high, b.high}, matrix.low);
  } else {
    multiply_add(result, {a.high, b.high}, matrix.high);
  }
}

/// The noise of a lane's two coefficients, relative to the plane's.
struct alignas(16) LaneNoise {
  float variances[2];
  float deviations[2];
};

/// White noise's relative variances sum up to at most 32 * 64, which as integers is 2^30.
inline constexpr float kWhiteScale = 1 << 19;

/// The noise that kernels are for: white noise of one deviation, which is known when they are compiled, or
/// noise of any shape, which lanes read from shared memory once in a group, for want of registers.
template <bool kWhite>
struct GroupNoise {
  const LaneNoise* lanes;
  const NoiseCurve& curve;
  float variance_scale;
  float variance_unit;

  // The deviation of a group's noise relative to the plane's, given its brightness or, where that is null,
  // its mean: `first` is lane 0's coefficient of it, less that of `offset`; `scale` makes it a mean.
  __device__ __forceinline__ float deviation_of(const float* brightness, float first, float scale,
                                                float offset) const {
    if constexpr (kWhite) {
      return 1;
    }
    return curve.at(brightness, fmaf(__shfl_sync(kAllLanes, first, 0), scale, offset));
  }

  template <typename Lane>
  __device__ __forceinline__ LaneNoise of(const Lane& lane) const {
    return kWhite ? LaneNoise{{1, 1}, {1, 1}} : lanes[lane.lane];
  }

  // A relative variance as an integer: sums of these are the same in any order.
  __device__ __forceinline__ int units_of(float variance) const {
    return __float2int_rn(variance * (kWhite ? kWhiteScale : variance_scale));
  }

  // The weight of a group in which so much of a lane's noise is left.
  __device__ __forceinline__ float weight_of(int units) const {
    const auto sum = static_cast<float>(sum_over_warp(units));
    return 1.0F / fmaxf(1.0F, sum * (kWhite ? 1 / kWhiteScale : variance_unit));
  }
};

/// Coefficients are 8 times those of the orthonormal transform, its matrix along each axis is this many
/// times.
inline constexpr float kCoefficientScale = 8;
inline const double kMatrixScale = std::sqrt(double{kCoefficientScale});

/// The noise of the lanes' coefficients, of which `variances` are a step's (Bm3dComponent).
inline void set_lane_noise(std::span<const float> variances, LaneNoise (&lanes)[kWarp]) {
  for (int i = 0; i < 2 * kWarp; ++i) {
    LaneNoise& noise = lanes[i / 2];  // 8 v + u is twice the lane, or one more
    noise.variances[i % 2] = variances[i];
    noise.deviations[i % 2] = std::sqrt(variances[i]);
  }
}

/// GroupNoise::variance_scale, for groups of up to 32 patches.
inline float variance_scale(std::span<const float> variances) {
  const float most = 32 * std::accumulate(variances.begin(), variances.end(), 0.0F);
  return std::ldexp(kWhiteScale, -std::max(std::ilogb(most / 2048) + 1, 0));
}

}  // namespace limpid::cuda
