// SPDX-License-Identifier: MIT
#include "cpu/recursive/recursive_kernels.h"

#include <type_traits>

#include "cpu/runtime/denormals.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/recursive/recursive_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/bm3d/transforms-inl.h"
#include "cpu/runtime/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Samples of guides, and sums of their products.
using GuideTag = hn::CappedTag<std::int16_t, recursive::kWindow>;
using GuideValues = hn::Vec<GuideTag>;
using GuideProducts = ProductSum<GuideTag>;
constexpr int kGuideLanes = static_cast<int>(hn::MaxLanes(GuideTag()));

HWY_INLINE GuideValues load_guide(const std::uint8_t* samples) {
  const GuideTag d;
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, GuideTag>(), samples));
}

// A sum of 16 rows of absolute differences is under 2^13 in each lane.
HWY_INLINE std::int32_t sum_of_guides(GuideValues sums) {
  GuideProducts total;
  total.clear();
  total.add(sums, hn::Set(GuideTag(), std::int16_t{1}));
  return total.get();
}

// The sum of absolute differences along the vector, and the sums from which the fraction follows.
HWY_INLINE recursive::GradientSums gradient_sums(const GuideWindows& windows, std::int32_t* difference) {
  const GuideTag d;
  GuideProducts xx;
  GuideProducts xy;
  GuideProducts yy;
  GuideProducts xt;
  GuideProducts yt;
  for (GuideProducts* const each : {&xx, &xy, &yy, &xt, &yt}) {
    each->clear();
  }
  GuideValues differences = hn::Zero(d);
  for (int row = 0; row < recursive::kWindow; ++row) {
    for (int i = 0; i < recursive::kWindow; i += kGuideLanes) {
      const std::uint8_t* reference = windows.reference + row * windows.stride + i;
      const auto x = hn::Sub(load_guide(reference + 1), load_guide(reference - 1));
      const auto y = hn::Sub(load_guide(reference + windows.stride), load_guide(reference - windows.stride));
      const auto t = hn::Sub(load_guide(windows.current + row * windows.stride + i), load_guide(reference));
      xx.add(x, x);
      xy.add(x, y);
      yy.add(y, y);
      xt.add(x, t);
      yt.add(y, t);
      differences = hn::Add(differences, hn::Abs(t));
    }
  }
  *difference = sum_of_guides(differences);
  return {xx.get(), xy.get(), yy.get(), xt.get(), yt.get()};
}

// The sum of absolute differences from the guide that is interpolated at the fraction.
HWY_INLINE std::int32_t difference_at(const GuideWindows& windows, const recursive::EighthVector& fraction) {
  const GuideTag d;
  constexpr int kSide = recursive::kEighths;
  const int x = fraction.x & (kSide - 1);
  const int y = fraction.y & (kSide - 1);
  const auto weight = [&](int value) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(value)); };
  const auto first = weight((kSide - x) * (kSide - y));
  const auto right = weight(x * (kSide - y));
  const auto below = weight((kSide - x) * y);
  const auto diagonal = weight(x * y);
  const std::uint8_t* from = windows.reference + (fraction.y >> 3) * windows.stride + (fraction.x >> 3);
  GuideValues differences = hn::Zero(d);
  for (int row = 0; row < recursive::kWindow; ++row) {
    for (int i = 0; i < recursive::kWindow; i += kGuideLanes) {
      const std::uint8_t* samples = from + row * windows.stride + i;
      const auto upper =
          hn::Add(hn::Mul(load_guide(samples), first), hn::Mul(load_guide(samples + 1), right));
      const auto lower = hn::Add(hn::Mul(load_guide(samples + windows.stride), below),
                                 hn::Mul(load_guide(samples + windows.stride + 1), diagonal));
      const auto value = hn::ShiftRight<6>(hn::Add(hn::Add(upper, lower), weight(32)));
      const auto current = load_guide(windows.current + row * windows.stride + i);
      differences = hn::Add(differences, hn::Abs(hn::Sub(current, value)));
    }
  }
  return sum_of_guides(differences);
}

