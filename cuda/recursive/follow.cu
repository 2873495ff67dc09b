// SPDX-License-Identifier: MIT

#include <algorithm>

#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Detection of repeated frames, and small operations on the state.

namespace limpid::cuda {
namespace {

constexpr int kCompared = recursive::kPatch;
constexpr int kCompareWarps = 8;

// A warp processes adjacent blocks of 8 x 8 samples; each lane has a column. Few threads write, as all write
// to one place. If an earlier component differs, the others do not matter.
__global__ void __launch_bounds__(kCompareWarps* kWarp)
    compare_kernel(FloatPlane noisy, FloatPlane last, float variance, int component, RecursionFlags* flags) {
  follow_stream();
  const int x = (blockIdx.x * kCompareWarps + threadIdx.x / kWarp) * kWarp + threadIdx.x % kWarp;
  const int begin = blockIdx.y * kCompared;
  const auto differs = [flags] { return *static_cast<volatile int*>(&flags->different) != 0; };
  if (__syncthreads_or(differs() ? 1 : 0) != 0) {
    return;
  }
  float sum = 0;
  int count = 0;
#pragma unroll
  for (int i = 0; i < kCompared; ++i) {
    const int y = begin + i;
    if (x < noisy.width && y < noisy.height) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * noisy.pitch + x;
      const float difference = noisy.data[at] - last.data[at];
      sum += difference * difference;
      ++count;
    }
  }
#pragma unroll
  for (int i = 1; i < kCompared; i *= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, i);
    count += __shfl_xor_sync(kAllLanes, count, i);
  }
  const float unit = variance * static_cast<float>(count);
  const bool is_first = threadIdx.x % kCompared == 0 && count > 0;
  const unsigned near = __ballot_sync(kAllLanes, is_first && sum <= recursive::kRepeatNear * unit);
  if (__syncthreads_or(is_first && sum > recursive::kRepeatLimit * unit ? 1 : 0) != 0) {
    if (threadIdx.x == 0 && !differs()) {
      flags->different = 1;
    }
  } else if (threadIdx.x % kWarp == 0 && near != 0) {
    atomicAdd(&flags->near[component], __popc(near));
  }
}

struct ComparedBlocks {
  int of[RecursionFlags::kComponents];
};

__global__ void decide_repeat_kernel(ComparedBlocks blocks, RecursionFlags* flags) {
  follow_stream();
  bool repeats = flags->different == 0;
  for (int c = 0; c < RecursionFlags::kComponents; ++c) {
    repeats = repeats && static_cast<float>(flags->near[c]) >=
                             recursive::kRepeatShare * static_cast<float>(blocks.of[c]);
  }
  flags->repeats = repeats ? 1 : 0;
}

__global__ void scale_kernel(float* values, int count, float factor) {
  follow_stream();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] *= factor;
  }
}

}  // namespace

void compare_frames(const FloatPlane& noisy, const FloatPlane& last, float variance, int component,
                    RecursionFlags* flags, cudaStream_t stream) {
  launch(compare_kernel,
         dim3(blocks_for(noisy.width, kCompareWarps * kWarp), blocks_for(noisy.height, kCompared)),
         dim3(kCompareWarps * kWarp), 0, stream, noisy, last, variance, component, flags);
}

void decide_repeat(const std::array<int, RecursionFlags::kComponents>& blocks, RecursionFlags* flags,
                   cudaStream_t stream) {
  launch(decide_repeat_kernel, dim3(1), dim3(1), 0, stream, ComparedBlocks{{blocks[0], blocks[1], blocks[2]}},
         flags);
}

void scale_variances(const VarianceCells& cells, float factor, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const int count = cells.columns * cells.rows;
  launch(scale_kernel, dim3(blocks_for(count, kThreads)), dim3(kThreads), 0, stream, cells.values, count,
         factor);
}

// Fractions of motion vectors, and the state along them.

