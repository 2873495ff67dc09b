// SPDX-License-Identifier: MIT
// Collaborative filtering and aggregation of one group. Compiled once per SIMD target.
#if defined(LIMPID_CPU_GROUP_FILTER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_GROUP_FILTER_INL_H_
#undef LIMPID_CPU_GROUP_FILTER_INL_H_
#else
#define LIMPID_CPU_GROUP_FILTER_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/bm3d/transforms.h"
#include "cpu/bm3d/tile.h"
#include "cpu/bm3d/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile's sums of one plane: floats for the samples of the tile's region.
struct LocalSums {
  float* numerator = nullptr;
  float* weight = nullptr;
  int x0 = 0;
  int y0 = 0;
  int pitch = 0;

  std::ptrdiff_t offset(Position position) const {
    return static_cast<std::ptrdiff_t>(position.y - y0) * pitch + position.x - x0;
  }
};

// Adds a row of a tile's sums to a plane's, whose unit is 1 / scale.
inline HWY_ATTR void flush(const float* HWY_RESTRICT in, float scale, std::int64_t* HWY_RESTRICT out,
                           int count) {
  for (int i = 0; i < count; ++i) {
    out[i] += static_cast<std::int64_t>(in[i] * scale);
  }
}

// Calls add(x, y, count) for parts of rows that together cover the area of a plane of width `width`, each
// while the lock of its block is held (StepJob::locks).
template <class Add>
HWY_ATTR void for_each_locked_row(int width, const Area& area, std::vector<std::mutex>& locks,
                                  const Add& add) {
  const int blocks_across = block_count(width, kLockedColumns);
  for (int y0 = area.y0; y0 < area.y1;) {
    const int block_y = y0 / kLockedRows;
    const int y1 = std::min(area.y1, (block_y + 1) * kLockedRows);
    for (int x0 = area.x0; x0 < area.x1;) {
      const int block_x = x0 / kLockedColumns;
      const int x1 = std::min(area.x1, (block_x + 1) * kLockedColumns);
      const std::scoped_lock guard(locks[block_y * blocks_across + block_x]);
      for (int y = y0; y < y1; ++y) {
        add(x0, y, x1 - x0);
      }
      x0 = x1;
    }
    y0 = y1;
  }
}

// Result of shrinkage for aggregation: the `weight` of the group's patches, and the `gain` by which samples
// must still be multiplied because the transforms across the group leave it out.
struct Shrinkage {
  float weight = 0;
  float gain = 1;
};

// ---------------------------------------------------------------------------------------------------------------------
// 8x8 patches. A group is stored as blocks of 8 * kParts vectors (transforms-inl.h).

constexpr int kBlockVectors = 8 * kParts;
constexpr int kBlockFloats = kBlockVectors * kLanes;

HWY_INLINE FloatVector load_row(const FloatTag d, const float* first, [[maybe_unused]] const float* second) {
  if constexpr (kPatchesPerBlock == 2) {
    const hn::Half<FloatTag> half;
    return hn::Combine(d, hn::LoadU(half, second), hn::LoadU(half, first));
  } else {
    return hn::LoadU(d, first);
  }
}

// Loads a group's patches from a plane and transforms each in 2D.
template <class Transform>
HWY_ATTR void load_group(const float* plane, int stride, const Position* positions, int size, float* group) {
  const FloatTag d;
  for (int i = 0; i < size; i += kPatchesPerBlock) {
    const float* first = plane + static_cast<std::ptrdiff_t>(positions[i].y) * stride + positions[i].x;
    const Position& next = positions[std::min(i + kPatchesPerBlock - 1, size - 1)];
    const float* second = plane + static_cast<std::ptrdiff_t>(next.y) * stride + next.x;
    FloatVector x[kBlockVectors];
    for (int row = 0; row < 8; ++row) {
      for (int part = 0; part < kParts; ++part) {
        const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(row) * stride + part * kLanes;
        x[row * kParts + part] = load_row(d, first + offset, second + offset);
      }
    }
    forward_2d<Transform>(x);
    for (int v = 0; v < kBlockVectors; ++v) {
      hn::Store(x[v], d, group + v * kLanes);
    }
    group += kBlockFloats;
  }
}

// The mean of a group's samples, from its patches' transforms.
inline float group_mean(const float* group, int size) {
  float sum = 0;
  for (int i = 0; i < size; ++i) {
    sum += group[i / kPatchesPerBlock * kBlockFloats + i % kPatchesPerBlock * (kLanes / 2)];
  }
  return sum / static_cast<float>(8 * size);
}

