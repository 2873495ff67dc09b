// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <type_traits>
#include <vector>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "core/vbm4d/vbm4d_plan.h"
#include "cuda/bm3d/filter_warp.h"
#include "cuda/runtime/launch.h"
#include "cuda/vbm4d/group_patch.h"
#include "cuda/vbm4d/groups.h"

// A warp filters one group at a time, as in cuda/bm3d/filter_fast.cu, except for consequences of motion:
// patches are read from global memory, through the first-level cache, and added to sums there. The transform
// across the group takes place within each lane. If patches may lie between samples, they are read through
// shared memory (group_patch.h). Trajectories of 9 and 17 pictures, the lengths for reaches of 4 and 8, have
// the DCT's matrix as constants and use its symmetry. Groups of 16 patches of one picture, which occur where
// patches cannot be followed, use Haar's transform in the same way. All other groups, of up to 4, 8 or 16
// patches, process two patches at a time and multiply by matrices in global memory; two long trajectories
// need the matrix of one, after Haar's transform of both.
//
// The first step is computed in single precision, since the second step's trajectories are sensitive to the
// least change of the basic estimate. The second step's operands are half floats, which it reads in pairs of
// a basic estimate and a noisy sample. Bound by latency.

namespace limpid::cuda {
namespace {

constexpr int kGroupWarps = kGroupTile;

// cos(pi / 2 * step / steps), by its series.
constexpr double cosine(int step, int steps) {
  // Reduced to 0 to half a turn, then to a quarter.
  int reduced = step % (4 * steps);
  reduced = reduced > 2 * steps ? 4 * steps - reduced : reduced;
  const bool negative = reduced > steps;
  const double angle = std::numbers::pi / 2 * (negative ? 2 * steps - reduced : reduced) / steps;
  double term = 1;
  double sum = 1;
  for (int i = 1; i < 16; ++i) {
    term *= -angle * angle / (2 * i * (2 * i - 1));
    sum += term;
  }
  return negative ? -sum : sum;
}

constexpr double square_root(double value) {
  double root = value > 1 ? value : 1;
  for (int i = 0; i < 64; ++i) {
    root = (root + value / root) / 2;
  }
  return root;
}

constexpr float kRootOfHalf = 0.70710678F;

// The first half of each row of the orthonormal DCT-II. The second half is its mirror image, negative in odd
// rows.
template <int kLength>
struct HalfDct {
  static constexpr int kHalf = (kLength + 1) / 2;
  float rows[kLength][kHalf];

  constexpr HalfDct() : rows{} {
    for (int k = 0; k < kLength; ++k) {
      for (int n = 0; n < kHalf; ++n) {
        rows[k][n] = static_cast<float>(square_root((k == 0 ? 1.0 : 2.0) / kLength) *
                                        cosine((2 * n + 1) * k, kLength));
      }
    }
  }
};

__constant__ constexpr HalfDct<9> kDctOf9;
__constant__ constexpr HalfDct<17> kDctOf17;

template <int kLength>
__device__ __forceinline__ const HalfDct<kLength>& half_dct() {
  if constexpr (kLength == 9) {
    return kDctOf9;
  } else {
    return kDctOf17;
  }
}

// The groups that a function is compiled for: one trajectory of kPatches pictures, kPatches patches of one
// picture, two trajectories with up to kPatches patches, or any group of up to kPatches patches.
enum class GroupKind { kTrajectory, kPicture, kPair, kAny };

// The part of a group in one lane: two coefficients or samples of each patch.
template <int kPatches, GroupKind kKind>
struct TrajectoryGroup {
  float x[kPatches][2];

  __device__ __forceinline__ void forward() {
    if constexpr (kKind == GroupKind::kTrajectory) {
      forward_in_time();
    } else {
      forward_across();
    }
  }
  // Inverts forward().
  __device__ __forceinline__ void inverse() {
    if constexpr (kKind == GroupKind::kTrajectory) {
      inverse_in_time();
    } else {
      inverse_across();
    }
  }

 private:
  // Haar's transform.
  __device__ __forceinline__ void forward_across() {
#pragma unroll
    for (int step = 1; step < kPatches; step *= 2) {
      add_and_subtract(step);
    }
  }
  __device__ __forceinline__ void inverse_across() {
#pragma unroll
    for (int step = kPatches / 2; step > 0; step /= 2) {
      add_and_subtract(step);
    }
  }
  // One of its levels, which is its own inverse.
  __device__ __forceinline__ void add_and_subtract(int step) {
#pragma unroll
    for (int i = 0; i < kPatches; i += 2 * step) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const float first = x[i][j] * kRootOfHalf;
        const float second = x[i + step][j] * kRootOfHalf;
        x[i][j] = first + second;
        x[i + step][j] = first - second;
      }
    }
  }