HWY_ATTR recursive::EighthVector fraction_in_windows(const GuideWindows& windows, int least_gain) {
  std::int32_t whole = 0;
  const recursive::EighthVector fraction = recursive::fraction_of(gradient_sums(windows, &whole));
  if (fraction == recursive::EighthVector{} || difference_at(windows, fraction) >= whole - least_gain) {
    return {};
  }
  return fraction;
}

using WarpTag = hn::CappedTag<float, 8>;
using WarpValues = hn::Vec<WarpTag>;
constexpr int kWarpLanes = static_cast<int>(hn::MaxLanes(WarpTag()));
constexpr int kWarpSide = 8;

// The weighted sum of eight vectors, `spacing` floats apart.
HWY_INLINE WarpValues weighted_sum(const float* from, std::ptrdiff_t spacing, const float* weights) {
  const WarpTag d;
  WarpValues sum = hn::Mul(hn::LoadU(d, from), hn::Set(d, weights[0]));
  for (int tap = 1; tap < recursive::kTaps; ++tap) {
    sum = hn::MulAdd(hn::LoadU(d, from + tap * spacing), hn::Set(d, weights[tap]), sum);
  }
  return sum;
}

HWY_ATTR void warp_one_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x, int y,
                             int rows, PaddedPlane& out) {
  static const auto weights = recursive::interpolation_weights();
  const WarpTag d;
  const int rest_x = vector.x & (recursive::kEighths - 1);
  const int rest_y = vector.y & (recursive::kEighths - 1);
  const int top = y + (vector.y >> 3) - (rest_y == 0 ? 0 : recursive::kTapsBefore);
  const int count = rows + (rest_y == 0 ? 0 : recursive::kTaps - 1);
  const float* source = from.row(top) + x + (vector.x >> 3);
  std::ptrdiff_t source_pitch = from.pitch();
  alignas(64) std::array<float, (kWarpSide + recursive::kTaps) * kWarpSide> lines;
  if (rest_x != 0) {
    for (int line = 0; line < count; ++line) {
      const float* first = source + line * source_pitch - recursive::kTapsBefore;
      for (int i = 0; i < kWarpSide; i += kWarpLanes) {
        hn::Store(weighted_sum(first + i, 1, weights[rest_x].data()), d, lines.data() + line * kWarpSide + i);
      }
    }
    source = lines.data();
    source_pitch = kWarpSide;
  }
  for (int line = 0; line < rows; ++line) {
    for (int i = 0; i < kWarpSide; i += kWarpLanes) {
      const float* first = source + line * source_pitch + i;
      hn::StoreU(
          rest_y == 0 ? hn::LoadU(d, first) : weighted_sum(first, source_pitch, weights[rest_y].data()), d,
          out.row(y + line) + x + i);
    }
  }
}

constexpr int kMergedVectors = recursive::kPatch * kParts;  // of a block of patches
constexpr float kPerCoefficient = 1.0F / (recursive::kPatch * recursive::kPatch);

// The columns at which the patches of a block begin. If there are too few patches, the last column is
// repeated.
using BlockColumns = std::array<int, 2>;

HWY_INLINE void load_patches(const PaddedPlane& plane, const BlockColumns& xs, int y, FloatVector* out) {
  const FloatTag d;
  for (int row = 0; row < recursive::kPatch; ++row) {
    const float* samples = plane.row(y + row);
    if constexpr (kPatchesPerBlock == 2) {
      const hn::Half<FloatTag> half;
      out[row] = hn::Combine(d, hn::LoadU(half, samples + xs[1]), hn::LoadU(half, samples + xs[0]));
    } else {
      for (int part = 0; part < kParts; ++part) {
        out[row * kParts + part] = hn::LoadU(d, samples + xs[0] + part * kLanes);
      }
    }
  }
}

HWY_INLINE void load_coefficients(const PaddedPlane& plane, const BlockColumns& xs, int y, FloatVector* out) {
  load_patches(plane, xs, y, out);
  forward_2d<Dct8>(out);
}