// The lanes that hold patches: if a vector for two patches holds one, only the lower half.
template <int kSize>
HWY_INLINE hn::Mask<FloatTag> patch_lanes() {
  return hn::FirstN(FloatTag(), kSize < kPatchesPerBlock ? kLanes / 2 : kLanes);
}

// The lanes of a block's first vector that hold its patches' first coefficients.
HWY_INLINE hn::Mask<FloatTag> first_coefficients() {
  const FloatTag d;
  const auto first = hn::FirstN(d, 1);
  if constexpr (kPatchesPerBlock == 1) {
    return first;
  } else {
    return hn::Or(first, hn::AndNot(hn::FirstN(d, kLanes / 2), hn::FirstN(d, kLanes / 2 + 1)));
  }
}

// The values of a table of 8x8 coefficients for vector `v` of a block.
HWY_INLINE FloatVector of_coefficients(const std::vector<float>& table, int v) {
  const float* row = table.data() + v / kParts * 8 + v % kParts * kLanes;
  return load_row(FloatTag(), row, row);
}

// Transforms across the group, sets coefficients to zero that do not exceed their thresholds, except the
// group's DC, and transforms back. `deviation` is the group's.
template <class Group, int kSize>
HWY_ATTR Shrinkage hard_threshold(float* group, const CoefficientNoise& noise, float deviation) {
  const FloatTag d;
  const auto gain = hn::Set(d, std::sqrt(Group::gain()) * deviation);
  const auto lanes = patch_lanes<kSize>();
  auto kept = hn::Zero(d);  // variance, relative to the noise's
  for (int v = 0; v < kBlockVectors; ++v) {
    const auto bound = hn::Mul(of_coefficients(noise.bounds, v), gain);
    const auto variance = of_coefficients(noise.variances, v);
    FloatVector x[Group::kBlocks];
    for (int b = 0; b < Group::kBlocks; ++b) {
      x[b] = hn::Load(d, group + b * kBlockFloats + v * kLanes);
    }
    Group::forward(x);
    for (int b = 0; b < Group::kBlocks; ++b) {
      auto keep = hn::Gt(hn::Abs(x[b]), bound);
      if (v == 0 && b == 0) {
        keep = hn::Or(keep, hn::FirstN(d, 1));
      }
      kept =
          hn::Add(kept, hn::IfThenElseZero(kSize < kPatchesPerBlock ? hn::And(keep, lanes) : keep, variance));
      x[b] = hn::IfThenElseZero(keep, x[b]);
    }
    Group::inverse(x);
    for (int b = 0; b < Group::kBlocks; ++b) {
      hn::Store(x[b], d, group + b * kBlockFloats + v * kLanes);
    }
  }
  return {1.0F / std::max(1.0F, hn::GetLane(hn::SumOfLanes(d, kept))), 1.0F / Group::gain()};
}

// Multiplies the noisy group's coefficients by the Wiener factors computed from the basic estimate's.
template <class Group, int kSize>
HWY_ATTR Shrinkage wiener(float* group, const float* basic_group, const CoefficientNoise& noise,
                          float deviation) {
  const FloatTag d;
  const auto gain = hn::Set(d, Group::gain() * (deviation * deviation));
  const auto lanes = patch_lanes<kSize>();
  auto energy = hn::Zero(d);
  for (int v = 0; v < kBlockVectors; ++v) {
    const auto bound = hn::Mul(of_coefficients(noise.bounds, v), gain);
    const auto variance = of_coefficients(noise.variances, v);
    FloatVector factor[Group::kBlocks];
    for (int b = 0; b < Group::kBlocks; ++b) {
      factor[b] = hn::Load(d, basic_group + b * kBlockFloats + v * kLanes);
    }
    Group::forward(factor);
    for (int b = 0; b < Group::kBlocks; ++b) {
      const auto signal = hn::Mul(factor[b], factor[b]);
      factor[b] = hn::Div(signal, hn::Add(signal, bound));
      const auto counted = kSize < kPatchesPerBlock ? hn::IfThenElseZero(lanes, factor[b]) : factor[b];
      energy = hn::MulAdd(hn::Mul(counted, variance), counted, energy);
    }
    FloatVector x[Group::kBlocks];
    for (int b = 0; b < Group::kBlocks; ++b) {
      x[b] = hn::Load(d, group + b * kBlockFloats + v * kLanes);
    }
    Group::forward(x);
    for (int b = 0; b < Group::kBlocks; ++b) {
      x[b] = hn::Mul(x[b], factor[b]);
    }
    Group::inverse(x);
    for (int b = 0; b < Group::kBlocks; ++b) {
      hn::Store(x[b], d, group + b * kBlockFloats + v * kLanes);
    }
  }
  return {1.0F / std::max(1.0F, hn::GetLane(hn::SumOfLanes(d, energy))), 1.0F / Group::gain()};
}