  // The DCT.
  __device__ __forceinline__ void forward_in_time() {
    constexpr int kHalf = kPatches / 2;
    static_assert(kPatches % 2 == 1);
    const auto& dct = half_dct<kPatches>();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      float sum[kHalf + 1];
      float difference[kHalf];
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
        sum[i] = x[i][j] + x[kPatches - 1 - i][j];
        difference[i] = x[i][j] - x[kPatches - 1 - i][j];
      }
      sum[kHalf] = x[kHalf][j];
#pragma unroll
      for (int k = 0; k < kPatches; ++k) {
        float value = 0;
#pragma unroll
        for (int i = 0; i < (k % 2 == 0 ? kHalf + 1 : kHalf); ++i) {
          value = fmaf(dct.rows[k][i], k % 2 == 0 ? sum[i] : difference[i % kHalf], value);
        }
        x[k][j] = value;
      }
    }
  }

  __device__ __forceinline__ void inverse_in_time() {
    constexpr int kHalf = kPatches / 2;
    const auto& dct = half_dct<kPatches>();
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      float result[kPatches];
#pragma unroll
      for (int i = 0; i <= kHalf; ++i) {
        float even = 0;
        float odd = 0;
#pragma unroll
        for (int k = 0; k < kPatches; ++k) {
          if (k % 2 == 0) {
            even = fmaf(dct.rows[k][i], x[k][j], even);
          } else if (i < kHalf) {
            odd = fmaf(dct.rows[k][i], x[k][j], odd);
          }
        }
        result[i] = even + odd;
        if (i < kHalf) {
          result[kPatches - 1 - i] = even - odd;
        }
      }
#pragma unroll
      for (int i = 0; i < kPatches; ++i) {
        x[i][j] = result[i];
      }
    }
  }
};

// The processing of groups by a kernel; the last one supports patches between samples.
enum class Pass { kHardThreshold, kWiener, kInterpolatingWiener };

struct GroupArguments {
  ReferenceGrid grid;
  Trajectories groups;
  int own;
  GroupSamples samples;
  const void* noisy[kMostPictures];
  const void* pairs[kMostPictures];
  void* sums[kMostPictures];
  GroupSums format;
  float bound;  // threshold of a coefficient (first step) or sigma^2
  limpid::vbm4d::NoiseOverTime over_time;
  LaneNoise noise[kWarp];
  NoiseCurve curve;
  const float* brightness;
  float weight_unit;     // units of 1
  float numerator_unit;  // units of numerators, of a unit of weights
  float variance_scale;
  float variance_unit;
  float offset_coefficient;  // coefficient of the offset, for a group of one; second step
  FilterTables tables;
  const float* transforms;
  const unsigned* interpolating;
};

// True for groups that GroupKind::kPair is for: their matrix is that of one trajectory.
__device__ __forceinline__ bool is_pair(int size, int frames) { return size > 8 && size == 2 * frames; }

// A group as a warp processes it. Each lane has the patch of its number, which is in `picture`.
struct TakenGroup {
  int size;
  int frames;
  int picture;
  int offset;               // offset of the patch's first sample in planes and sums
  int cell;                 // number of its cell
  const float* brightness;  // brightness of the group; may be null
  const float* matrix;
  // For patches that may lie between samples: their surroundings, and the numbers of their matrices, y + 256
  // x. The offset of patches between samples is negative.
  int origin;
  int matrices;
};

// Data that all warps of a block read.
struct SharedPlanes {
  const void* noisy[kMostPictures];
  const void* pairs[kMostPictures];
  void* sums[kMostPictures];
};

// The number of patches whose surroundings a warp copies at a time.
constexpr int kPatchesAtOnce = 4;
struct SharedSurroundings {
  uint2 matrices[InterpolatingTransforms::kWords / (2 * kWarp)][kWarp];
  Surroundings of_patches[kGroupWarps][kPatchesAtOnce];
};

// A lane of a kernel for samples of this type.
template <typename Sample>
using SumOf = std::conditional_t<std::is_same_v<Sample, __half>, std::int32_t, std::int64_t>;

struct GroupLane {
  int lane;
  int offset;  // offset of its first sample in a patch
  Matrix forward;
  Matrix inverse;
  float window[2];
  // For patches that may lie between samples.
  Surroundings::Lane around;
  Surroundings* surroundings;  // of its warp
  const uint2 (*matrices)[kWarp];
};

__device__ __forceinline__ Operand load_operand(const __half* at, int pitch) {
  const auto* samples = reinterpret_cast<const unsigned short*>(at);
  return {__ldg(samples) | static_cast<unsigned>(__ldg(samples + pitch)) << 16, 0};
}

__device__ __forceinline__ Operand load_operand(const float* at, int pitch) {
  return split<true>(__ldg(at), __ldg(at + pitch));
}

// First step: loads patches i and i + 1 of a group, if they exist, and returns their 2D coefficients.
template <typename Sample>
__device__ __forceinline__ void load_two(const void* const* planes, const TakenGroup& taken,
                                         const GroupLane& lane, int pitch, int i, int size,
                                         float (&coefficients)[1][4]) {
  Operand patches[2] = {};
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (i + j < size) {
      const int picture = __shfl_sync(kAllLanes, taken.picture, i + j);
      const int offset = __shfl_sync(kAllLanes, taken.offset, i + j);
      patches[j] = load_operand(static_cast<const Sample*>(planes[picture]) + offset + lane.offset, pitch);
    }
  }
  transform_pair<true, sizeof(Sample) == sizeof(float)>(lane.forward, patches[0], patches[1],
                                                        coefficients[0]);
}

