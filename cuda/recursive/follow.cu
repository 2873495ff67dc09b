// SPDX-License-Identifier: MIT
#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Fractions of motion vectors, and the state along them.

namespace limpid::cuda {
namespace {

using recursive::EighthVector;
using recursive::kEighths;

constexpr int kFractionWarps = 4;
constexpr int kSide = recursive::kPatch;

// The reference's window and its surroundings, of which fractions take a sample on the left and at the top,
// and two on the right and at the bottom.
constexpr int kBefore = 1;
constexpr int kSpan = recursive::kWindow + kBefore + 2;
constexpr int kSpanStride = 20;
static_assert(kSpan <= kSpanStride && kSpan <= kWarp);

// Each warp processes a block. A lane has eight samples of the window, of the row lane / 2.
class WindowLane {
 public:
  // (x, y): the place of the window in the current guide; `whole`: the vector to the reference.
  __device__ WindowLane(const FractionJob& job, int x, int y, const MotionVector& whole, std::uint8_t* span)
      : span_(span),
        row_(static_cast<int>(threadIdx.x % kWarp) / 2),
        column_(static_cast<int>(threadIdx.x % 2) * kSide) {
    const int lane = threadIdx.x % kWarp;
    if (lane < kSpan) {
      const std::uint8_t* from = job.reference +
                                 static_cast<std::ptrdiff_t>(y + whole.y - kBefore) * job.stride + x +
                                 whole.x - kBefore + lane;
#pragma unroll
      for (int i = 0; i < kSpan; ++i, from += job.stride) {
        span[i * kSpanStride + lane] = *from;
      }
    }
    const std::uint8_t* const own =
        job.current + static_cast<std::ptrdiff_t>(y + row_) * job.stride + x + column_;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      current_[i] = own[i];
    }
    __syncwarp();
  }

  // The sums of the lane, and its sum of absolute differences by the whole vector.
  __device__ recursive::GradientSums gradients(int& difference) const {
    recursive::GradientSums sums;
    difference = 0;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      const int dx = at(i + 1, 0) - at(i - 1, 0);
      const int dy = at(i, 1) - at(i, -1);
      const int t = current_[i] - at(i, 0);
      sums.xx += dx * dx;
      sums.xy += dx * dy;
      sums.yy += dy * dy;
      sums.xt += dx * t;
      sums.yt += dy * t;
      difference += abs(t);
    }
    return sums;
  }
  // The sum of absolute differences by a fraction added to the vector.
  __device__ int difference_by(const EighthVector& fraction) const {
    const int u = fraction.x >> 3;
    const int v = fraction.y >> 3;
    int difference = 0;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      const int value =
          recursive::between(at(i + u, v), at(i + u + 1, v), at(i + u, v + 1), at(i + u + 1, v + 1),
                             fraction.x & (kEighths - 1), fraction.y & (kEighths - 1));
      difference += abs(current_[i] - value);
    }
    return difference;
  }

 private:
  __device__ int at(int x, int y) const {
    return span_[(row_ + y + kBefore) * kSpanStride + column_ + x + kBefore];
  }

  const std::uint8_t* span_;
  int row_;
  int column_;
  int current_[kSide];
};

__global__ void __launch_bounds__(kFractionWarps* kWarp) fraction_kernel(FractionJob job) {
  follow_stream();
  __shared__ std::uint8_t spans[kFractionWarps][kSpan * kSpanStride];
  const int block = blockIdx.x * kFractionWarps + threadIdx.x / kWarp;
  if (block >= job.out.columns * job.out.rows) {
    return;
  }
  const MotionVector whole = job.vectors[block];
  const WindowLane lane(job, block % job.out.columns * kSide - recursive::kWindowMargin,
                        block / job.out.columns * kSide - recursive::kWindowMargin, whole,
                        spans[threadIdx.x / kWarp]);
  int before = 0;
  recursive::GradientSums sums = lane.gradients(before);
  sums = {sum_over_warp(sums.xx), sum_over_warp(sums.xy), sum_over_warp(sums.yy), sum_over_warp(sums.xt),
          sum_over_warp(sums.yt)};
  EighthVector fraction = recursive::fraction_of(sums);
  before = sum_over_warp(before);
  const int after = sum_over_warp(lane.difference_by(fraction));
  if (after >= before - job.least_gain) {
    fraction = {};
  }
  if (threadIdx.x % kWarp == 0) {
    job.out.vectors[block] = {kEighths * whole.x + fraction.x, kEighths * whole.y + fraction.y};
  }
}

struct InterpolationWeights {
  std::array<std::array<float, recursive::kTaps>, kEighths> of;
};