namespace {

using recursive::EighthVector;
using recursive::kEighths;

constexpr int kFractionWarps = 4;
constexpr int kSide = recursive::kPatch;
constexpr int kBytes = 4;  // in a word

// The reference's window and its surroundings, of which fractions take a sample on the left and at the top,
// and two on the right and at the bottom. Rows begin at aligned words.
constexpr int kBefore = 1;
constexpr int kSpanRows = recursive::kWindow + kBefore + 2;
constexpr int kSpanWords = (kSpanRows + kBytes - 1 + kBytes - 1) / kBytes;
constexpr int kSpanPitch = 7;
static_assert(kSpanWords <= kSpanPitch && kSpanPitch % 2 == 1, "rows would share banks");

// Each warp processes a block. A lane has eight samples of the window, of the row lane / 2. Products of four
// samples are added at a time.
class WindowLane {
 public:
  // (x, y): the place of the window in the current guide, x a multiple of four; `whole`: the vector to the
  // reference; `span`: memory of the warp.
  __device__ WindowLane(const FractionJob& job, int x, int y, const MotionVector& whole, unsigned* span) {
    const int lane = threadIdx.x % kWarp;
    const int left = x + whole.x - kBefore;
    const auto unaligned = static_cast<unsigned>(left) % kBytes;
    const std::uint8_t* const first = job.reference +
                                      static_cast<std::ptrdiff_t>(y + whole.y - kBefore) * job.stride +
                                      (left - static_cast<int>(unaligned));
    const int row = lane / 2;
    const int column = lane % 2 * kSide;
#pragma unroll
    for (int i = lane; i < kSpanRows * kSpanWords; i += kWarp) {
      const std::uint8_t* const from = first + static_cast<std::ptrdiff_t>(i / kSpanWords) * job.stride;
      span[i / kSpanWords * kSpanPitch + i % kSpanWords] =
          reinterpret_cast<const unsigned*>(from)[i % kSpanWords];
    }
    const auto* const own = reinterpret_cast<const unsigned*>(
        job.current + static_cast<std::ptrdiff_t>(y + row) * job.stride + x + column);
    current_[0] = own[0];
    current_[1] = own[1];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const unsigned* const words = span + (row + r) * kSpanPitch + column / kBytes;
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        reference_[r][i] = __funnelshift_r(words[i], words[i + 1], 8 * unaligned);
      }
    }
  }

  // The sums of the lane, and its sum of absolute differences by the whole vector.
  __device__ recursive::GradientSums gradients(int& difference) const {
    recursive::GradientSums sums;
    unsigned absolute = 0;
#pragma unroll
    for (int i = 0; i < kSide / kBytes; ++i) {
      const auto shifted = [&](int r, int bytes) {
        return __funnelshift_r(reference_[r][i], reference_[r][i + 1], 8 * bytes);
      };
      const unsigned left = shifted(1, 0);
      const unsigned center = shifted(1, 1);
      const unsigned right = shifted(1, 2);
      const unsigned above = shifted(0, 1);
      const unsigned below = shifted(2, 1);
      const unsigned own = current_[i];
      sums.xx += product_of_differences(right, left, right, left);
      sums.xy += product_of_differences(right, left, below, above);
      sums.yy += product_of_differences(below, above, below, above);
      sums.xt += product_of_differences(right, left, own, center);
      sums.yt += product_of_differences(below, above, own, center);
      absolute += __vsadu4(own, center);
    }
    difference = static_cast<int>(absolute);
    return sums;
  }

  // The sum of absolute differences by a fraction added to the vector, from recursive::between().
  __device__ int difference_by(const EighthVector& fraction) const {
    const unsigned x = fraction.x & (kEighths - 1);
    const unsigned y = fraction.y & (kEighths - 1);
    const unsigned weights =
        (kEighths - x) * (kEighths - y) | x * (kEighths - y) << 8 | (kEighths - x) * y << 16 | x * y << 24;
    unsigned upper[kWords];
    unsigned lower[kWords];
    shift_rows(fraction.x >> 3, fraction.y >> 3, upper, lower);
    unsigned difference = 0;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      const auto two = [i](const unsigned(&row)[kWords]) {
        return __funnelshift_r(row[i / kBytes], row[i / kBytes + 1], 8 * (i % kBytes));
      };
      const unsigned four = __byte_perm(two(upper), two(lower), 0x5410);
      const unsigned value = __dp4a(four, weights, 32U) >> 6;
      difference = __usad(current_[i / kBytes] >> 8 * (i % kBytes) & 0xFF, value, difference);
    }
    return static_cast<int>(difference);
  }

 private:
  static constexpr int kRows = 4;   // one above the lane's samples, two below
  static constexpr int kWords = 3;  // one sample on the left, three on the right

  // The sum of (a - b) (c - d) over four samples.
  __device__ static int product_of_differences(unsigned a, unsigned b, unsigned c, unsigned d) {
    return static_cast<int>(__dp4a(a, c, __dp4a(b, d, 0U)) - __dp4a(a, d, __dp4a(b, c, 0U)));
  }
  // The rows at the offset (x, y), -1 to 1, and below, from the lane's first sample on.
  __device__ void shift_rows(int x, int y, unsigned (&upper)[kWords], unsigned (&lower)[kWords]) const {
    unsigned rows[2][kWords + 1] = {};
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      rows[0][i] = y < 0 ? reference_[0][i] : y == 0 ? reference_[1][i] : reference_[2][i];
      rows[1][i] = y < 0 ? reference_[1][i] : y == 0 ? reference_[2][i] : reference_[3][i];
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      upper[i] = __funnelshift_r(rows[0][i], rows[0][i + 1], 8 * (x + kBefore));
      lower[i] = __funnelshift_r(rows[1][i], rows[1][i + 1], 8 * (x + kBefore));
    }
  }

  unsigned current_[kSide / kBytes];
  unsigned reference_[kRows][kWords];
};