// Second step: the same, of basic estimates and of noisy samples.
__device__ __forceinline__ void load_two(const void* const* planes, const TakenGroup& taken,
                                         const GroupLane& lane, int pitch, int i, int size,
                                         float (&coefficients)[2][4]) {
  Operand patches[2][2] = {};
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (i + j < size) {
      const int picture = __shfl_sync(kAllLanes, taken.picture, i + j);
      const int offset = __shfl_sync(kAllLanes, taken.offset, i + j);
      const unsigned* const at = static_cast<const unsigned*>(planes[picture]) + offset + lane.offset;
      const unsigned upper = __ldg(at);
      const unsigned lower = __ldg(at + pitch);
      patches[0][j].high = __byte_perm(upper, lower, 0x5410);
      patches[1][j].high = __byte_perm(upper, lower, 0x7632);
    }
  }
#pragma unroll
  for (int p = 0; p < 2; ++p) {
    transform_pair<false, false>(lane.forward, patches[p][0], patches[p][1], coefficients[p]);
  }
}

// load_two() for patches that may lie between samples.
__device__ __forceinline__ void interpolate_two(const void* const* planes, const TakenGroup& taken,
                                                const GroupLane& lane, int i, int size,
                                                float (&coefficients)[2][4]) {
  const int first = i % kPatchesAtOnce;
  if (first == 0) {
    const auto* const own = static_cast<const unsigned*>(planes[taken.picture]) + taken.origin;
    __syncwarp();  // all lanes have read the previous content
#pragma unroll
    for (int j = 0; j < kPatchesAtOnce; ++j) {
      if (i + j < size) {
        const auto from = __shfl_sync(kAllLanes, reinterpret_cast<std::uintptr_t>(own), i + j);
        lane.surroundings[j].start(reinterpret_cast<const unsigned*>(from), lane.around);
      }
    }
    Surroundings::finish();
  }
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    float basic[2] = {};
    float noisy[2] = {};
    if (i + j < size) {
      const int numbers = __shfl_sync(kAllLanes, taken.matrices, i + j);
      lane.surroundings[first + j].transform(lane.matrices[numbers & 0xFF][lane.lane],
                                             lane.matrices[numbers >> 8][lane.lane], lane.around, basic,
                                             noisy);
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      coefficients[0][2 * j + k] = basic[k];
      coefficients[1][2 * j + k] = noisy[k];
    }
  }
}

// Loads four values of a group's matrix that belong to one patch.
__device__ __forceinline__ void load_factors(const float* matrix, int patch, int first, float (&factors)[4]) {
  const float4 four = __ldg(reinterpret_cast<const float4*>(matrix + patch * GroupTransforms::kMost + first));
  factors[0] = four.x;
  factors[1] = four.y;
  factors[2] = four.z;
  factors[3] = four.w;
}

// Haar's transform of two patches of one picture, which is its own inverse.
__device__ __forceinline__ void add_and_subtract(float (&coefficients)[4]) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float first = coefficients[j] * kRootOfHalf;
    const float second = coefficients[2 + j] * kRootOfHalf;
    coefficients[j] = first + second;
    coefficients[2 + j] = first - second;
  }
}

// Calls visit(i, factor) for a patch's factors of coefficients 0 to kCount - 1.
template <int kCount, typename Visit>
__device__ __forceinline__ void for_each_factor(const float* matrix, int patch, const Visit& visit) {
#pragma unroll
  for (int k = 0; k < kCount; k += 4) {
    float factors[4];
    load_factors(matrix, patch, k, factors);
#pragma unroll
    for (int l = 0; l < 4; ++l) {
      visit(k + l, factors[l]);
    }
  }
}

// Adds the two patches of a picture to the group's coefficients: Haar's transform across, then the DCT over
// time.
template <int kPatches, GroupKind kKind>
__device__ __forceinline__ void add_pair(const float* matrix, int picture, float (&coefficients)[4],
                                         TrajectoryGroup<kPatches, kKind>& group) {
  add_and_subtract(coefficients);
  for_each_factor<kPatches / 2>(matrix, picture, [&](int k, float factor) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      group.x[2 * k][j] = fmaf(factor, coefficients[j], group.x[2 * k][j]);
      group.x[2 * k + 1][j] = fmaf(factor, coefficients[2 + j], group.x[2 * k + 1][j]);
    }
  });
}

// Inverts add_pair() for the patches of a picture.
template <int kPatches, GroupKind kKind>
__device__ __forceinline__ void take_pair(const float* matrix, int picture,
                                          const TrajectoryGroup<kPatches, kKind>& group,
                                          float (&coefficients)[4]) {
  for_each_factor<kPatches / 2>(matrix, picture, [&](int k, float factor) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      coefficients[j] = fmaf(factor, group.x[2 * k][j], coefficients[j]);
      coefficients[2 + j] = fmaf(factor, group.x[2 * k + 1][j], coefficients[2 + j]);
    }
  });
  add_and_subtract(coefficients);
}

// Adds patches i and i + 1 to the group's coefficients.
template <int kPatches, GroupKind kKind>
__device__ __forceinline__ void add_any(const float* matrix, int i, const float (&coefficients)[4],
                                        TrajectoryGroup<kPatches, kKind>& group) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    for_each_factor<kPatches>(matrix, i + j, [&](int k, float factor) {
      group.x[k][0] = fmaf(factor, coefficients[2 * j], group.x[k][0]);
      group.x[k][1] = fmaf(factor, coefficients[2 * j + 1], group.x[k][1]);
    });
  }
}

