// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>

#include "core/vbm4d/quarter_samples.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/groups.h"

// Loading of patches that may lie between samples, by a warp. Interpolation is linear, as the transform is:
// along an axis, both are one matrix (InterpolatingTransforms), which multiplies the samples around the
// patch. These are copied to shared memory from a column on that is a multiple of four, and the matrix
// accounts for the remaining shift.

namespace limpid::cuda {

/// 16x16 halves. Rows after kRows repeat the last one; their factors are 0.
class Surroundings {
 public:
  static constexpr int kColumns = 16;
  static constexpr int kRows = limpid::vbm4d::kPatch + limpid::vbm4d::kTaps - 1;
  static_assert(kRows + InterpolatingTransforms::kShifts - 1 == kColumns);

  /// A lane's addresses, for patches in planes of this pitch.
  struct Lane {
    __device__ __forceinline__ Lane(int lane, int pitch)
        : column(lane % kLanesInRow * kShare),
          upper(lane / kLanesInRow * pitch + column),
          lower(min(lane / kLanesInRow + 8, kRows - 1) * pitch + column),
          to(place(lane / kLanesInRow, column)),
          // The rows that ldmatrix expects from lanes: those of a quarter, then those below, then those to
          // the right of both.
          from(place(lane % 16, lane / 16 * 8)) {}
    int column;
    int upper;  // copied by the lane
    int lower;
    int to;
    int from;
  };

  /// Copies the surroundings of a patch from `samples`, whose offset is a multiple of four samples. The copy
  /// is visible after finish().
  __device__ __forceinline__ void start(const __half* samples, const Lane& lane) {
    __pipeline_memcpy_async(halves_ + lane.to, samples + lane.upper, kShare * sizeof(__half));
    __pipeline_memcpy_async(halves_ + lane.to + kHalf, samples + lane.lower, kShare * sizeof(__half));
  }
  __device__ __forceinline__ void start(const float* samples, const Lane& lane) {
    store_four(__ldg(reinterpret_cast<const float4*>(samples + lane.upper)), halves_ + lane.to);
    store_four(__ldg(reinterpret_cast<const float4*>(samples + lane.lower)), halves_ + lane.to + kHalf);
  }
  static __device__ __forceinline__ void finish() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  /// Y S X^T of the samples S, with coefficients in the layout of transform_pair().
  __device__ __forceinline__ void transform(const uint2& y, const uint2& x, const Lane& lane,
                                            float (&coefficients)[2]) const {
    unsigned samples[4];
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(halves_ + lane.from));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(samples[0]), "=r"(samples[1]), "=r"(samples[2]), "=r"(samples[3])
                 : "r"(at)
                 : "memory");
    float left[4] = {};
    float right[4] = {};
    multiply_add(left, {y.x, 0, y.y, 0}, samples[0], samples[1]);
    multiply_add(right, {y.x, 0, y.y, 0}, samples[2], samples[3]);
    float result[4] = {};
    multiply_add(result, {split<false>(left[0], left[1]).high, 0, split<false>(right[0], right[1]).high, 0},
                 x.x, x.y);
    coefficients[0] = result[0];
    coefficients[1] = result[1];
  }

 private:
  static constexpr int kShare = 4;  // samples that a lane copies at a time
  static constexpr int kLanesInRow = kColumns / kShare;
  static constexpr int kHalf = 8 * kColumns;  // 8 rows, which a warp copies at a time

  // Every other four rows have their halves swapped, so that eight rows of one half cover all banks.
  static __device__ __forceinline__ int place(int row, int column) {
    return row * kColumns + (column ^ (row / 4 % 2 * 8));
  }
  static __device__ __forceinline__ void store_four(const float4& four, __half* out) {
    *reinterpret_cast<uint2*>(out) =
        make_uint2(split<false>(four.x, four.y).high, split<false>(four.z, four.w).high);
  }

  alignas(16) __half halves_[kColumns * kColumns];
};

}  // namespace limpid::cuda