// The i-th vector of values that all patches share.
HWY_INLINE FloatVector values_at(const PatchValues& values, int i) {
  return hn::LoadU(FloatTag(), values.data() + i / kParts * 2 * recursive::kPatch + i % kParts * kLanes);
}

// One value for each patch of a block, in all its lanes.
HWY_INLINE FloatVector of_patches(float first, float second) {
  const FloatTag d;
  if constexpr (kPatchesPerBlock == 2) {
    return hn::IfThenElse(hn::FirstN(d, kLanes / 2), hn::Set(d, first), hn::Set(d, second));
  } else {
    return hn::Set(d, first);
  }
}

// The sum over each patch's lanes, in all of them.
HWY_INLINE FloatVector sum_in_patches(FloatVector v) {
  v = hn::Add(v, hn::Shuffle2301(v));
  v = hn::Add(v, hn::Shuffle1032(v));
  if constexpr (kLanes >= 8) {
    v = hn::Add(v, hn::SwapAdjacentBlocks(v));
  }
  return v;
}

HWY_INLINE float value_of_patch(FloatVector v, int patch) {
  return patch == 0 ? hn::GetLane(v) : hn::ExtractLane(v, static_cast<std::size_t>(kLanes / 2));
}

// The vector with each lane's left and right neighbor in the patch's row added; the border is repeated.
template <int kPart>
HWY_INLINE FloatVector sum_along_row(const FloatVector* row) {
  const FloatTag d;
  if constexpr (kParts == 1) {
    constexpr int kGroup = recursive::kPatch;
    alignas(64) std::array<std::int32_t, kLanes> left;
    alignas(64) std::array<std::int32_t, kLanes> right;
    for (int i = 0; i < kLanes; ++i) {
      left[i] = i % kGroup == 0 ? i : i - 1;
      right[i] = i % kGroup == kGroup - 1 ? i : i + 1;
    }
    const auto left_indices = hn::SetTableIndices(d, left.data());
    const auto right_indices = hn::SetTableIndices(d, right.data());
    return hn::Add(row[0], hn::Add(hn::TableLookupLanes(row[0], left_indices),
                                   hn::TableLookupLanes(row[0], right_indices)));
  } else {
    const hn::Repartition<std::uint8_t, FloatTag> d8;
    const auto shift = [&](auto bytes, FloatVector high, FloatVector low) HWY_ATTR {
      return hn::BitCast(d, hn::CombineShiftRightBytes<decltype(bytes)::value>(d8, hn::BitCast(d8, high),
                                                                               hn::BitCast(d8, low)));
    };
    using Bytes4 = std::integral_constant<int, 4>;
    using Bytes12 = std::integral_constant<int, 12>;
    const FloatVector first = hn::Broadcast<0>(row[0]);
    const FloatVector last = hn::Broadcast<3>(row[1]);
    const FloatVector left = kPart == 0 ? shift(Bytes12(), row[0], first) : shift(Bytes12(), row[1], row[0]);
    const FloatVector right = kPart == 0 ? shift(Bytes4(), row[1], row[0]) : shift(Bytes4(), last, row[1]);
    return hn::Add(row[kPart], hn::Add(left, right));
  }
}

// The mean of 3 x 3 neighboring coefficients; the border is repeated.
HWY_INLINE void average_neighbors(FloatVector* x) {
  FloatVector sums[kMergedVectors];
  for (int row = 0; row < recursive::kPatch; ++row) {
    sums[row * kParts] = sum_along_row<0>(x + row * kParts);
    if constexpr (kParts == 2) {
      sums[row * kParts + 1] = sum_along_row<1>(x + row * kParts);
    }
  }
  const auto ninth = hn::Set(FloatTag(), 1.0F / 9);
  for (int i = 0; i < kMergedVectors; ++i) {
    const int above = i < kParts ? i : i - kParts;
    const int below = i + kParts < kMergedVectors ? i + kParts : i;
    x[i] = hn::Mul(hn::Add(sums[i], hn::Add(sums[above], sums[below])), ninth);
  }
}