// Inverts add_any() for patches i and i + 1.
template <int kPatches, GroupKind kKind>
__device__ __forceinline__ void take_any(const float* matrix, int i,
                                         const TrajectoryGroup<kPatches, kKind>& group,
                                         float (&coefficients)[4]) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    for_each_factor<kPatches>(matrix, i + j, [&](int k, float factor) {
      coefficients[2 * j] = fmaf(factor, group.x[k][0], coefficients[2 * j]);
      coefficients[2 * j + 1] = fmaf(factor, group.x[k][1], coefficients[2 * j + 1]);
    });
  }
}

// Calls visit(group, number of the plane).
template <typename Group, int kPlanes, typename Visit>
__device__ __forceinline__ void for_each_plane(Group (&groups)[kPlanes], const Visit& visit) {
#pragma unroll
  for (int plane = 0; plane < kPlanes; ++plane) {
    visit(groups[plane], plane);
  }
}

// The planes that a pass transforms: noisy samples, in the second step after basic estimates.
constexpr int planes_of(Pass pass) { return pass == Pass::kHardThreshold ? 1 : 2; }

// A group's coefficients in the planes of a pass.
template <Pass kPass, int kPatches, GroupKind kKind>
using GroupPlanes = TrajectoryGroup<kPatches, kKind>[planes_of(kPass)];

// Loads a group's patches and transforms them.
template <Pass kPass, typename Sample, int kPatches, GroupKind kKind>
__device__ __forceinline__ void load_trajectories(const SharedPlanes& planes, const TakenGroup& taken,
                                                  const GroupLane& lane, int pitch,
                                                  GroupPlanes<kPass, kPatches, kKind>& groups) {
  constexpr int kPlanes = planes_of(kPass);
  const auto load = [&](int i, int size, float(&coefficients)[kPlanes][4]) {
    if constexpr (kPass == Pass::kHardThreshold) {
      load_two<Sample>(planes.noisy, taken, lane, pitch, i, size, coefficients);
    } else if constexpr (kPass == Pass::kInterpolatingWiener && kKind != GroupKind::kPicture) {
      interpolate_two(planes.pairs, taken, lane, i, size, coefficients);
    } else {  // all patches of one picture are at whole samples
      load_two(planes.pairs, taken, lane, pitch, i, size, coefficients);
    }
  };
  float coefficients[kPlanes][4];
  if constexpr (kKind == GroupKind::kTrajectory || kKind == GroupKind::kPicture) {
#pragma unroll
    for (int i = 0; i < kPatches; i += 2) {
      load(i, kPatches, coefficients);
#pragma unroll
      for (int j = 0; j < 4 * kPlanes; ++j) {
        if (const int patch = i + j % 4 / 2; patch < kPatches) {
          groups[j / 4].x[patch][j % 2] = coefficients[j / 4][j % 4];
        }
      }
    }
    for_each_plane(groups, [](auto& group, int /*plane*/) { group.forward(); });
  } else {
    for_each_plane(groups, [](auto& group, int /*plane*/) { group = {}; });
#pragma unroll 1
    for (int i = 0; i < taken.size; i += 2) {
      load(i, taken.size, coefficients);
      for_each_plane(groups, [&](auto& group, int plane) {
        if constexpr (kKind == GroupKind::kPair) {
          add_pair(taken.matrix, i / 2, coefficients[plane], group);
        } else {
          add_any(taken.matrix, i, coefficients[plane], group);
        }
      });
    }
  }
}

// The noise factor of coefficient i of a group (NoiseOverTime).
template <int kPatches, GroupKind kKind>
__device__ __forceinline__ float noise_over_time(const limpid::vbm4d::NoiseOverTime& over_time,
                                                 const TakenGroup& taken, int i) {
  if constexpr (kKind == GroupKind::kTrajectory) {
    return over_time.of(i, kPatches, kPatches);
  } else if constexpr (kKind == GroupKind::kPicture) {
    return over_time.of(i, 1, kPatches);
  } else {
    return over_time.of(i, taken.frames, taken.size);
  }
}

// The first step: sets coefficients to zero that do not exceed their thresholds, except the group's mean, and
// returns the weight.
template <bool kWhite, int kPatches, GroupKind kKind>
__device__ __forceinline__ float threshold_trajectories(const GroupArguments& arguments,
                                                        const TakenGroup& taken,
                                                        const GroupNoise<kWhite>& noise, float deviation,
                                                        const GroupLane& lane,
                                                        TrajectoryGroup<kPatches, kKind>& group) {
  const LaneNoise own = noise.of(lane);
  const float bounds[2] = {arguments.bound * own.deviations[0] * deviation,
                           arguments.bound * own.deviations[1] * deviation};
  int units[2] = {1, 1};
  if constexpr (!kWhite) {
    units[0] = noise.units_of(own.variances[0]);
    units[1] = noise.units_of(own.variances[1]);
  }
  int kept = 0;
#pragma unroll
  for (int i = 0; i < kPatches; ++i) {
    const float over_time = noise_over_time<kPatches, kKind>(arguments.over_time, taken, i);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const bool keep = fabsf(group.x[i][j]) > bounds[j] * over_time || (i == 0 && j == 0 && lane.lane == 0);
      kept += keep ? units[j] : 0;
      group.x[i][j] = keep ? group.x[i][j] : 0.0F;
    }
  }
  return kWhite ? 1.0F / static_cast<float>(sum_over_warp(kept)) : noise.weight_of(kept);
}

