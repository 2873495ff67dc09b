// SPDX-License-Identifier: MIT
#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/powers.h"

// A thread makes kRows samples of a column. A warp's threads are adjacent, so that each load of a neighbor
// serves a warp's columns and kRows weights per thread. Samples are read through the first-level cache, which
// holds the rows of a block's window. Shared memory: the spatial exponents of a column. Bound by the special
// function unit: a power of two for each weight.

namespace limpid::cuda {
namespace {

constexpr int kRows = 4;
constexpr int kWarps = 4;
constexpr int kMaxRadius = 64;
constexpr float kNever = 1e30F;  // an exponent that gives a weight of 0

struct AnyArguments {
  FloatPlane in;
  FloatPlane out;
  FloatPlane variance;
  AdaptiveBilateralWeights weights;
};

template <BilateralPass kPass>
__global__ void __launch_bounds__(32 * kWarps) bilateral_any_kernel(AnyArguments arguments) {
  // The exponent of row k of a thread's window for its sample i is at [k - i + kRows - 1].
  __shared__ float row_exponents[2 * kMaxRadius + 1 + 2 * (kRows - 1)];
  const FloatPlane& in = arguments.in;
  const int radius = arguments.weights.first.radius;
  const float spatial = arguments.weights.first.spatial;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 2 * radius + 1 + 2 * (kRows - 1); i += 32 * kWarps) {
    const int dy = i - (kRows - 1) - radius;
    row_exponents[i] = abs(dy) <= radius ? spatial * static_cast<float>(dy * dy) : kNever;
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = (blockIdx.y * kWarps + threadIdx.y) * kRows;
  if (x >= in.width || y >= in.height) {
    return;
  }
  float own[kRows];
  float range[kRows];
  float weight[kRows] = {};
  float sum[kRows] = {};
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int row = min(y + i, in.height - 1);
    own[i] = in.data[static_cast<std::ptrdiff_t>(row) * in.pitch + x];
    range[i] = arguments.weights.first.range;
    if constexpr (kPass == BilateralPass::kAdapted) {
      const FloatPlane& variance = arguments.variance;
      range[i] =
          arguments.weights.adapted_range /
          (variance.data[static_cast<std::ptrdiff_t>(row) * variance.pitch + x] + arguments.weights.epsilon);
    }
  }
  const int first_row = max(y - radius, 0);
  const int last_row = min(y + kRows - 1 + radius, in.height - 1);
  for (int dx = -radius; dx <= radius; ++dx) {
    const bool inside = x + dx >= 0 && x + dx < in.width;
    const float column_exponent = inside ? spatial * static_cast<float>(dx * dx) : kNever;
    const float* column = in.data + (inside ? x + dx : x);
    for (int row = first_row; row <= last_row; ++row) {
      const float value = column[static_cast<std::ptrdiff_t>(row) * in.pitch];
      const float* exponents = row_exponents + row - (y - radius) + kRows - 1;
#pragma unroll
      for (int i = 0; i < kRows; ++i) {
        const float difference = value - own[i];
        const float exponent = fmaf(difference * range[i], difference, column_exponent + exponents[-i]);
        const float w = power_of_two(-exponent);
        weight[i] += w;
        sum[i] = fmaf(kPass == BilateralPass::kVariance ? w * difference : w, difference, sum[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (y + i < in.height) {
      const FloatPlane& out = kPass == BilateralPass::kVariance ? arguments.variance : arguments.out;
      const float mean = sum[i] / weight[i];
      out.data[static_cast<std::ptrdiff_t>(y + i) * out.pitch + x] =
          kPass == BilateralPass::kVariance ? mean : own[i] + mean;
    }
  }
}

}  // namespace

void bilateral_any(const BilateralJob& job, cudaStream_t stream) {
  const AnyArguments arguments{job.noisy, job.result, job.variance, job.weights};
  const dim3 grid(static_cast<unsigned>((job.width + 31) / 32),
                  static_cast<unsigned>((job.height + kRows * kWarps - 1) / (kRows * kWarps)));
  const dim3 block(32, kWarps);
  switch (job.pass) {
    case BilateralPass::kMean:
      bilateral_any_kernel<BilateralPass::kMean><<<grid, block, 0, stream>>>(arguments);
      break;
    case BilateralPass::kVariance:
      bilateral_any_kernel<BilateralPass::kVariance><<<grid, block, 0, stream>>>(arguments);
      break;
    case BilateralPass::kAdapted:
      bilateral_any_kernel<BilateralPass::kAdapted><<<grid, block, 0, stream>>>(arguments);
      break;
  }
  check_launch();
}

}  // namespace limpid::cuda