HWY_INLINE hn::Mask<FloatTag> is_constant_coefficient() {
  const FloatTag d;
  if constexpr (kPatchesPerBlock == 2) {
    alignas(64) std::array<float, kLanes> ones{};
    ones[0] = ones[kLanes / 2] = 1;
    return hn::Gt(hn::LoadU(d, ones.data()), hn::Zero(d));
  } else {
    return hn::FirstN(d, 1);
  }
}

// The results of a block of patches.
struct MergedBlock {
  FloatVector merged[kMergedVectors];    // X
  FloatVector estimate[kMergedVectors];  // g X
  FloatVector gain;                      // the mean of K
  FloatVector weight;
  hn::Mask<FloatTag> known;
};

// Variances that all coefficients of a patch share.
struct BlockNoise {
  FloatVector state;   // v
  FloatVector factor;  // of the noise's variance
  FloatVector inverse_factor;
};

// X and K of the first step: `noisy` is Z. Without a prior X is Z, and K 1.
HWY_INLINE void merge_first(const PatchStep& step, const BlockNoise& noise, const FloatVector* noisy,
                            const FloatVector* prior, FloatVector* gains, MergedBlock& block) {
  const FloatTag d;
  const auto one = hn::Set(d, 1.0F);
  FloatVector energy[kMergedVectors];
  FloatVector total = hn::Zero(d);
  for (int i = 0; i < kMergedVectors; ++i) {
    const FloatVector innovation = hn::Sub(noisy[i], prior[i]);
    energy[i] = hn::Mul(hn::Mul(innovation, innovation),
                        hn::Mul(values_at(step.inverse_variances, i), noise.inverse_factor));
    total = hn::Add(total, energy[i]);
  }
  const auto expected = hn::Add(one, noise.state);
  const auto mean = hn::Mul(sum_in_patches(total), hn::Set(d, kPerCoefficient));
  block.known = hn::Le(mean, hn::Mul(hn::Set(d, recursive::kGate), expected));
  average_neighbors(energy);
  const auto innocent = hn::Mul(hn::Set(d, recursive::kInnovation), expected);
  for (int i = 0; i < kMergedVectors; ++i) {
    const auto change =
        hn::Max(hn::Zero(d), hn::Mul(hn::Set(d, recursive::kChange), hn::Sub(energy[i], innocent)));
    const auto variance = hn::Add(change, noise.state);
    gains[i] = hn::IfThenElse(block.known, hn::Div(variance, hn::Add(variance, one)), one);
    block.merged[i] =
        hn::IfThenElse(block.known, hn::MulAdd(gains[i], hn::Sub(noisy[i], prior[i]), prior[i]), noisy[i]);
  }
}

// X and K of the second step, by the first estimate.
HWY_INLINE void merge_second(const PatchStep& step, const BlockNoise& noise, const FloatVector* noisy,
                             const FloatVector* prior, const FloatVector* pilot, FloatVector* gains,
                             MergedBlock& block) {
  const FloatTag d;
  FloatVector change[kMergedVectors];
  for (int i = 0; i < kMergedVectors; ++i) {
    const FloatVector difference = hn::Sub(pilot[i], prior[i]);
    change[i] = hn::Mul(hn::Mul(difference, difference),
                        hn::Mul(values_at(step.inverse_variances, i), noise.inverse_factor));
  }
  average_neighbors(change);
  for (int i = 0; i < kMergedVectors; ++i) {
    const auto variance = hn::Max(hn::Mul(hn::Set(d, recursive::kChange), change[i]), noise.state);
    gains[i] = hn::Div(variance, hn::Add(variance, hn::Set(d, 1.0F)));
    block.merged[i] = hn::MulAdd(gains[i], hn::Sub(noisy[i], prior[i]), prior[i]);
  }
}