__global__ void __launch_bounds__(kFractionWarps* kWarp) fraction_kernel(FractionJob job) {
  follow_stream();
  __shared__ unsigned spans[kFractionWarps][kSpanRows * kSpanPitch];
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

// A half warp writes up to four columns of a block of motion, which has fewer rows in subsampled planes.
constexpr int kHalfWarp = kWarp / 2;
constexpr int kWarpThreads = 128;
constexpr int kUnits = kWarpThreads / kHalfWarp;
constexpr int kUnitColumns = 4;
constexpr int kUnitSpan = kUnitColumns + recursive::kTaps - 1;
constexpr int kUnitRows = kSide + recursive::kTaps - 1;
constexpr int kUnitPitch = 13;                        // odd: rows are in different banks
constexpr int kUnitSamples = kHalfWarp * kUnitPitch;  // so that the other half warp has the other banks
constexpr int kUnitLines = 16 * kUnitColumns + kUnitColumns;
static_assert(kUnitSpan <= kUnitPitch && kUnitSpan <= kHalfWarp && kUnitRows <= kHalfWarp);

struct WarpJobs {
  WarpJob of[RecursionFlags::kComponents];
};

// The interpolation weights along an axis.
struct TapWeights {
  float of[recursive::kTaps];

  // `shared` is aligned to vectors.
  __device__ explicit TapWeights(const float* shared) {
    static_assert(recursive::kTaps == 8);
    const float4 first = reinterpret_cast<const float4*>(shared)[0];
    const float4 second = reinterpret_cast<const float4*>(shared)[1];
    const float all[] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
    for (int i = 0; i < recursive::kTaps; ++i) {
      of[i] = all[i];
    }
  }
};

// Memory of a half warp, which interpolates `kHeight` rows.
template <int kHeight>
struct WarpUnit {
  static constexpr int kRows = kHeight + recursive::kTaps - 1;
  static constexpr int kRun = (kHeight * kUnitColumns + kHalfWarp - 1) / kHalfWarp;  // rows of a lane

  float* samples;  // [kRows][kUnitPitch]
  float* lines;    // [kRows][kUnitColumns], interpolated along rows
  int lane;

  // Loads kRows rows of `from` with the first sample (x, y); samples outside repeat the border.
  __device__ void load(const FloatPlane& from, int x, int y) const {
    if (lane >= kUnitSpan) {
      return;
    }
    const float* const column = from.data + min(max(x + lane, 0), from.width - 1);
    float* const out = samples + lane;
    if (y >= 0 && y + kRows <= from.height) {
      const float* const first = column + static_cast<std::ptrdiff_t>(y) * from.pitch;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        out[r * kUnitPitch] = first[r * from.pitch];
      }
    } else {
      for (int r = 0; r < kRows; ++r) {
        out[r * kUnitPitch] =
            column[static_cast<std::ptrdiff_t>(min(max(y + r, 0), from.height - 1)) * from.pitch];
      }
    }
  }
  __device__ void interpolate_rows(const TapWeights& weights) const {
    if (lane >= kRows) {
      return;
    }
    float row[kUnitSpan];
#pragma unroll
    for (int i = 0; i < kUnitSpan; ++i) {
      row[i] = samples[lane * kUnitPitch + i];
    }
    float sums[kUnitColumns] = {};
#pragma unroll
    for (int tap = 0; tap < recursive::kTaps; ++tap) {
#pragma unroll
      for (int i = 0; i < kUnitColumns; ++i) {
        sums[i] = fmaf(row[i + tap], weights.of[tap], sums[i]);
      }
    }
    *reinterpret_cast<float4*>(lines + lane * kUnitColumns) = make_float4(sums[0], sums[1], sums[2], sums[3]);
  }
  // The lane's column, from its first row on.
  __device__ void interpolate_columns(const TapWeights& weights, float (&values)[kRun]) const {
    const float* const first = lines + lane / kUnitColumns * kRun * kUnitColumns + lane % kUnitColumns;
    float column[kRun + recursive::kTaps - 1];
#pragma unroll
    for (int i = 0; i < kRun + recursive::kTaps - 1; ++i) {
      column[i] = first[i * kUnitColumns];
    }
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      values[i] = 0;
#pragma unroll
      for (int tap = 0; tap < recursive::kTaps; ++tap) {
        values[i] = fmaf(column[i + tap], weights.of[tap], values[i]);
      }
    }
  }
};