// The second step: multiplies a group of noisy samples by the Wiener factors of the group of basic estimates,
// and returns the weight. `offset` is the offset of the group's mean, which is shrunk toward black.
template <bool kWhite, int kPatches, GroupKind kKind>
__device__ __forceinline__ float shrink_trajectories(const GroupArguments& arguments, const TakenGroup& taken,
                                                     const GroupNoise<kWhite>& noise, const GroupLane& lane,
                                                     float root, float& deviation,
                                                     TrajectoryGroup<kPatches, kKind> (&groups)[2]) {
  auto& [basic, noisy] = groups;
  const float offset = lane.lane == 0 ? arguments.offset_coefficient * root : 0.0F;
  basic.x[0][0] += offset;
  noisy.x[0][0] += offset;
  deviation =
      noise.deviation_of(taken.brightness, basic.x[0][0], 1.0F / (64 * arguments.samples.unit * root), 0);
  const LaneNoise own = noise.of(lane);
  const float ratio = arguments.bound * deviation * deviation;
  const float variances[2] = {own.variances[0] * ratio, own.variances[1] * ratio};
  float energy = 0;
#pragma unroll
  for (int i = 0; i < kPatches; ++i) {
    const float over_time = noise_over_time<kPatches, kKind>(arguments.over_time, taken, i);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const float variance = variances[j] * over_time;
      const float complement = variance * reciprocal(fmaf(basic.x[i][j], basic.x[i][j], variance));
      const float kept = fmaf(-own.deviations[j], complement, own.deviations[j]);
      energy = fmaf(kept, kept, energy);
      noisy.x[i][j] = fmaf(-complement, noisy.x[i][j], noisy.x[i][j]);
    }
  }
  noisy.x[0][0] -= offset;
  return noise.weight_of(noise.units_of(energy));
}

// The compiler cannot infer that the sum is in global memory.
__device__ __forceinline__ void add_to(std::int64_t* sum, int value) {
  asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(sum)),
               "l"(static_cast<long long>(value)));
}
__device__ __forceinline__ void add_to(std::int32_t* sum, int value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(sum)), "r"(value));
}

// Transforms patches i and i + 1 of a group back to samples and adds them to the sums, times `scales`, one
// for each of the lane's two rows. Narrow sums limit the contributions. Patches between samples add nothing.
template <Pass kPass, typename Sum>
__device__ __forceinline__ void add_two(const SharedPlanes& planes, const TakenGroup& taken,
                                        const GroupLane& lane, int pitch, int i, int size,
                                        const float (&coefficients)[4], const float (&scales)[2]) {
  constexpr bool kExact = kPass == Pass::kHardThreshold;
  constexpr bool kNarrow = sizeof(Sum) == sizeof(std::int32_t);
  float samples[4];
  transform_pair<kExact, kExact>(lane.inverse, split<kExact>(coefficients[0], coefficients[1]),
                                 split<kExact>(coefficients[2], coefficients[3]), samples);
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    if (i + j < size) {
      const int picture = __shfl_sync(kAllLanes, taken.picture, i + j);
      const int offset = __shfl_sync(kAllLanes, taken.offset, i + j);
      if (auto* sums = static_cast<Sum*>(planes.sums[picture]);
          sums != nullptr && (kPass != Pass::kInterpolatingWiener || offset >= 0)) {
        sums += offset + lane.offset;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          float value = samples[2 * j + r];
          if constexpr (kNarrow) {
            value = fminf(fmaxf(value, -GroupSums::kMostSample), GroupSums::kMostSample);
          }
          // Converted to the nearest representable integer.
          add_to(sums + r * pitch, __float2int_rn(value * scales[r]));
        }
      }
    }
  }
}

// Transforms a group back and adds it to the sums.
template <Pass kPass, typename Sum, int kPatches, GroupKind kKind>
__device__ __forceinline__ void add_trajectories(const SharedPlanes& planes, const TakenGroup& taken,
                                                 const GroupLane& lane, int pitch, const float (&scales)[2],
                                                 TrajectoryGroup<kPatches, kKind>& group) {
  if constexpr (kKind == GroupKind::kTrajectory || kKind == GroupKind::kPicture) {
    group.inverse();
#pragma unroll
    for (int i = 0; i < kPatches; i += 2) {
      const int second = i + 1 < kPatches ? i + 1 : i;
      const float coefficients[4] = {group.x[i][0], group.x[i][1], group.x[second][0], group.x[second][1]};
      add_two<kPass, Sum>(planes, taken, lane, pitch, i, kPatches, coefficients, scales);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < taken.size; i += 2) {
      float coefficients[4] = {};
      if constexpr (kKind == GroupKind::kPair) {
        take_pair(taken.matrix, i / 2, group, coefficients);
      } else {
        take_any(taken.matrix, i, group, coefficients);
      }
      add_two<kPass, Sum>(planes, taken, lane, pitch, i, taken.size, coefficients, scales);
    }
  }
}