// Where a patch's estimate is added; not at all if `samples` is null.
struct PatchTarget {
  float* samples = nullptr;
  std::ptrdiff_t pitch = 0;
};

// Transforms the patches of a group from the block of `first_patch` on back and adds them, minus kSumsOffset,
// times `weight` and the aggregation window, to target_of(patch). load(i, v) is vector v of the block of
// patch i. Transforms across the group have multiplied coefficients by 1 / gain.
template <class Transform, class Load, class TargetOf>
HWY_INLINE void add_estimates(int first_patch, int size, float weight, float gain, const float* window,
                              const Load& load, const TargetOf& target_of) {
  const FloatTag d;
  // The rounded constants of the forward and inverse transforms change a patch's mean by this factor.
  // Uncorrected, this would be most of the estimate's error.
  constexpr double kGain = Transform::kForwardDc * Transform::kInverseDc;
  const auto factor = hn::Set(d, static_cast<float>(double{weight} * double{gain} / (kGain * kGain)));
  const auto gray = hn::IfThenElseZero(
      first_coefficients(), hn::Set(d, static_cast<float>(double{kSumsOffset} * Transform::kForwardDc *
                                                          Transform::kForwardDc / double{gain})));
  FloatVector scale[kBlockVectors];
  for (int v = 0; v < kBlockVectors; ++v) {
    const float* in = window + v / kParts * 8 + v % kParts * kLanes;
    scale[v] = hn::Mul(factor, load_row(d, in, in));
  }
  for (int i = first_patch / kPatchesPerBlock * kPatchesPerBlock; i < size; i += kPatchesPerBlock) {
    FloatVector x[kBlockVectors];
    for (int v = 0; v < kBlockVectors; ++v) {
      x[v] = load(i, v);
    }
    x[0] = hn::Sub(x[0], gray);
    inverse_2d<Transform>(x);
    const auto add = [&](int patch, auto tag, auto part_of) HWY_ATTR {
      if (patch < first_patch || patch >= size) {
        return;
      }
      const PatchTarget target = target_of(patch);
      if (target.samples == nullptr) {
        return;
      }
      for (int v = 0; v < kBlockVectors; ++v) {
        float* out = target.samples + v / kParts * target.pitch + v % kParts * kLanes;
        hn::StoreU(hn::Add(hn::LoadU(tag, out), part_of(hn::Mul(x[v], scale[v]))), tag, out);
      }
    };
    if constexpr (kPatchesPerBlock == 2) {
      const hn::Half<FloatTag> half;
      add(i, half, [&](FloatVector v) HWY_ATTR { return hn::LowerHalf(half, v); });
      add(i + 1, half, [&](FloatVector v) HWY_ATTR { return hn::UpperHalf(half, v); });
    } else {
      add(i, d, [](FloatVector v) HWY_ATTR { return v; });
    }
  }
}

// Adds a group's estimates and its weight to the sums.
template <class Transform>
HWY_ATTR void aggregate_group(const float* group, const Position* positions, int size,
                              const Shrinkage& shrinkage, const float* window, const LocalSums& sums) {
  add_estimates<Transform>(
      0, size, shrinkage.weight, shrinkage.gain, window,
      [&](int i, int v)
          HWY_ATTR { return hn::Load(FloatTag(), group + i / kPatchesPerBlock * kBlockFloats + v * kLanes); },
      [&](int i) {
        const std::ptrdiff_t offset = sums.offset(positions[i]);
        sums.weight[offset] += shrinkage.weight;
        return PatchTarget{sums.numerator + offset, sums.pitch};
      });
}

template <class Function>
HWY_INLINE void with_transform(Transform2d transform, const Function& function) {
  switch (transform) {
    case Transform2d::kDct:
      return function(Dct8());
    case Transform2d::kBior15:
      return function(Bior15());
    case Transform2d::kWalshHadamard:
      return function(WalshHadamard8());
    case Transform2d::kHaar:
      return function(Haar8());
  }
}