// Memory of a block of threads.
struct SharedWarp {
  alignas(16) float lines[kUnits][kUnitLines];
  float samples[kUnits][kUnitSamples];
  alignas(16) float weights[kEighths][recursive::kTaps];
};

__device__ void warp_variance(const WarpJob& job, int block, const EighthVector& vector) {
  const auto center = [](int number, int shift, int eighths) {
    const int side = kSide >> shift;
    return static_cast<float>(number * side) + 0.5F * static_cast<float>(side - 1) +
           static_cast<float>(eighths) / kEighths;
  };
  job.block_variances[block] =
      variance_at(job.variances, center(block % job.blocks.columns, job.shift_x, vector.x),
                  center(block / job.blocks.columns, job.shift_y, vector.y));
}

template <int kHeight>
__device__ void warp_component(const WarpJob& job, SharedWarp& shared) {
  const int width = min(kSide >> job.shift_x, kUnitColumns);
  const int x = static_cast<int>(blockIdx.x * kUnits + threadIdx.x / kHalfWarp) * width;
  const int y = static_cast<int>(blockIdx.y) * kHeight;
  if (static_cast<int>(blockIdx.x) * kUnits * width >= job.merged.width || y >= job.merged.height) {
    return;
  }
  const int block = static_cast<int>(
      MotionField::block_at(x << job.shift_x, y << job.shift_y, job.blocks.columns, job.blocks.rows));
  const EighthVector of_luma = job.blocks.vectors[block];
  const EighthVector vector = {recursive::subsampled(of_luma.x, job.shift_x),
                               recursive::subsampled(of_luma.y, job.shift_y)};
  using Unit = WarpUnit<kHeight>;
  const Unit unit = {shared.samples[threadIdx.x / kHalfWarp], shared.lines[threadIdx.x / kHalfWarp],
                     static_cast<int>(threadIdx.x % kHalfWarp)};
  const int column = unit.lane % kUnitColumns;
  const int first_row = unit.lane / kUnitColumns * Unit::kRun;
  const bool writes = column < width && x + column < job.merged.width && first_row < kHeight;
  const TapWeights across(shared.weights[vector.x & (kEighths - 1)]);
  const TapWeights down(shared.weights[vector.y & (kEighths - 1)]);
  const auto interpolate = [&](const FloatPlane& from, const FloatPlane& to) {
    unit.load(from, x + (vector.x >> 3) - recursive::kTapsBefore,
              y + (vector.y >> 3) - recursive::kTapsBefore);
    __syncwarp();
    unit.interpolate_rows(across);
    __syncwarp();
    float values[Unit::kRun];
    unit.interpolate_columns(down, values);
#pragma unroll
    for (int i = 0; i < Unit::kRun; ++i) {
      if (const int row = y + first_row + i; writes && row < job.merged.height) {
        to.data[static_cast<std::ptrdiff_t>(row) * to.pitch + x + column] = values[i];
      }
    }
  };
  interpolate(job.merged, job.prior);
  if (job.pilot.data != nullptr) {
    interpolate(job.result, job.pilot);
  }
  const bool is_first = x << job.shift_x == block % job.blocks.columns * kSide &&
                        y << job.shift_y == block / job.blocks.columns * kSide;
  if (unit.lane == 0 && is_first) {
    warp_variance(job, block, vector);
  }
}