template <bool kWhite, Pass kPass, typename Sample, int kPatches, GroupKind kKind>
__device__ __forceinline__ void filter_trajectories_of(const GroupArguments& arguments,
                                                       const SharedPlanes& planes,
                                                       const GroupNoise<kWhite>& noise, const GroupLane& lane,
                                                       const TakenGroup& taken) {
  const int pitch = arguments.samples.pitch;
  const float root = sqrtf(static_cast<float>(taken.size));
  GroupPlanes<kPass, kPatches, kKind> groups;
  TrajectoryGroup<kPatches, kKind>& group = groups[planes_of(kPass) - 1];
  float deviation;
  float weight;
  load_trajectories<kPass, Sample, kPatches, kKind>(planes, taken, lane, pitch, groups);
  if constexpr (kPass != Pass::kHardThreshold) {
    weight = shrink_trajectories(arguments, taken, noise, lane, root, deviation, groups);
  } else {
    deviation = noise.deviation_of(taken.brightness, group.x[0][0],
                                   1.0F / (64 * arguments.samples.unit * root), arguments.samples.offset);
    weight = threshold_trajectories(arguments, taken, noise, deviation, lane, group);
  }
  if constexpr (!kWhite) {
    weight *= weight_factor(arguments.curve.least, deviation);
  }
  // Numerators and denominators must have equal weights, so the weight is rounded once for both.
  const int weight_units = max(__float2int_rn(weight * arguments.weight_unit), 1);
  const float scale = static_cast<float>(weight_units) * arguments.numerator_unit;
  const float scales[2] = {scale * lane.window[0], scale * lane.window[1]};
  using Sum = SumOf<Sample>;
  add_trajectories<kPass, Sum>(planes, taken, lane, pitch, scales, group);
  if (auto* sums = static_cast<Sum*>(planes.sums[taken.picture]);
      lane.lane < taken.size && sums != nullptr &&
      (kPass != Pass::kInterpolatingWiener || taken.offset >= 0)) {
    const std::ptrdiff_t positions = static_cast<std::ptrdiff_t>(pitch) * arguments.grid.height;
    add_to(sums + positions + taken.offset, weight_units);
    if constexpr (sizeof(Sum) == sizeof(std::int32_t)) {
      const int cell_bits = arguments.format.cell_bits();
      add_to(sums + 2 * positions + taken.cell, (weight_units + (1 << cell_bits) - 1) >> cell_bits);
    }
  }
}

__device__ __forceinline__ void set_place(const GroupArguments& arguments, int x, int y, TakenGroup& taken) {
  taken.offset = y * arguments.samples.pitch + x;
  taken.cell = y / GroupSums::kCell * GroupSums::cells_along(arguments.samples.pitch) + x / GroupSums::kCell;
}

__device__ __forceinline__ TakenGroup take_trajectories(const GroupArguments& arguments, int lane,
                                                        std::ptrdiff_t number) {
  const GroupPatch patch = patch_of_trajectories(arguments.groups, arguments.grid, lane, number);
  TakenGroup taken;
  taken.size = patch.size;
  taken.frames = patch.frames;
  taken.picture = patch.picture;
  set_place(arguments, patch.x, patch.y, taken);
  using Matrices = InterpolatingTransforms;
  taken.origin = taken.offset;
  int quarters_x = Matrices::kWhole;
  int quarters_y = Matrices::kWhole;
  if (patch.quarters != 0) {
    taken.origin -= limpid::vbm4d::kTapsBefore * (arguments.samples.pitch + 1);
    taken.offset = -1;
    quarters_x = patch.quarters % limpid::vbm4d::kQuarters;
    quarters_y = patch.quarters / limpid::vbm4d::kQuarters;
  }
  const int shift = taken.origin & (Matrices::kShifts - 1);
  taken.origin -= shift;
  taken.matrices = Matrices::down(quarters_y) + 256 * Matrices::across(quarters_x, shift);
  taken.matrix = arguments.transforms;
  if (taken.size <= GroupTransforms::kMost) {
    const int members = is_pair(taken.size, taken.frames) ? 1 : patch.members;
    taken.matrix +=
        GroupTransforms::number_of(patch.frames, members) * (GroupTransforms::kMost * GroupTransforms::kMost);
  }
  return taken;
}

// Calls filter.operator()<kPatches, kKind>() for a group. kLong: trajectories may have kMostPictures patches.
template <bool kLong, typename Filter>
__device__ __forceinline__ void with_kind(int size, int frames, const Filter& filter) {
  if (kLong && size == 17) {
    filter.template operator()<17, GroupKind::kTrajectory>();
  } else if (size == 9) {
    filter.template operator()<9, GroupKind::kTrajectory>();
  } else if (size == 16 && frames == 1) {
    filter.template operator()<16, GroupKind::kPicture>();
  } else if (size <= 4) {
    filter.template operator()<4, GroupKind::kAny>();
  } else if (size <= 8) {
    filter.template operator()<8, GroupKind::kAny>();
  } else if (is_pair(size, frames)) {
    filter.template operator()<16, GroupKind::kPair>();
  } else {
    filter.template operator()<16, GroupKind::kAny>();
  }
}