template <template <int> class Group, class Function>
HWY_INLINE Shrinkage with_size(int size, const Function& function) {
  switch (size) {
    case 1:
      return function.template operator()<Group<1>, 1>();
    case 2:
      return function.template operator()<Group<2>, 2>();
    case 4:
      return function.template operator()<Group<4>, 4>();
    case 8:
      return function.template operator()<Group<8>, 8>();
    case 16:
      return function.template operator()<Group<16>, 16>();
    case 32:
      return function.template operator()<Group<32>, 32>();
    default:
      return function.template operator()<Group<64>, 64>();
  }
}

template <class Function>
HWY_INLINE Shrinkage with_group_transform(Transform1d transform, int size, const Function& function) {
  return transform == Transform1d::kHaar ? with_size<GroupHaar>(size, function)
                                         : with_size<GroupWalshHadamard>(size, function);
}

// The brightness of a reference patch.
inline float brightness_in_guide(const StepJob& job, Position reference) {
  const int k = job.tables->step.patch_size;
  int sum = 0;
  for (int y = 0; y < k; ++y) {
    const std::int16_t* row =
        job.matching + static_cast<std::ptrdiff_t>(reference.y + y) * job.width + reference.x;
    sum = std::accumulate(row, row + k, sum);
  }
  return brightness_of(sum, k * k, job.scale.scale);
}

