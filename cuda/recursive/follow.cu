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

__device__ __forceinline__ int guide_at(const std::uint8_t* guide, int stride, int x, int y) {
  return guide[static_cast<std::ptrdiff_t>(y) * stride + x];
}

// A warp processes a block: each lane has eight samples of row lane / 2 of the window.
__global__ void __launch_bounds__(kFractionWarps* kWarp) fraction_kernel(FractionJob job) {
  follow_stream();
  const int block = blockIdx.x * kFractionWarps + threadIdx.x / kWarp;
  if (block >= job.out.columns * job.out.rows) {
    return;
  }
  const int lane = threadIdx.x % kWarp;
  const MotionVector whole = job.vectors[block];
  const int x0 = block % job.out.columns * kSide - recursive::kWindowMargin + lane % 2 * kSide;
  const int y = block / job.out.columns * kSide - recursive::kWindowMargin + lane / 2;
  recursive::GradientSums sums;
  int before = 0;
  for (int i = 0; i < kSide; ++i) {
    const int u = x0 + i + whole.x;
    const int v = y + whole.y;
    const int dx =
        guide_at(job.reference, job.stride, u + 1, v) - guide_at(job.reference, job.stride, u - 1, v);
    const int dy =
        guide_at(job.reference, job.stride, u, v + 1) - guide_at(job.reference, job.stride, u, v - 1);
    const int t = guide_at(job.current, job.stride, x0 + i, y) - guide_at(job.reference, job.stride, u, v);
    sums.xx += dx * dx;
    sums.xy += dx * dy;
    sums.yy += dy * dy;
    sums.xt += dx * t;
    sums.yt += dy * t;
    before += abs(t);
  }
  sums = {sum_over_warp(sums.xx), sum_over_warp(sums.xy), sum_over_warp(sums.yy), sum_over_warp(sums.xt),
          sum_over_warp(sums.yt)};
  EighthVector fraction = recursive::fraction_of(sums);
  int after = 0;
  for (int i = 0; i < kSide; ++i) {
    const int u = x0 + i + whole.x + (fraction.x >> 3);
    const int v = y + whole.y + (fraction.y >> 3);
    const int value = recursive::between(
        guide_at(job.reference, job.stride, u, v), guide_at(job.reference, job.stride, u + 1, v),
        guide_at(job.reference, job.stride, u, v + 1), guide_at(job.reference, job.stride, u + 1, v + 1),
        fraction.x & (kEighths - 1), fraction.y & (kEighths - 1));
    after += abs(guide_at(job.current, job.stride, x0 + i, y) - value);
  }
  before = sum_over_warp(before);
  after = sum_over_warp(after);
  if (after >= before - job.least_gain) {
    fraction = {};
  }
  if (lane == 0) {
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