template <bool kWhite, Pass kPass, typename Sample, bool kLong>
__global__ void __launch_bounds__(kWarp* kGroupWarps, 2) filter_kernel(GroupArguments arguments) {
  follow_stream();
  __shared__ SharedPlanes planes;
  __shared__ LaneNoise lane_noise[kWhite ? 1 : kWarp];
  if (threadIdx.x < kMostPictures) {
    planes.noisy[threadIdx.x] = arguments.noisy[threadIdx.x];
    planes.pairs[threadIdx.x] = arguments.pairs[threadIdx.x];
    planes.sums[threadIdx.x] = arguments.sums[threadIdx.x];
  }
  GroupLane lane{.around{static_cast<int>(threadIdx.x) % kWarp, arguments.samples.pitch}};
  if constexpr (kPass == Pass::kInterpolatingWiener) {
    __shared__ SharedSurroundings shared;
    const auto* const matrices = reinterpret_cast<const uint2*>(arguments.interpolating);
    for (int i = threadIdx.x; i < InterpolatingTransforms::kWords / 2; i += kWarp * kGroupWarps) {
      shared.matrices[i / kWarp][i % kWarp] = __ldg(matrices + i);
    }
    lane.surroundings = shared.of_patches[threadIdx.x / kWarp];
    lane.matrices = shared.matrices;
  }
  if (!kWhite && threadIdx.x < kWarp) {
    lane_noise[threadIdx.x] = arguments.noise[threadIdx.x];
  }
  __syncthreads();
  const GroupNoise<kWhite> noise{lane_noise, arguments.curve, arguments.variance_scale,
                                 arguments.variance_unit};
  // The shuffle shows the compiler that the value is equal for the whole warp.
  const int warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / kWarp, 0);
  lane.lane = threadIdx.x % kWarp;
  const int g = lane.lane / 4;
  const int t = lane.lane % 4;
  lane.offset = 2 * t * arguments.samples.pitch + g;
  // Constant memory is slow if lanes read different words. After a shuffle the compiler does not read it
  // again.
  const auto own = [&](unsigned value) { return __shfl_sync(kAllLanes, value, lane.lane); };
  const Matrix& forward = arguments.tables.forward[lane.lane];
  const Matrix& inverse = arguments.tables.inverse[lane.lane];
  lane.forward = {own(forward.high), own(forward.low)};
  lane.inverse = {own(inverse.high), own(inverse.low)};
  lane.window[0] = arguments.tables.window[g] * arguments.tables.window[2 * t];
  lane.window[1] = arguments.tables.window[g] * arguments.tables.window[2 * t + 1];

  const int column = blockIdx.x * kGroupTile + warp;
  if (column >= arguments.grid.columns) {
    return;
  }
  const int begin = arguments.groups.first_row + blockIdx.y * kGroupTile;
  for (int row = begin; row < min(begin + kGroupTile, arguments.groups.last_row); ++row) {
    const std::ptrdiff_t number =
        static_cast<std::ptrdiff_t>(row - arguments.groups.first_row) * arguments.grid.columns + column;
    TakenGroup taken = take_trajectories(arguments, lane.lane, number);
    taken.brightness = brightness_of_group(
        arguments.brightness, static_cast<std::ptrdiff_t>(row) * arguments.grid.columns + column);
    const int size = __shfl_sync(kAllLanes, taken.size, 0);
    const int frames = __shfl_sync(kAllLanes, taken.frames, 0);
    with_kind<kLong>(size, frames, [&]<int kPatches, GroupKind kKind>() {
      filter_trajectories_of<kWhite, kPass, Sample, kPatches, kKind>(arguments, planes, noise, lane, taken);
    });
  }
}

template <bool kWhite, Pass kPass, typename Sample>
void launch_groups(const GroupArguments& arguments, cudaStream_t stream) {
  const dim3 grid(blocks_for(arguments.grid.columns, kGroupTile),
                  blocks_for(arguments.groups.last_row - arguments.groups.first_row, kGroupTile));
  auto* const kernel = arguments.groups.pictures == kMostPictures
                           ? filter_kernel<kWhite, kPass, Sample, true>
                           : filter_kernel<kWhite, kPass, Sample, false>;
  launch(kernel, grid, kWarp * kGroupWarps, 0, stream, arguments);
}

// Rounds to halves, the greatest first, each together with the accumulated rounding error: the sum is exact,
// so that a constant patch has no coefficient other than its mean.
std::array<unsigned short, Surroundings::kColumns> rounded_together(
    const std::array<double, Surroundings::kColumns>& values) {
  std::array<int, Surroundings::kColumns> order{};
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return std::abs(values[a]) > std::abs(values[b]); });
  std::array<unsigned short, Surroundings::kColumns> result{};
  double left = 0;
  for (const int i : order) {
    if (values[i] != 0) {
      const __half rounded = __double2half(values[i] + left);
      left += values[i] - static_cast<double>(__half2float(rounded));
      result[i] = __half_as_ushort(rounded);
    }
  }
  return result;
}

}  // namespace

// The denominator is at most half of the patches' weights, because of the window. Groups have as many
// pictures as the span, or up to max_group_size patches.
GroupSums::GroupSums(bool are_narrow, const Vbm4dStep& step, const TemporalSpan& span) : narrow(are_narrow) {
  if (!narrow) {
    return;
  }
  constexpr int kPositions = limpid::vbm4d::kPatch * limpid::vbm4d::kPatch;
  const int references = (kPositions + step.spacing * step.spacing - 1) / (step.spacing * step.spacing);
  const int patches = references * std::max(span.frames(), step.max_group_size);
  const int room = std::max(span.spread, span.after) > 8 ? 8 : 2;
  constexpr int kMostBits = 18;
  weight_bits = std::min(std::ilogb(kMostUnits / static_cast<float>(room * patches)), kMostBits);
  numerator_bits = weight_bits;
}