inline HWY_ATTR void filter_group_8x8(const StepJob& job, const FilteredPlane& plane,
                                      const Position* positions, int size, TileScratch& scratch,
                                      const LocalSums& sums) {
  const StepTables& tables = *job.tables;
  float* const group = scratch.noisy_group.data();
  float* const basic = scratch.basic_group.data();
  with_transform(tables.step.transform_2d, [&](auto transform) HWY_ATTR {
    load_group<decltype(transform)>(plane.noisy, job.width, positions, size, group);
    if (job.wiener) {
      load_group<decltype(transform)>(plane.basic, job.width, positions, size, basic);
    }
  });
  const CoefficientNoise& noise = plane.noise;
  const float brightness = !noise.curve           ? 0
                           : noise.curve_by_guide ? brightness_in_guide(job, positions[0])
                                                  : group_mean(job.wiener ? basic : group, size);
  const float deviation = noise.deviation_of(brightness);
  Shrinkage shrinkage =
      with_group_transform(tables.step.transform_1d, size, [&]<class Group, int kSize>() HWY_ATTR {
        return job.wiener ? wiener<Group, kSize>(group, basic, noise, deviation)
                          : hard_threshold<Group, kSize>(group, noise, deviation);
      });
  shrinkage.weight *= weight_factor(noise.least_deviation, deviation);
  with_transform(tables.step.transform_2d, [&](auto transform) HWY_ATTR {
    aggregate_group<decltype(transform)>(group, positions, size, shrinkage, tables.window.data(), sums);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Patches of any size, by matrices, in plain loops that the compiler vectorizes. A group is stored patch by
// patch.

// out = matrix * in * transpose of matrix, k x k each.
inline HWY_ATTR void transform_patch(const float* HWY_RESTRICT matrix, int k, float* HWY_RESTRICT patch) {
  std::array<float, 16 * 16> half;
  for (int r = 0; r < k; ++r) {
    std::array<float, 16> sum{};
    for (int i = 0; i < k; ++i) {
      for (int c = 0; c < k; ++c) {
        sum[c] += matrix[r * k + i] * patch[i * k + c];
      }
    }
    std::copy_n(sum.begin(), k, half.begin() + r * k);
  }
  for (int r = 0; r < k; ++r) {
    for (int c = 0; c < k; ++c) {
      float sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += half[r * k + i] * matrix[c * k + i];
      }
      patch[r * k + c] = sum;
    }
  }
}

// One orthonormal butterfly (a + b, a - b) / sqrt 2 of two patches' coefficients.
inline HWY_ATTR void combine_patches(float* HWY_RESTRICT a, float* HWY_RESTRICT b, int count) {
  constexpr float kScale = 0.707106781186548F;
  for (int i = 0; i < count; ++i) {
    const float sum = (a[i] + b[i]) * kScale;
    b[i] = (a[i] - b[i]) * kScale;
    a[i] = sum;
  }
}

inline HWY_ATTR void transform_group(Transform1d transform, bool forward, float* group, int size,
                                     int samples) {
  const auto level = [&](int half) HWY_ATTR {
    for (int i = 0; i < size; ++i) {
      const bool paired = transform == Transform1d::kHaar ? i % (2 * half) == 0 : (i & half) == 0;
      if (paired) {
        combine_patches(group + static_cast<std::ptrdiff_t>(i) * samples,
                        group + static_cast<std::ptrdiff_t>(i + half) * samples, samples);
      }
    }
  };
  if (forward) {
    for (int half = 1; half < size; half *= 2) {
      level(half);
    }
  } else {
    for (int half = size / 2; half >= 1; half /= 2) {
      level(half);
    }
  }
}

inline HWY_ATTR void load_group_any(const StepTables& tables, const float* plane, int stride,
                                    const Position* positions, int size, float* group) {
  const int k = tables.step.patch_size;
  for (int i = 0; i < size; ++i) {
    float* patch = group + static_cast<std::ptrdiff_t>(i) * k * k;
    for (int row = 0; row < k; ++row) {
      std::copy_n(plane + static_cast<std::ptrdiff_t>(positions[i].y + row) * stride + positions[i].x, k,
                  patch + row * k);
    }
    transform_patch(tables.forward.data(), k, patch);
  }
  transform_group(tables.step.transform_1d, true, group, size, k * k);
}

inline HWY_ATTR void filter_group_any(const StepJob& job, const FilteredPlane& plane,
                                      const Position* positions, int size, TileScratch& scratch,
                                      const LocalSums& sums) {
  const StepTables& tables = *job.tables;
  const int k = tables.step.patch_size;
  const int count = size * k * k;
  float* HWY_RESTRICT group = scratch.noisy_group.data();
  const float* HWY_RESTRICT bounds = plane.noise.bounds.data();
  const float* HWY_RESTRICT variances = plane.noise.variances.data();
  load_group_any(tables, plane.noisy, job.width, positions, size, group);
  // Ratio of the group's DC to its mean.
  const float dc_gain = static_cast<float>(k) * std::sqrt(static_cast<float>(size));
  const auto deviation_of = [&](float mean) {
    return plane.noise.deviation_of(plane.noise.curve_by_guide ? brightness_in_guide(job, positions[0])
                                                               : mean);
  };
  float deviation = 1;
  float weight = 0;
  if (job.wiener) {
    float* HWY_RESTRICT factor = scratch.basic_group.data();
    load_group_any(tables, plane.basic, job.width, positions, size, factor);
    deviation = deviation_of(factor[0] / dc_gain);
    const float scale = deviation * deviation;
    float energy = 0;
    for (int first = 0; first < count; first += k * k) {
      for (int i = 0; i < k * k; ++i) {
        const float signal = factor[first + i] * factor[first + i];
        const float kept = signal / (signal + bounds[i] * scale);
        group[first + i] *= kept;
        energy += kept * kept * variances[i];
      }
    }
    weight = 1.0F / std::max(1.0F, energy);
  } else {
    deviation = deviation_of(group[0] / dc_gain);
    float kept = 0;
    for (int first = 0; first < count; first += k * k) {
      for (int i = 0; i < k * k; ++i) {
        const bool keep = first + i == 0 || std::abs(group[first + i]) > bounds[i] * deviation;
        group[first + i] = keep ? group[first + i] : 0.0F;
        kept += keep ? variances[i] : 0.0F;
      }
    }
    weight = 1.0F / std::max(1.0F, kept);
  }
  weight *= weight_factor(plane.noise.least_deviation, deviation);
  transform_group(tables.step.transform_1d, false, group, size, k * k);
  for (int i = 0; i < size; ++i) {
    float* HWY_RESTRICT patch = group + static_cast<std::ptrdiff_t>(i) * k * k;
    transform_patch(tables.inverse.data(), k, patch);
    const std::ptrdiff_t offset = sums.offset(positions[i]);
    sums.weight[offset] += weight;
    for (int row = 0; row < k; ++row) {
      float* HWY_RESTRICT out = sums.numerator + offset + static_cast<std::ptrdiff_t>(row) * sums.pitch;
      for (int column = 0; column < k; ++column) {
        out[column] += weight * tables.window[row * k + column] * (patch[row * k + column] - kSumsOffset);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
