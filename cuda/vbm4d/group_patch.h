// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_fp16.h>
#include <cuda_pipeline_primitives.h>

#include <cstddef>

#include "core/vbm4d/trajectories.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/planes.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/groups.h"

// Groups of trajectories in the layout of a warp's lanes.

namespace limpid::cuda {

/// A group, and the patch of this lane in it.
struct GroupPatch {
  int size = 1;
  int frames = 1;
  int members = 1;
  int picture = 0;
  int x = 0;  ///< position of the patch's first sample
  int y = 0;
  /// Offset in quarters of a sample, as in Trajectories::quarters; 0 for patches that cannot be interpolated.
  int quarters = 0;
};

__device__ __forceinline__ GroupPatch patch_of_trajectories(const Trajectories& groups,
                                                            const ReferenceGrid& grid, int lane,
                                                            std::ptrdiff_t number) {
  const unsigned shape = groups.shapes[number];
  const int wanted = static_cast<int>(shape >> Trajectories::kWantedShift);
  const std::int16_t* similar = groups.members + number * groups.capacity;
  unsigned pictures = shape & ((1U << Trajectories::kWantedShift) - 1);
  GroupPatch group;
  group.members = wanted > 1 ? min(wanted, static_cast<int>(similar[0])) : 1;
  group.frames = __popc(pictures);
  group.size = group.frames * group.members;
  const int patch = lane < group.size ? lane : 0;
  const int member = patch % group.members;
  for (int earlier = patch / group.members; earlier > 0; --earlier) {
    pictures &= pictures - 1;
  }
  group.picture = __ffs(static_cast<int>(pictures)) - 1;
  const std::ptrdiff_t slot = number * groups.pictures + group.picture;
  const unsigned place = groups.places[slot];
  const std::int16_t from_first = member_of(similar, member);
  group.x = limpid::vbm4d::confined(static_cast<int>(place & 0xFFFF) + offset_x(from_first),
                                    grid.width - limpid::vbm4d::kPatch);
  group.y = limpid::vbm4d::confined(static_cast<int>(place >> 16) + offset_y(from_first),
                                    grid.height - limpid::vbm4d::kPatch);
  if (groups.quarters != nullptr && limpid::vbm4d::is_surrounded(group.x, group.y, grid.width, grid.height)) {
    group.quarters = groups.quarters[slot];
  }
  return group;
}

// Loading of patches that may lie between samples, by a warp. Interpolation is linear, as the transform is:
// along an axis, both are one matrix (InterpolatingTransforms), which multiplies the samples around the
// patch. These are copied to shared memory from a column on that is a multiple of four, and the matrix
// accounts for the remaining shift. Samples are pairs, of basic estimates and noisy samples.

/// 16x16 pairs of halves. Rows after kRows repeat the last one; their factors are 0.
class Surroundings {
 public:
  static constexpr int kColumns = 16;
  static constexpr int kRows = limpid::vbm4d::kPatch + limpid::vbm4d::kTaps - 1;
  static_assert(kRows + InterpolatingTransforms::kShifts - 1 == kColumns);

  /// A lane's addresses, for patches in planes of this pitch.
  struct Lane {
    __device__ __forceinline__ Lane(int lane, int pitch)
        : upper(lane / kVectors * pitch + lane % kVectors * kShare),
          lower(min(lane / kVectors + 8, kRows - 1) * pitch + lane % kVectors * kShare),
          to(place(lane / kVectors, lane % kVectors)),
          // The rows that ldmatrix expects from lanes: those of the first four pairs, the upper ones first,
          // then those of the next four.
          from(place(lane % 16, lane / 16)) {}
    int upper;  // copied by the lane
    int lower;
    int to;
    int from;
  };

  /// Copies the surroundings of a patch from `pairs`, whose offset is a multiple of four samples. The copy is
  /// visible after finish().
  __device__ __forceinline__ void start(const unsigned* pairs, const Lane& lane) {
    copy_share(pairs + lane.upper, pairs_ + lane.to);
    copy_share(pairs + lane.lower, pairs_ + lane.to + kHalf);
  }
  static __device__ __forceinline__ void finish() {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
  }

  /// Y S X^T of the samples S of both planes, with coefficients in the layout of transform_pair().
  __device__ __forceinline__ void transform(const uint2& y, const uint2& x, const Lane& lane,
                                            float (&basic)[2], float (&noisy)[2]) const {
    unsigned samples[8];
    load_columns(pairs_ + lane.from, samples[0], samples[1], samples[2], samples[3]);
    load_columns(pairs_ + (lane.from ^ 2 * kShare), samples[4], samples[5], samples[6], samples[7]);
    // Each product has four columns: the lane has a basic estimate and a noisy sample of one of them.
    float columns[4][4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      multiply_add(columns[i], {y.x, 0, y.y, 0}, samples[2 * i], samples[2 * i + 1]);
    }
    float result[4] = {};
    multiply_add(
        result,
        {split<false>(columns[0][0], columns[1][0]).high, split<false>(columns[0][1], columns[1][1]).high,
         split<false>(columns[2][0], columns[3][0]).high, split<false>(columns[2][1], columns[3][1]).high},
        x.x, x.y);
    basic[0] = result[0];
    basic[1] = result[1];
    noisy[0] = result[2];
    noisy[1] = result[3];
  }

 private:
  static constexpr int kShare = 4;  // pairs that a lane copies at a time
  static constexpr int kVectors = kColumns / kShare;
  static constexpr int kHalf = 8 * kColumns;  // 8 rows, which a warp copies at a time

  // __pipeline_memcpy_async() through the first-level cache, which it bypasses for 16 bytes: patches overlap.
  static __device__ __forceinline__ void copy_share(const unsigned* from, unsigned* to) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#endif
  }
  // Vectors are permuted so that those of eight rows of a column are in all banks.
  static __device__ __forceinline__ int place(int row, int vector) {
    return row * kColumns + (vector ^ (row / 2 % kVectors)) * kShare;
  }
  static __device__ __forceinline__ void load_columns(const unsigned* row, unsigned& a, unsigned& b,
                                                      unsigned& c, unsigned& d) {
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(at)
                 : "memory");
  }

  alignas(16) unsigned pairs_[kColumns * kColumns];
};

}  // namespace limpid::cuda
