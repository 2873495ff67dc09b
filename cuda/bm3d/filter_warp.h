// SPDX-License-Identifier: MIT
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

// Shared code of kernels that filter groups of patches of 8x8 samples with warps on tensor cores
// (filter_fast.cu).

namespace limpid::cuda {

/// 1 / value, with an error of one or two units in the last place.
__device__ __forceinline__ float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

/// The transform's matrix M, or its inverse: elements (g, 2 t) and (g, 2 t + 1), as operands of both
/// products. `low` is the rounding error of the half floats in `high`.
using Matrix = FilterTables::Pair;

/// M X of a patch X, given its elements (2 t, g) and (2 t + 1, g): elements (g, 2 t) and (g, 2 t + 1). If
/// exact, correct to single precision, except for the part of the patch that kLow omits.
template <bool kExact, bool kLow>
__device__ __forceinline__ Operand transform_columns(const Matrix& matrix, const Operand& patch) {
  // Holds two matrices; the second one's half of the result is not always used.
  float result[4] = {};
  multiply_add(result, {matrix.high, matrix.low}, patch.high);
  if constexpr (kLow) {
    multiply_add(result, {matrix.high, matrix.low}, patch.low);
  }
  return kExact ? split<true>(result[0] + result[2], result[1] + result[3])
                : split<false>(result[0], result[1]);
}

/// M X M^T of two patches: coefficients (g, 2 t) and (g, 2 t + 1) of the first patch are result[0 .. 1],
/// of the second patch result[2 .. 3]. Given coefficients (g, 2 t) and (g, 2 t + 1) and the inverse matrix,
/// the result is the transpose of the patch.
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

/// The noise of a lane's two coefficients, relative to the noise of the plane.
struct alignas(16) LaneNoise {
  float variances[2];
  float deviations[2];
};

/// The relative variances of white noise add up to at most 32 * 64, which is 2^30 as an integer.
inline constexpr float kWhiteScale = 1 << 19;

/// The noise for which a kernel is compiled: white noise of one level, which is a compile-time constant, or
/// colored noise, which lanes read from shared memory once per group because registers are scarce.
template <bool kWhite>
struct GroupNoise {
  const LaneNoise* lanes;
  const NoiseCurve& curve;
  float variance_scale;
  float variance_unit;

  // The standard deviation of a group's noise relative to the plane's, given the group's brightness or, if
  // `brightness` is null, its mean: `first` is lane 0's coefficient of the mean minus that of `offset`;
  // `scale` converts it to a mean.
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

  // A relative variance as an integer, so that sums do not depend on the order.
  __device__ __forceinline__ int units_of(float variance) const {
    return __float2int_rn(variance * (kWhite ? kWhiteScale : variance_scale));
  }

  // The weight of a group, given a lane's remaining noise.
  __device__ __forceinline__ float weight_of(int units) const {
    const auto sum = static_cast<float>(sum_over_warp(units));
    return 1.0F / fmaxf(1.0F, sum * (kWhite ? 1 / kWhiteScale : variance_unit));
  }
};

/// Coefficients are 8 times the coefficients of the orthonormal transform; its matrix along each axis has
/// this factor.
inline constexpr float kCoefficientScale = 8;
inline const double kMatrixScale = std::sqrt(double{kCoefficientScale});

/// Sets the noise of the lanes' coefficients from the `variances` of a step (Bm3dComponent).
inline void set_lane_noise(std::span<const float> variances, LaneNoise (&lanes)[kWarp]) {
  for (int i = 0; i < 2 * kWarp; ++i) {
    LaneNoise& noise = lanes[i / 2];  // 8 v + u is twice the lane, plus 0 or 1
    noise.variances[i % 2] = variances[i];
    noise.deviations[i % 2] = std::sqrt(variances[i]);
  }
}

/// GroupNoise::variance_scale for groups of up to 32 patches.
inline float variance_scale(std::span<const float> variances) {
  const float most = 32 * std::accumulate(variances.begin(), variances.end(), 0.0F);
  return std::ldexp(kWhiteScale, -std::max(std::ilogb(most / 2048) + 1, 0));
}

}  // namespace limpid::cuda
