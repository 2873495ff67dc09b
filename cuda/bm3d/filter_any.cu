// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/noise_curve.h"
#include "cuda/runtime/launch.h"

namespace limpid::cuda {
namespace {

// Any parameters: each block filters one group at a time, in global memory (a part of `scratch` per block, in
// practice in the second-level cache). A thread transforms a row or a column of a patch by the transform's
// matrix. Sums are 64-bit atomics. Many times slower than filter_fast().

constexpr int kThreads = 128;
constexpr int kMaxPatch = 16;
constexpr float kHalfSqrt = 0.707106781186548F;

__device__ float sum_over_warp(float value) {
  for (int i = 16; i > 0; i /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFU, value, i);
  }
  return value;
}

// a, b = (a + b, a - b) / sqrt 2.
__device__ void butterfly(float& a, float& b) {
  const float scaled = b * kHalfSqrt;
  b = fmaf(a, kHalfSqrt, -scaled);
  a = fmaf(a, kHalfSqrt, scaled);
}

struct AnyArguments {
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  GeneralFilter general;
  bool haar;
  bool wiener;
  float bound;                             // threshold or variance of noise with a relative variance of 1
  float variances[kMaxPatch * kMaxPatch];  // relative variances
  NoiseCurve curve;
  const float* brightness;
  float weight_scale;
  float sum_scale;
  float greatest_contribution;
};

// The noise of the 2D transform's coefficients, for shrinkage, in shared memory.
struct Noise {
  float bounds[kMaxPatch * kMaxPatch];     // thresholds; variances in the second step
  float variances[kMaxPatch * kMaxPatch];  // relative variances; their roots in the second step

