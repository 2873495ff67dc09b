// SPDX-License-Identifier: MIT
#include "cpu/edge_preserving/edge_preserving_kernels.h"

#include <algorithm>
#include <cmath>

#include "cpu/runtime/denormals.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/edge_preserving/edge_preserving_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/edge_preserving/bilateral-inl.h"
#include "cpu/edge_preserving/exp2-inl.h"
#include "cpu/edge_preserving/nlm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

HWY_ATTR void powers(const float* x, int count, float* out) {
  const FloatTag d;
  for (int i = 0; i < count; i += kLanes) {
    hn::StoreU(exp2_of_shifted(hn::Add(hn::LoadU(d, x + i), hn::Set(d, kExp2Shift))), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(plain_bilateral_row);
HWY_EXPORT(adaptive_bilateral_row);
HWY_EXPORT(filter_tile);
HWY_EXPORT(powers);

void BilateralJob::prepare(const BilateralWeights& new_weights, const FrameFormat& format, int new_width,
                           int new_height) {
  weights = new_weights;
  adaptive = false;
  // Only bytes are certain to be within the range.
  constexpr float kMost = 126;
  const float farthest = 2.0F * static_cast<float>(weights.radius * weights.radius);
  bounded = format.sample_type == SampleType::kUint8 &&
            weights.range * 255 * 255 + weights.spatial * farthest < kMost;
  scale = std::sqrt(weights.range);
  lay_out(new_width, new_height);
}

void BilateralJob::prepare(const AdaptiveBilateralWeights& new_weights, int new_width, int new_height) {
  weights = new_weights.first;
  adaptive = true;
  bounded = false;
  adapted_range = new_weights.adapted_range;
  epsilon = new_weights.epsilon;
  scale = 1;
  lay_out(new_width, new_height);
}

void BilateralJob::lay_out(int new_width, int new_height) {
  width = new_width;
  height = new_height;
  pitch = width + 2 * weights.radius + kRowSlack;
  samples.resize(static_cast<std::size_t>(height + 2 * weights.radius) * pitch);
  exponents.clear();
  for (int dy = -weights.radius; dy <= weights.radius; ++dy) {
    for (int dx = -weights.radius; dx <= weights.radius; ++dx) {
      exponents.push_back(kExp2Shift - weights.spatial * static_cast<float>(dx * dx + dy * dy));
    }
  }
}

float* BilateralJob::begin_row(int y) {
  float* begin = samples.data() + (y + weights.radius) * pitch;
  if (y < 0 || y >= height) {
    std::fill_n(begin, pitch, kOutside);
  } else {
    std::fill_n(begin, weights.radius, kOutside);
    std::fill(begin + weights.radius + width, begin + pitch, kOutside);
  }
  return begin + weights.radius;
}

void bilateral_row(const BilateralJob& job, int y, float* out) {
  const DenormalsAreZero zero;
  if (job.adaptive) {
    HWY_DYNAMIC_DISPATCH(adaptive_bilateral_row)(job, y, out);
  } else {
    HWY_DYNAMIC_DISPATCH(plain_bilateral_row)(job, y, out);
  }
}

void PatchJob::prepare(const PatchWeights& new_weights, int new_width, int new_height) {
  weights = new_weights;
  width = new_width;
  height = new_height;
  pitch = width + kRowSlack;
  samples.resize(static_cast<std::size_t>(height) * pitch);
  pairs.resize(2 * static_cast<std::size_t>(height + weights.patch_radius) * pitch);
}

void PatchJob::set_matching_row(int y, const std::int16_t* values) {
  const auto set = [&](int pair_row, int place) {
    if (pair_row < height) {
      std::int16_t* out = pairs.data() + 2 * (pair_row + weights.patch_radius) * pitch + place;
      for (int x = 0; x < width; ++x) {
        out[2 * x] = values[x];
      }
    }
  };
  set(y - weights.patch_radius, 0);
  set(y + weights.patch_radius + 1, 1);
}

void patch_tile(const PatchJob& job, const PatchTile& tile, PatchScratch& scratch, float* out) {
  const DenormalsAreZero zero;
  HWY_DYNAMIC_DISPATCH(filter_tile)(job, tile, scratch, out);
}

void exp2_row(const float* x, int count, float* out) {
  const DenormalsAreZero zero;
  HWY_DYNAMIC_DISPATCH(powers)(x, count, out);
}

}  // namespace limpid::cpu
#endif
