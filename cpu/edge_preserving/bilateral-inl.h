// SPDX-License-Identifier: MIT
// The bilateral filters. Compiled once for each SIMD target by Highway's foreach_target, hence the toggled
// include guard.
#if defined(LIMPID_CPU_BILATERAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_BILATERAL_INL_H_
#undef LIMPID_CPU_BILATERAL_INL_H_
#else
#define LIMPID_CPU_BILATERAL_INL_H_
#endif

#include <hwy/highway.h>

#include "cpu/edge_preserving/edge_preserving_kernels.h"
#include "cpu/edge_preserving/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

// Two vectors of samples at a time share the loads of exponents. The processor overlaps the exponentials of
// successive neighbors.
constexpr int kBilateralVectors = 2;

// Calls add(v, difference to the neighbor, weight exponent of the distance) for each neighbor of
// kBilateralVectors vectors of samples from `center` on, vector by vector.
template <class Add>
HWY_INLINE void for_each_neighbor(const BilateralJob& job, const float* center, const FloatVector* samples,
                                  const Add& add) {
  const FloatTag d;
  const int radius = job.weights.radius;
  const float* exponent = job.exponents.data();
  for (int dy = -radius; dy <= radius; ++dy) {
    const float* row = center + dy * job.pitch - radius;
    for (int dx = 0; dx <= 2 * radius; ++dx) {
      const FloatVector spatial = hn::Set(d, *exponent++);
      for (int v = 0; v < kBilateralVectors; ++v) {
        add(v, hn::Sub(hn::LoadU(d, row + dx + v * kLanes), samples[v]), spatial);
      }
    }
  }
}

HWY_INLINE void load_samples(const float* center, FloatVector* samples) {
  for (int v = 0; v < kBilateralVectors; ++v) {
    samples[v] = hn::LoadU(FloatTag(), center + v * kLanes);
  }
}

// The result for kBilateralVectors vectors from `center` on.
template <bool kBounded>
HWY_INLINE void plain_bilateral_vectors(const BilateralJob& job, const float* center,
                                        float* HWY_RESTRICT out) {
  const FloatTag d;
  FloatVector samples[kBilateralVectors];
  FloatVector sums[kBilateralVectors];
  FloatVector weights[kBilateralVectors];
  load_samples(center, samples);
  for (int v = 0; v < kBilateralVectors; ++v) {
    sums[v] = weights[v] = hn::Zero(d);
  }
  for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
    const FloatVector weight = exp2_of_shifted<kBounded>(hn::NegMulAdd(difference, difference, spatial));
    sums[v] = hn::MulAdd(weight, difference, sums[v]);
    weights[v] = hn::Add(weights[v], weight);
  });
  const FloatVector unscale = hn::Set(d, 1 / job.scale);
  for (int v = 0; v < kBilateralVectors; ++v) {
    const FloatVector mean = hn::Add(samples[v], hn::Div(sums[v], weights[v]));
    hn::StoreU(hn::Mul(mean, unscale), d, out + v * kLanes);
  }
}

inline HWY_ATTR void plain_bilateral_row(const BilateralJob& job, int y, float* HWY_RESTRICT out) {
  const int radius = job.weights.radius;
  const bool inner_row = job.bounded && y >= radius && y < job.height - radius;
  constexpr int kPixels = kBilateralVectors * kLanes;
  for (int x = 0; x < job.width; x += kPixels) {
    const float* center = job.row(y) + x;
    if (inner_row && x >= radius && x + kPixels + radius <= job.width) {
      plain_bilateral_vectors<true>(job, center, out + x);
    } else {
      plain_bilateral_vectors<false>(job, center, out + x);
    }
  }
}

inline HWY_ATTR void adaptive_bilateral_row(const BilateralJob& job, int y, float* HWY_RESTRICT out) {
  const FloatTag d;
  for (int x = 0; x < job.width; x += kBilateralVectors * kLanes) {
    const float* center = job.row(y) + x;
    FloatVector samples[kBilateralVectors];
    FloatVector sums[kBilateralVectors];
    FloatVector weights[kBilateralVectors];
    FloatVector range[kBilateralVectors];
    load_samples(center, samples);
    for (int v = 0; v < kBilateralVectors; ++v) {
      sums[v] = weights[v] = hn::Zero(d);
    }
    const FloatVector first_range = hn::Set(d, job.weights.range);
    for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
      const FloatVector square = hn::Mul(difference, difference);
      const FloatVector weight = exp2_of_shifted(hn::NegMulAdd(square, first_range, spatial));
      sums[v] = hn::MulAdd(weight, square, sums[v]);
      weights[v] = hn::Add(weights[v], weight);
    });
    for (int v = 0; v < kBilateralVectors; ++v) {
      const FloatVector variance = hn::Div(sums[v], weights[v]);
      range[v] = hn::Div(hn::Set(d, job.adapted_range), hn::Add(variance, hn::Set(d, job.epsilon)));
      sums[v] = weights[v] = hn::Zero(d);
    }
    for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
      const FloatVector scaled = hn::Mul(difference, range[v]);
      const FloatVector weight = exp2_of_shifted(hn::NegMulAdd(scaled, difference, spatial));
      sums[v] = hn::MulAdd(weight, difference, sums[v]);
      weights[v] = hn::Add(weights[v], weight);
    });
    for (int v = 0; v < kBilateralVectors; ++v) {
      hn::StoreU(hn::Add(samples[v], hn::Div(sums[v], weights[v])), d, out + x + v * kLanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