// The estimate, shrunk by the pilot, or by a threshold for patches of `block` without a prior.
HWY_INLINE void shrink(const PatchStep& step, const BlockNoise& noise, const FloatVector* pilot,
                       const FloatVector* gains, MergedBlock& block) {
  const FloatTag d;
  FloatVector total = hn::Zero(d);
  FloatVector total_gain = hn::Zero(d);
  for (int i = 0; i < kMergedVectors; ++i) {
    const FloatVector& x = block.merged[i];
    const auto variance = hn::Mul(gains[i], hn::Mul(values_at(step.variances, i), noise.factor));
    const auto left = hn::Mul(variance, hn::Set(d, recursive::kShrinkage));
    auto signal = hn::Mul(pilot[i], pilot[i]);
    FloatVector factor;
    if (step.second) {
      factor = hn::Div(signal, hn::Add(signal, left));
    } else {
      const auto above = hn::NegMulAdd(variance, hn::Set(d, step.threshold), hn::Mul(x, x));
      signal = hn::Max(signal, above);
      factor = hn::IfThenElse(block.known, hn::Div(signal, hn::Add(signal, left)),
                              hn::IfThenElseZero(hn::Gt(above, hn::Zero(d)), hn::Set(d, 1.0F)));
    }
    if (i == 0) {
      factor = hn::IfThenElse(is_constant_coefficient(), hn::Set(d, 1.0F), factor);
    }
    block.estimate[i] = hn::Mul(x, factor);
    total = hn::MulAdd(hn::Mul(factor, factor), gains[i], total);
    total_gain = hn::Add(total_gain, gains[i]);
  }
  block.gain = hn::Mul(sum_in_patches(total_gain), hn::Set(d, kPerCoefficient));
  block.weight =
      hn::Div(hn::Set(d, 1.0F), hn::Max(sum_in_patches(total), hn::Set(d, recursive::kLeastVariance)));
}

HWY_INLINE void merge_block(const PatchStep& step, const BlockNoise& noise, const BlockColumns& xs, int y,
                            MergedBlock& block) {
  const FloatTag d;
  FloatVector noisy[kMergedVectors];
  FloatVector prior[kMergedVectors];
  FloatVector pilot[kMergedVectors];
  FloatVector gains[kMergedVectors];
  load_coefficients(*step.noisy, xs, y, noisy);
  if (step.has_prior) {
    load_coefficients(*step.prior, xs, y, prior);
  }
  if (step.has_prior || step.second) {
    load_coefficients(*step.pilot, xs, y, pilot);
  }
  if (step.has_prior) {
    block.known = hn::FirstN(d, kLanes);
    if (step.second) {
      merge_second(step, noise, noisy, prior, pilot, gains, block);
    } else {
      merge_first(step, noise, noisy, prior, gains, block);
    }
  } else {
    block.known = hn::FirstN(d, 0);
    for (int i = 0; i < kMergedVectors; ++i) {
      gains[i] = hn::Set(d, 1.0F);
      block.merged[i] = noisy[i];
      pilot[i] = step.second ? pilot[i] : hn::Zero(d);
    }
  }
  shrink(step, noise, pilot, gains, block);
}

// Adds the i-th vector of a block, times its weights, to the sums from `first` on.
HWY_INLINE void add_vector(FloatVector values, FloatVector weights, int patch, float* to) {
  if constexpr (kPatchesPerBlock == 2) {
    const hn::Half<FloatTag> half;
    const auto of = [&](FloatVector v)
                        HWY_ATTR { return patch == 0 ? hn::LowerHalf(half, v) : hn::UpperHalf(half, v); };
    hn::StoreU(hn::MulAdd(of(values), of(weights), hn::LoadU(half, to)), half, to);
  } else {
    const FloatTag d;
    hn::StoreU(hn::MulAdd(values, weights, hn::LoadU(d, to)), d, to);
  }
}