  __device__ void set(const AnyArguments& arguments) {
    for (int i = threadIdx.x; i < arguments.grid.patch * arguments.grid.patch; i += kThreads) {
      const float variance = arguments.variances[i];
      const float deviation = sqrtf(variance);
      bounds[i] = arguments.bound * (arguments.wiener ? variance : deviation);
      variances[i] = arguments.wiener ? deviation : variance;
    }
  }
};

// Transforms `count` lines of k values, at a distance of `stride`, in place.
__device__ void transform_line(const float* matrix, int k, float* line, int stride) {
  float in[kMaxPatch];
  for (int i = 0; i < k; ++i) {
    in[i] = line[i * stride];
  }
  for (int r = 0; r < k; ++r) {
    float sum = 0;
    for (int i = 0; i < k; ++i) {
      sum = fmaf(matrix[r * k + i], in[i], sum);
    }
    line[r * stride] = sum;
  }
}

__device__ void transform_patches(const float* matrix, int k, int size, float* group) {
  for (int i = threadIdx.x; i < size * k; i += kThreads) {
    transform_line(matrix, k, group + static_cast<std::ptrdiff_t>(i) * k, 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size * k; i += kThreads) {
    transform_line(matrix, k, group + static_cast<std::ptrdiff_t>(i / k) * k * k + i % k, k);
  }
  __syncthreads();
}

__device__ void transform_across(bool haar, bool forward, int size, int samples, float* group) {
  for (int level = 1; level < size; level *= 2) {
    const int half = forward ? level : size / 2 / level;
    for (int i = threadIdx.x; i < size / 2 * samples; i += kThreads) {
      const int pair = i / samples;
      const int patch = pair / half * 2 * half + pair % half;
      if (!haar || patch % (2 * half) == 0) {
        float* a = group + static_cast<std::ptrdiff_t>(patch) * samples + i % samples;
        butterfly(a[0], a[half * samples]);
      }
    }
    __syncthreads();
  }
}

__device__ void load_patches(const AnyArguments& arguments, const FloatPlane& plane,
                             const std::int16_t* members, int size, int rx, int ry, float* group) {
  const int k = arguments.grid.patch;
  for (int i = threadIdx.x; i < size * k * k; i += kThreads) {
    const std::int16_t member = member_of(members, i / (k * k));
    const int y = ry + offset_y(member) + i % (k * k) / k;
    const int x = rx + offset_x(member) + i % k;
    group[i] = plane.data[static_cast<std::ptrdiff_t>(y) * plane.pitch + x];
  }
  __syncthreads();
  transform_patches(arguments.general.forward, k, size, group);
  transform_across(arguments.haar, true, size, k * k, group);
}

// Adds in a fixed order, so that results are deterministic.
__device__ float sum_over_block(float value) {
  __shared__ float sums[kThreads / 32];
  value = sum_over_warp(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    sums[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float sum = 0;
  for (const float part : sums) {
    sum += part;
  }
  return sum;
}

// The group of a block: `size` patches at `members`, offsets from the reference patch at (rx, ry).
struct Group {
  const std::int16_t* members;
  int size;
  int rx;
  int ry;
  float* coefficients;  // coefficients of the noisy patches
  float* basic;         // coefficients of the basic estimate
};

__device__ Group group_of(const AnyArguments& arguments, int number) {
  const ReferenceGrid& grid = arguments.grid;
  const int capacity = arguments.groups.capacity;
  const int samples = grid.patch * grid.patch;
  Group group;
  group.members = arguments.groups.members + static_cast<std::ptrdiff_t>(number) * capacity;
  group.size = group.members[0];
  group.rx = grid.x(number % grid.columns);
  group.ry = grid.y(arguments.groups.first_row + number / grid.columns);
  group.coefficients =
      arguments.general.scratch + static_cast<std::ptrdiff_t>(2 * blockIdx.x) * capacity * samples;
  group.basic = group.coefficients + static_cast<std::ptrdiff_t>(capacity) * samples;
  return group;
}

// The coefficients of a group that belong to a thread, one after the other.
struct Coefficient {
  int of_group;
  int of_patch;
  int samples;
  int stride;

  __device__ explicit Coefficient(int patch_samples)
      : of_group(threadIdx.x),
        of_patch(of_group % patch_samples),
        samples(patch_samples),
        stride(kThreads % patch_samples) {}
  __device__ void next() {
    of_group += kThreads;
    of_patch += stride;
    of_patch -= of_patch >= samples ? samples : 0;
  }
};

// The first step: sets coefficients to zero that do not exceed the threshold, except the group's mean.
// Returns the relative variance of the noise that the thread has kept.
__device__ float threshold_group(const Noise& noise, float deviation, const Group& group, int samples) {
  float kept = 0;
  for (Coefficient i(samples); i.of_group < group.size * samples; i.next()) {
    const bool keep =
        i.of_group == 0 || fabsf(group.coefficients[i.of_group]) > noise.bounds[i.of_patch] * deviation;
    group.coefficients[i.of_group] = keep ? group.coefficients[i.of_group] : 0.0F;
    kept += keep ? noise.variances[i.of_patch] : 0.0F;
  }
  return kept;
}

// The second step: multiplies by the Wiener factors. Returns the relative variance of the remaining noise.
__device__ float shrink_group(const Noise& noise, float deviation, const Group& group, int samples) {
  float energy = 0;
  for (Coefficient i(samples); i.of_group < group.size * samples; i.next()) {
    const float signal = group.basic[i.of_group] * group.basic[i.of_group];
    // Rounded separately, so that results for white noise are bit-exact with and without a curve.
    const float variance = __fmul_rn(noise.bounds[i.of_patch], deviation * deviation);
    const float factor = signal / (signal + variance);
    group.coefficients[i.of_group] *= factor;
    const float kept = factor * noise.variances[i.of_patch];
    energy += kept * kept;
  }
  return energy;
}

// Adds the group's samples to the plane's sums.
__device__ void add_group(const AnyArguments& arguments, const Group& group, int k, int weight_units) {
  const int samples = k * k;
  const float scale = static_cast<float>(weight_units) * arguments.sum_scale;
  for (int i = threadIdx.x; i < group.size * samples; i += kThreads) {
    const std::int16_t member = member_of(group.members, i / samples);
    const int y = group.ry + offset_y(member);
    const int x = group.rx + offset_x(member);
    const float value = fminf(fmaxf((group.coefficients[i] - arguments.sums.offset) * scale,
                                    -arguments.greatest_contribution),
                              arguments.greatest_contribution) *
                        arguments.general.window[i % samples];
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(y + i % samples / k) * arguments.grid.width + x + i % k;
    atomicAdd(reinterpret_cast<unsigned long long*>(arguments.sums.numerator) + at,
              static_cast<unsigned long long>(__float2ll_rn(value)));
    if (i % samples == 0) {
      atomicAdd(arguments.sums.weight + static_cast<std::ptrdiff_t>(y) * arguments.grid.width + x,
                weight_units);
    }
  }
}

__global__ void __launch_bounds__(kThreads) filter_any_kernel(AnyArguments arguments) {
  follow_stream();
  __shared__ Noise noise;
  static_assert(sizeof(noise) <= DeviceLimits::kStaticSharedMemory);
  noise.set(arguments);
  __syncthreads();
  const ReferenceGrid& grid = arguments.grid;
  const int k = grid.patch;
  const int samples = k * k;
  const int count = grid.columns * (arguments.groups.last_row - arguments.groups.first_row);
  for (int number = blockIdx.x; number < count; number += gridDim.x) {
    const Group group = group_of(arguments, number);
    load_patches(arguments, arguments.noisy, group.members, group.size, group.rx, group.ry,
                 group.coefficients);
    // The deviation for the brightness of the group's mean.
    const auto deviation_by = [&](const float* coefficients) {
      const float mean = coefficients[0] / (static_cast<float>(k) * sqrtf(static_cast<float>(group.size)));
      __syncthreads();
      return arguments.curve.at(
          brightness_of_group(arguments.brightness, arguments.groups.first_row * grid.columns + number),
          mean);
    };
    float deviation;
    float part;
    if (arguments.wiener) {
      load_patches(arguments, arguments.basic, group.members, group.size, group.rx, group.ry, group.basic);
      deviation = deviation_by(group.basic);
      part = shrink_group(noise, deviation, group, samples);
    } else {
      deviation = deviation_by(group.coefficients);
      part = threshold_group(noise, deviation, group, samples);
    }
    const float weight =
        1.0F / fmaxf(1.0F, sum_over_block(part)) * weight_factor(arguments.curve.least, deviation);
    const int weight_units = max(__float2int_rn(weight * arguments.weight_scale), 1);
    transform_across(arguments.haar, false, group.size, samples, group.coefficients);
    transform_patches(arguments.general.inverse, k, group.size, group.coefficients);
    add_group(arguments, group, k, weight_units);
    __syncthreads();
  }
}

}  // namespace

void filter_any(const FilterJob& job, cudaStream_t stream) {
  AnyArguments arguments{};
  arguments.grid = job.grid;
  arguments.groups = job.groups;
  arguments.noisy = job.noisy;
  arguments.basic = job.basic;
  arguments.sums = job.sums;
  arguments.general = job.general;
  arguments.haar = job.step.transform_1d == Transform1d::kHaar;
  arguments.wiener = job.basic.data != nullptr;
  arguments.bound = arguments.wiener ? job.sigma * job.sigma : coefficient_threshold(job.lambda, job.sigma);
  std::copy(job.variances.begin(), job.variances.end(), arguments.variances);
  arguments.curve = make_curve(job.curve);
  arguments.brightness = job.brightness;
  arguments.weight_scale = std::ldexp(1.0F, job.sums.weight_bits);
  arguments.sum_scale = std::ldexp(job.sums.numerator_scale, -job.sums.weight_bits);
  arguments.greatest_contribution = job.fixed_point.greatest_contribution;
  launch(filter_any_kernel, GeneralFilter::blocks(), kThreads, 0, stream, arguments);
}

}  // namespace limpid::cuda