// blockIdx.z selects the component.
__global__ void __launch_bounds__(kWarpThreads)
    warp_kernel(const __grid_constant__ WarpJobs jobs, const __grid_constant__ InterpolationWeights weights) {
  follow_stream();
  __shared__ SharedWarp shared;
  if (threadIdx.x < kEighths * recursive::kTaps) {
    (&shared.weights[0][0])[threadIdx.x] = (&weights.of[0][0])[threadIdx.x];
  }
  __syncthreads();
  const WarpJob& job = jobs.of[blockIdx.z];
  switch (job.shift_y) {
    case 0:
      return warp_component<kSide>(job, shared);
    case 1:
      return warp_component<kSide / 2>(job, shared);
    default:
      return warp_component<kSide / 4>(job, shared);
  }
}

}  // namespace

void find_fractions(const FractionJob& job, cudaStream_t stream) {
  launch(fraction_kernel, dim3(blocks_for(job.out.columns * job.out.rows, kFractionWarps)),
         dim3(kFractionWarps * kWarp), 0, stream, job);
}

void warp_state(std::span<const WarpJob> of_components, cudaStream_t stream) {
  WarpJobs jobs;
  int columns = 0;
  int rows = 0;
  for (std::size_t c = 0; c < of_components.size(); ++c) {
    const WarpJob& job = of_components[c];
    jobs.of[c] = job;
    columns = std::max(columns, blocks_for(job.merged.width, std::min(kSide >> job.shift_x, kUnitColumns)));
    rows = std::max(rows, blocks_for(job.merged.height, kSide >> job.shift_y));
  }
  launch(warp_kernel, dim3(blocks_for(columns, kUnits), rows, static_cast<unsigned>(of_components.size())),
         dim3(kWarpThreads), 0, stream, jobs, InterpolationWeights{recursive::interpolation_weights()});
}

}  // namespace limpid::cuda