__device__ float variance_at(const VarianceCells& cells, float x, float y) {
  constexpr float kCenter = 0.5F * (kSide - 1);
  const float column = fminf(fmaxf((x - kCenter) / kSide, 0.0F), static_cast<float>(cells.columns - 1));
  const float row = fminf(fmaxf((y - kCenter) / kSide, 0.0F), static_cast<float>(cells.rows - 1));
  const int left = static_cast<int>(column);
  const int top = static_cast<int>(row);
  const auto on_row = [&](int r) {
    const float* values = cells.values + static_cast<std::ptrdiff_t>(min(r, cells.rows - 1)) * cells.columns;
    const float other = values[min(left + 1, cells.columns - 1)];
    return values[left] + (column - static_cast<float>(left)) * (other - values[left]);
  };
  const float upper = on_row(top);
  return upper + (row - static_cast<float>(top)) * (on_row(top + 1) - upper);
}

constexpr int kWarpedSpan = kSide + recursive::kTaps - 1;

// A block of 8 x 8 threads processes a block of motion, which has fewer samples in subsampled planes.
__global__ void __launch_bounds__(kSide* kSide) warp_kernel(WarpJob job, InterpolationWeights weights) {
  follow_stream();
  __shared__ float samples[kWarpedSpan][kWarpedSpan + 1];
  __shared__ float lines[kWarpedSpan][kSide];
  const int width = kSide >> job.shift_x;
  const int height = kSide >> job.shift_y;
  const int column = min(static_cast<int>(blockIdx.x), job.blocks.columns - 1);
  const int row = min(static_cast<int>(blockIdx.y), job.blocks.rows - 1);
  const int block = row * job.blocks.columns + column;
  const EighthVector of_luma = job.blocks.vectors[block];
  const EighthVector vector = {recursive::subsampled(of_luma.x, job.shift_x),
                               recursive::subsampled(of_luma.y, job.shift_y)};
  const int x0 = blockIdx.x * width;
  const int y0 = blockIdx.y * height;
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const bool inside = tx < width && ty < height && x0 + tx < job.merged.width && y0 + ty < job.merged.height;
  const auto interpolate = [&](const FloatPlane& from, const FloatPlane& to) {
    for (int i = ty * kSide + tx; i < kWarpedSpan * kWarpedSpan; i += kSide * kSide) {
      const int x = x0 + (vector.x >> 3) + i % kWarpedSpan - recursive::kTapsBefore;
      const int y = y0 + (vector.y >> 3) + i / kWarpedSpan - recursive::kTapsBefore;
      samples[i / kWarpedSpan][i % kWarpedSpan] =
          from.data[static_cast<std::ptrdiff_t>(min(max(y, 0), from.height - 1)) * from.pitch +
                    min(max(x, 0), from.width - 1)];
    }
    __syncthreads();
    for (int line = ty; line < kWarpedSpan; line += kSide) {
      float sum = 0;
      for (int tap = 0; tap < recursive::kTaps; ++tap) {
        sum = fmaf(samples[line][tx + tap], weights.of[vector.x & (kEighths - 1)][tap], sum);
      }
      lines[line][tx] = sum;
    }
    __syncthreads();
    float sum = 0;
    for (int tap = 0; tap < recursive::kTaps; ++tap) {
      sum = fmaf(lines[ty + tap][tx], weights.of[vector.y & (kEighths - 1)][tap], sum);
    }
    if (inside) {
      to.data[static_cast<std::ptrdiff_t>(y0 + ty) * to.pitch + x0 + tx] = sum;
    }
    __syncthreads();
  };
  interpolate(job.merged, job.prior);
  if (job.pilot.data != nullptr) {
    interpolate(job.result, job.pilot);
  }
  if (tx == 0 && ty == 0 && blockIdx.x == column && blockIdx.y == row) {
    const auto center = [](int begin, int side, int eighths) {
      return static_cast<float>(begin) + 0.5F * static_cast<float>(side - 1) +
             static_cast<float>(eighths) / kEighths;
    };
    job.block_variances[block] =
        variance_at(job.variances, center(x0, width, vector.x), center(y0, height, vector.y));
  }
}

}  // namespace

void find_fractions(const FractionJob& job, cudaStream_t stream) {
  launch(fraction_kernel, dim3(blocks_for(job.out.columns * job.out.rows, kFractionWarps)),
         dim3(kFractionWarps * kWarp), 0, stream, job);
}

void warp_state(const WarpJob& job, cudaStream_t stream) {
  launch(warp_kernel,
         dim3(blocks_for(job.merged.width, kSide >> job.shift_x),
              blocks_for(job.merged.height, kSide >> job.shift_y)),
         dim3(kSide, kSide), 0, stream, job, InterpolationWeights{recursive::interpolation_weights()});
}

}  // namespace limpid::cuda