std::size_t GroupSums::bytes_of(int pitch, int height) const {
  const std::size_t positions = static_cast<std::size_t>(pitch) * height;
  return narrow ? (2 * positions + static_cast<std::size_t>(cells_along(pitch)) * cells_along(height)) *
                      sizeof(std::int32_t)
                : 2 * positions * sizeof(std::int64_t);
}

void GroupTransforms::fill(float* tables) {
  std::fill_n(tables, floats(), 0.0F);
  for (int members = 1; members <= limpid::vbm4d::kMostMembers; members *= 2) {
    for (int frames = 1; frames * members <= kMost; ++frames) {
      const std::vector<double> matrix = group_transform(frames, members);
      const int size = frames * members;
      float* table = tables + static_cast<std::ptrdiff_t>(number_of(frames, members)) * kMost * kMost;
      for (int i = 0; i < size * size; ++i) {
        table[i % size * kMost + i / size] = static_cast<float>(matrix[i]);
      }
    }
  }
}

void InterpolatingTransforms::fill(const Bm3dStep& step, unsigned* tables) {
  using namespace limpid::vbm4d;
  std::fill_n(tables, kWords, 0U);
  const std::vector<double> forward = transform_matrices(step.transform_2d, kPatch).forward;
  // The words of a matrix that is shifted by `shift` columns; word_of(column) and half_of(column) are a
  // column's place.
  const auto fill_matrix = [&](int number, int quarters, int shift, const auto& word_of,
                               const auto& half_of) {
    for (int row = 0; row < kPatch; ++row) {
      std::array<double, Surroundings::kColumns> factors{};
      for (int i = 0; i < kPatch; ++i) {
        const double factor = forward[row * kPatch + i] * kMatrixScale;
        if (quarters == kWhole) {
          factors[shift + i] = factor;
          continue;
        }
        for (int tap = 0; tap < kTaps; ++tap) {
          factors[shift + i + tap] += factor * interpolation_weight(quarters, tap) / (1 << kWeightBits);
        }
      }
      const auto rounded = rounded_together(factors);
      unsigned* const words =
          tables + (number * FilterTables::kLanes + row * FilterTables::kLanes / kPatch) * 2;
      for (int column = 0; column < Surroundings::kColumns; ++column) {
        words[word_of(column)] |= static_cast<unsigned>(rounded[column]) << 16 * half_of(column);
      }
    }
  };
  for (int quarters = 0; quarters <= kWhole; ++quarters) {
    // A lane has columns 2 t and 2 t + 1, and those 8 columns to the right.
    fill_matrix(
        down(quarters), quarters, 0, [](int column) { return column % 8 / 2 * 2 + column / 8; },
        [](int column) { return column % 2; });
    for (int shift = 0; shift < kShifts; ++shift) {
      // A lane has columns t, t + 4, t + 8 and t + 12.
      fill_matrix(
          across(quarters, shift), quarters, shift, [](int column) { return column % 4 * 2 + column / 8; },
          [](int column) { return column / 4 % 2; });
    }
  }
}

void filter_trajectories(const GroupJob& job, cudaStream_t stream) {
  GroupArguments arguments{};
  arguments.grid = job.grid;
  arguments.groups = job.groups;
  arguments.own = job.own;
  arguments.samples = job.samples;
  const bool wiener = job.basic[job.own] != nullptr;
  std::copy(std::begin(job.noisy), std::end(job.noisy), arguments.noisy);
  std::copy(std::begin(job.basic), std::end(job.basic), arguments.pairs);
  std::copy(std::begin(job.sums), std::end(job.sums), arguments.sums);
  arguments.format = job.format;
  arguments.weight_unit = std::ldexp(1.0F, job.format.weight_bits);
  arguments.numerator_unit = std::ldexp(1.0F, job.format.numerator_bits - job.format.weight_bits);
  const float sigma = job.sigma * job.samples.unit * kCoefficientScale;
  arguments.bound = wiener ? sigma * sigma : coefficient_threshold(job.lambda, sigma);
  set_lane_noise(job.variances, arguments.noise);
  arguments.over_time = job.over_time;
  arguments.curve = make_curve(job.curve);
  arguments.brightness = job.brightness;
  arguments.variance_scale = variance_scale(job.variances);
  arguments.variance_unit = 1 / arguments.variance_scale;
  arguments.offset_coefficient = 64 * job.samples.offset * job.samples.unit;
  arguments.tables = *job.tables;
  arguments.transforms = job.transforms;
  arguments.interpolating = job.interpolating;
  const bool white = !job.curve && std::all_of(job.variances.begin(), job.variances.end(),
                                               [](float variance) { return variance == 1; });
  const auto with_pass = [&]<Pass kPass>() {
    const auto with_samples = [&]<typename Sample>() {
      white ? launch_groups<true, kPass, Sample>(arguments, stream)
            : launch_groups<false, kPass, Sample>(arguments, stream);
    };
    job.format.narrow ? with_samples.template operator()<__half>()
                      : with_samples.template operator()<float>();
  };
  if (!wiener) {
    with_pass.template operator()<Pass::kHardThreshold>();
  } else if (job.groups.quarters == nullptr) {
    with_pass.template operator()<Pass::kWiener>();
  } else {
    with_pass.template operator()<Pass::kInterpolatingWiener>();
  }
}

}  // namespace limpid::cuda