HWY_INLINE void add_patch(const PatchStep& step, const MergedBlock& block, int patch, int x,
                          const PatchSums& sums) {
  const auto one = hn::Set(FloatTag(), 1.0F);
  for (int i = 0; i < kMergedVectors; ++i) {
    const std::ptrdiff_t offset = i / kParts * sums.pitch + x + i % kParts * kLanes;
    const FloatVector window = values_at(step.window, i);
    const FloatVector weight = hn::Mul(window, block.weight);
    add_vector(block.estimate[i], weight, patch, sums.estimates + offset);
    add_vector(one, weight, patch, sums.weights + offset);
    if (sums.merged != nullptr) {
      add_vector(block.merged[i], window, patch, sums.merged + offset);
    }
  }
}

HWY_ATTR void merge_patch_row(const PatchStep& step, const PatchRow& row, const PatchSums& sums) {
  const FloatTag d;
  const std::size_t count = row.xs.size();
  for (std::size_t i = 0; i < count; i += kPatchesPerBlock) {
    const std::size_t other = std::min(i + kPatchesPerBlock, count) - 1;
    const BlockColumns xs = {row.xs[i], row.xs[other]};
    const auto factor = of_patches(row.noise_factors[i], row.noise_factors[other]);
    const BlockNoise noise = {of_patches(row.state_variances[i], row.state_variances[other]), factor,
                              hn::Div(hn::Set(d, 1.0F), factor)};
    MergedBlock block;
    merge_block(step, noise, xs, row.y, block);
    inverse_2d<Dct8>(block.estimate);
    if (sums.merged != nullptr) {
      inverse_2d<Dct8>(block.merged);
    }
    const FloatVector unknown = hn::IfThenZeroElse(block.known, hn::Set(d, 1.0F));
    for (std::size_t patch = i; patch <= other; ++patch) {
      const int number = static_cast<int>(patch - i);
      add_patch(step, block, number, row.xs[patch], sums);
      row.gains[patch] = value_of_patch(block.gain, number);
      row.unknown[patch] = value_of_patch(unknown, number) > 0 ? 1 : 0;
    }
  }
}

HWY_ATTR void divide_sums(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT weights, int count,
                          float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = sums[i] / weights[i];
  }
}

HWY_ATTR void multiply_sums(const float* HWY_RESTRICT sums, const float* HWY_RESTRICT columns, float row,
                            int count, float* HWY_RESTRICT out) {
  for (int i = 0; i < count; ++i) {
    out[i] = sums[i] * columns[i] * row;
  }
}

HWY_ATTR float sum_of_squared_differences(const float* a, std::ptrdiff_t a_pitch, const float* b,
                                          std::ptrdiff_t b_pitch, int width, int height) {
  float sum = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const float difference = a[y * a_pitch + x] - b[y * b_pitch + x];
      sum += difference * difference;
    }
  }
  return sum;
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(fraction_in_windows);
HWY_EXPORT(warp_one_block);
HWY_EXPORT(merge_patch_row);
HWY_EXPORT(divide_sums);
HWY_EXPORT(multiply_sums);
HWY_EXPORT(sum_of_squared_differences);

recursive::EighthVector find_fraction(const GuideWindows& windows, int least_gain) {
  return HWY_DYNAMIC_DISPATCH(fraction_in_windows)(windows, least_gain);
}

void warp_block(const PaddedPlane& from, const recursive::EighthVector& vector, int x, int y, int rows,
                PaddedPlane& out) {
  HWY_DYNAMIC_DISPATCH(warp_one_block)(from, vector, x, y, rows, out);
}

void filter_patch_row(const PatchStep& step, const PatchRow& row, const PatchSums& sums) {
  const DenormalsAreZero zero;
  HWY_DYNAMIC_DISPATCH(merge_patch_row)(step, row, sums);
}

void divide_row(const float* sums, const float* weights, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(divide_sums)(sums, weights, count, out);
}

void multiply_row(const float* sums, const float* columns, float row, int count, float* out) {
  HWY_DYNAMIC_DISPATCH(multiply_sums)(sums, columns, row, count, out);
}

float squared_difference(const float* a, std::ptrdiff_t a_pitch, const float* b, std::ptrdiff_t b_pitch,
                         int width, int height) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squared_differences)(a, a_pitch, b, b_pitch, width, height);
}

}  // namespace limpid::cpu
#endif
