// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// The merge of patches with their prior, and their shrinkage. Eight lanes process a patch, each a column of
// its samples or, between the transforms, the coefficients of one vertical frequency. Results of patches are
// stored, then gathered for each sample in the order of the patches. Sums are therefore bit-exact in every
// run, for samples of any range, and each value is written and read once. Bound by the first-level cache.

namespace limpid::cuda {
namespace {

constexpr int kPatchSide = recursive::kPatch;
constexpr int kPatchArea = kPatchSide * kPatchSide;
constexpr int kMergeThreads = 128;
constexpr int kPatchesOfBlock = kMergeThreads / kPatchSide;

// A lane's column of samples, or its coefficients.
using Column = float[kPatchSide];

// cos(i pi / 16) / 2, and kC4 of the DC.
constexpr float kC1 = 0.490392640201615F;
constexpr float kC2 = 0.461939766255643F;
constexpr float kC3 = 0.415734806151273F;
constexpr float kC4 = 0.353553390593274F;
constexpr float kC5 = 0.277785116509801F;
constexpr float kC6 = 0.191341716182545F;
constexpr float kC7 = 0.097545161008064F;

__device__ __forceinline__ void dct(Column& x) {
  const float s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  const float d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
  const float e0 = s0 + s3, e1 = s1 + s2, o0 = s0 - s3, o1 = s1 - s2;
  x[0] = kC4 * (e0 + e1);
  x[4] = kC4 * (e0 - e1);
  x[2] = kC2 * o0 + kC6 * o1;
  x[6] = kC6 * o0 - kC2 * o1;
  x[1] = kC1 * d0 + kC3 * d1 + kC5 * d2 + kC7 * d3;
  x[3] = kC3 * d0 - kC7 * d1 - kC1 * d2 - kC5 * d3;
  x[5] = kC5 * d0 - kC1 * d1 + kC7 * d2 + kC3 * d3;
  x[7] = kC7 * d0 - kC5 * d1 + kC3 * d2 - kC1 * d3;
}

__device__ __forceinline__ void inverse_dct(Column& x) {
  const float m0 = kC4 * (x[0] + x[4]), m1 = kC4 * (x[0] - x[4]);
  const float m2 = kC2 * x[2] + kC6 * x[6], m3 = kC6 * x[2] - kC2 * x[6];
  const float e0 = m0 + m2, e3 = m0 - m2, e1 = m1 + m3, e2 = m1 - m3;
  const float o0 = kC1 * x[1] + kC3 * x[3] + kC5 * x[5] + kC7 * x[7];
  const float o1 = kC3 * x[1] - kC7 * x[3] - kC1 * x[5] - kC5 * x[7];
  const float o2 = kC5 * x[1] - kC1 * x[3] + kC7 * x[5] + kC3 * x[7];
  const float o3 = kC7 * x[1] - kC5 * x[3] + kC3 * x[5] - kC1 * x[7];
  x[0] = e0 + o0;
  x[7] = e0 - o0;
  x[1] = e1 + o1;
  x[6] = e1 - o1;
  x[2] = e2 + o2;
  x[5] = e2 - o2;
  x[3] = e3 + o3;
  x[4] = e3 - o3;
}

// Eight lanes with the columns of a patch.
class PatchLanes {
 public:
  /// Memory of a patch: rows of 12 floats are aligned to vectors, and those of a warp cover all banks.
  static constexpr int kPitch = kPatchSide + 4;
  static constexpr int kFloats = kPatchSide * kPitch + kPatchSide;

  __device__ explicit PatchLanes(float* memory) : memory_(memory), lane_(threadIdx.x % kPatchSide) {}

  __device__ int lane() const { return lane_; }
  __device__ void transpose(Column& x) const {
    __syncwarp();
    float4* const own = reinterpret_cast<float4*>(memory_ + lane_ * kPitch);
    own[0] = make_float4(x[0], x[1], x[2], x[3]);
    own[1] = make_float4(x[4], x[5], x[6], x[7]);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      x[i] = memory_[i * kPitch + lane_];
    }
  }
  __device__ void load(const FloatPlane& plane, int x, int y, Column& out) const {
    const float* const samples = plane.data + static_cast<std::ptrdiff_t>(y) * plane.pitch + x + lane_;
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      out[i] = samples[static_cast<std::ptrdiff_t>(i) * plane.pitch];
    }
    dct(out);
    transpose(out);
    dct(out);
  }
  // Transforms coefficients back to a column of samples.
  __device__ void inverse(Column& x) const {
    inverse_dct(x);
    transpose(x);
    inverse_dct(x);
  }
  __device__ static float sum(float value) {
    for (int i = 1; i < kPatchSide; i *= 2) {
      value += __shfl_xor_sync(kAllLanes, value, i);
    }
    return value;
  }
  // The mean of 3 x 3 neighboring coefficients; the border is repeated.
  __device__ void average_neighbors(Column& x) const {
    const int in_warp = threadIdx.x % kWarp;
    const int before = lane_ == 0 ? in_warp : in_warp - 1;
    const int after = lane_ == kPatchSide - 1 ? in_warp : in_warp + 1;
    Column sums;
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      sums[i] = x[i] + (__shfl_sync(kAllLanes, x[i], before) + __shfl_sync(kAllLanes, x[i], after));
    }
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      x[i] = (sums[i] + (sums[max(i - 1, 0)] + sums[min(i + 1, kPatchSide - 1)])) * (1.0F / 9);
    }
  }

 private:
  float* memory_;
  int lane_;
};

// The factor of the noise variance for a patch, by the brightness of luma under it.
__device__ float noise_factor(const PatchJob& job, int x, int y, int row) {
  if (!job.has_curve) {
    return 1;
  }
  const int bottom = min((y + kPatchSide) << job.shift_y, job.luma.height);
  const int right = min((x + kPatchSide) << job.shift_x, job.luma.width);
  const int left = x << job.shift_x;
  const int top = y << job.shift_y;
  float sum = 0;
  for (int v = top + row; v < bottom; v += kPatchSide) {
    for (int u = left; u < right; ++u) {
      sum += job.luma.data[static_cast<std::ptrdiff_t>(v) * job.luma.pitch + u];
    }
  }
  const float mean = PatchLanes::sum(sum) / static_cast<float>((right - left) * (bottom - top));
  const float deviation = deviation_at(job.curve.data(), job.scale.position_of(mean));
  return deviation * deviation;
}

// Patches are stored row by row, so that the rows of adjacent patches are contiguous: the offset of sample
// (right, below) of a patch in grid row `row` of a band.
__device__ __forceinline__ std::ptrdiff_t stored_at(int columns, int row, int column, int right, int below) {
  return (static_cast<std::ptrdiff_t>(row * kPatchSide + below) * columns + column) * kPatchSide + right;
}

struct MergedPatch {
  Column merged;
  Column gains;
  bool known;
};

__device__ void find_gains(const PatchJob& job, const PatchLanes& lanes, const Column& variances, float state,
                           const Column& noisy, const Column& prior, const Column& pilot,
                           MergedPatch& patch) {
  Column energy;
  float total = 0;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    const float difference = (job.second ? pilot[i] : noisy[i]) - prior[i];
    energy[i] = difference * difference * __frcp_rn(variances[i]);
    total += energy[i];
  }
  patch.known = job.second || PatchLanes::sum(total) * (1.0F / kPatchArea) <= recursive::kGate * (1 + state);
  lanes.average_neighbors(energy);
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    const float variance =
        job.second
            ? fmaxf(recursive::kChange * energy[i], state)
            : state + fmaxf(0.0F, recursive::kChange * (energy[i] - recursive::kInnovation * (1 + state)));
    if (patch.known) {
      patch.gains[i] = __fdividef(variance, variance + 1);
      patch.merged[i] = prior[i] + patch.gains[i] * (noisy[i] - prior[i]);
    }
  }
}

// Returns the weight; `estimate` is the merged patch before.
__device__ float shrink(const PatchJob& job, int lane, const Column& variances, const Column& pilot,
                        const MergedPatch& patch, Column& estimate) {
  float total = 0;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    const float x = patch.merged[i];
    const float variance = patch.gains[i] * variances[i];
    const float left = recursive::kShrinkage * variance;
    const float above = x * x - job.threshold * variance;
    float signal = pilot[i] * pilot[i];
    if (!job.second) {
      signal = fmaxf(signal, above);
    }
    float factor = job.second || patch.known ? __fdividef(signal, signal + left) : above > 0 ? 1.0F : 0.0F;
    if (lane == 0 && i == 0) {
      factor = 1;
    }
    estimate[i] = x * factor;
    total += factor * factor * patch.gains[i];
  }
  return 1 / fmaxf(PatchLanes::sum(total), recursive::kLeastVariance);
}

// A patch without a prior.
__device__ void start_patch(const Column& noisy, MergedPatch& patch) {
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    patch.merged[i] = noisy[i];
    patch.gains[i] = 1;
  }
  patch.known = false;
}

__device__ float mean_gain(const MergedPatch& patch) {
  float gain = 0;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    gain += patch.gains[i];
  }
  return PatchLanes::sum(gain) * (1.0F / kPatchArea);
}

// Stores the samples of patch `number` of a band.
__device__ void store_patch(const PatchJob& job, const PatchResults& results, const PatchLanes& lanes,
                            int number, const Column& estimate, const MergedPatch& patch) {
  const int columns = job.grid.columns;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    const std::ptrdiff_t at = stored_at(columns, number / columns, number % columns, lanes.lane(), i);
    results.estimates[at] = estimate[i];
    if (job.second) {
      results.merged[at] = patch.merged[i];
    }
  }
}

struct PatchPasses {
  PatchPass of[kMostPasses];

  explicit PatchPasses(std::span<const PatchPass> passes) { std::ranges::copy(passes, of); }
};

// The noise variances of the coefficients, in the order in which the lanes read them.
struct SharedVariances {
  float of[kPatchSide][kPatchSide];

  __device__ void load(const PatchJob& job) {
    if (threadIdx.x < kPatchArea) {
      of[threadIdx.x % kPatchSide][threadIdx.x / kPatchSide] = job.variances[threadIdx.x];
    }
    __syncthreads();
  }
  __device__ void scale(int lane, float factor, Column& out) const {
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      out[i] = of[i][lane] * factor;
    }
  }
};

// blockIdx.y selects the pass.
__global__ void __launch_bounds__(kMergeThreads) merge_kernel(const __grid_constant__ PatchPasses passes) {
  follow_stream();
  alignas(16) __shared__ float memory[kPatchesOfBlock][PatchLanes::kFloats];
  __shared__ SharedVariances shared_variances;
  const PatchJob& job = passes.of[blockIdx.y].job;
  const PatchResults& results = passes.of[blockIdx.y].results;
  if (job.flags->repeats != 0 || (job.only_first && job.flags->is_first == 0)) {
    return;
  }
  shared_variances.load(job);
  const int count = (results.last_row - results.first_row) * job.grid.columns;
  const int own = blockIdx.x * kPatchesOfBlock + threadIdx.x / kPatchSide;
  const int number = min(own, count - 1);  // all lanes of a warp work
  const int column = number % job.grid.columns;
  const int grid_row = results.first_row + number / job.grid.columns;
  const int x = job.grid.x(column);
  const int y = job.grid.y(grid_row);
  const PatchLanes lanes(memory[threadIdx.x / kPatchSide]);
  const float factor = noise_factor(job, x, y, lanes.lane());
  const bool has_prior = job.has_prior && job.flags->is_first == 0;
  Column variances;
  Column noisy;
  Column pilot{};
  MergedPatch patch;
  lanes.load(job.noisy, x, y, noisy);
  shared_variances.scale(lanes.lane(), factor, variances);
  start_patch(noisy, patch);
  if (has_prior || job.second) {
    lanes.load(job.pilot, x, y, pilot);
  }
  if (has_prior) {
    const int center_x = (x + kPatchSide / 2) << job.shift_x;
    const int center_y = (y + kPatchSide / 2) << job.shift_y;
    const float state =
        job.block_variances[MotionField::block_at(center_x, center_y, job.blocks.columns, job.blocks.rows)] +
        recursive::kAddedVariance;
    Column prior;
    lanes.load(job.prior, x, y, prior);
    find_gains(job, lanes, variances, state, noisy, prior, pilot, patch);
  }
  Column estimate;
  const float weight = shrink(job, lanes.lane(), variances, pilot, patch, estimate);
  lanes.inverse(estimate);
  if (job.second) {
    lanes.inverse(patch.merged);
  }
  const float gain = mean_gain(patch);
  if (own >= count) {
    return;
  }
  store_patch(job, results, lanes, number, estimate, patch);
  if (lanes.lane() == 0) {
    results.weights[number] = weight;
    results.gains[static_cast<std::ptrdiff_t>(grid_row) * job.grid.columns + column] = gain;
    if (job.counts && has_prior && !patch.known && grid_row >= results.first_new_row) {
      atomicAdd(&job.flags->unknown, 1);
    }
  }
}

// Calls visit(number along the axis, offset in the patch) for the patches that cover a sample, in order. They
// begin at multiples of `spacing`; the last of `count` patches begins at `last`.
template <typename Visit>
__device__ __forceinline__ void for_each_cover(int sample, int first, int spacing, int count, int last,
                                               const Visit& visit) {
  int i = first;
  int offset = sample - first * spacing;
  for (; i < count - 1 && offset >= 0; ++i, offset -= spacing) {
    visit(i, offset);
  }
  if (i == count - 1 && sample >= last) {
    visit(i, sample - last);
  }
}

// The number along an axis of the first patch that covers a sample.
__device__ __forceinline__ int first_cover(int sample, int spacing) {
  return max((sample - kPatchSide + spacing) / spacing, 0);
}

// Each thread computes a sample from all patches that cover it; blockIdx.z selects the pass.
template <bool kSecond>
__global__ void gather_kernel(const __grid_constant__ PatchPasses passes) {
  follow_stream();
  __shared__ float window[kPatchSide];
  const PatchPass& pass = passes.of[blockIdx.z];
  const PatchJob& job = pass.job;
  const PatchResults& results = pass.results;
  const ReferenceGrid& grid = job.grid;
  if (threadIdx.y == 0 && threadIdx.x < kPatchSide) {
    window[threadIdx.x] = job.window[threadIdx.x];
  }
  __syncthreads();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = results.first_sample + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= grid.width || y >= results.last_sample || job.flags->repeats != 0 ||
      (job.only_first && job.flags->is_first == 0)) {
    return;
  }
  float estimates = 0;
  float weights = 0;
  float merged_sum = 0;
  float merged_weights = 0;
  const int first_column = first_cover(x, grid.spacing);
  const auto add_row = [&](int row, int below) {
    const int band_row = row - results.first_row;
    const float* const its_weights = results.weights + band_row * grid.columns;
    const std::ptrdiff_t begin = stored_at(grid.columns, band_row, 0, 0, below);
    const float* const its_estimates = results.estimates + begin;
    const float* const its_merged = results.merged + begin;
    for_each_cover(x, first_column, grid.spacing, grid.columns, grid.width - kPatchSide,
                   [&](int column, int right) {
                     const int at = column * kPatchSide + right;
                     const float its_window = window[below] * window[right];
                     const float weight = its_weights[column] * its_window;
                     estimates = fmaf(weight, its_estimates[at], estimates);
                     weights += weight;
                     if constexpr (kSecond) {
                       merged_sum = fmaf(its_window, its_merged[at], merged_sum);
                       merged_weights += its_window;
                     }
                   });
  };
  for_each_cover(y, first_cover(y, grid.spacing), grid.spacing, grid.rows, grid.height - kPatchSide, add_row);
  const auto at = [&](const FloatPlane& plane) {
    return plane.data + static_cast<std::ptrdiff_t>(y) * plane.pitch + x;
  };
  *at(pass.estimate) = estimates / weights;
  if constexpr (kSecond) {
    *at(pass.merged) = merged_sum / merged_weights;
    *at(pass.last) = *at(job.noisy);
  }
}

__device__ int cell_of(int position, int count) {
  return min((position + kPatchSide / 2) / kPatchSide, count - 1);
}

struct AllGains {
  PatchGains of[RecursionFlags::kComponents];
};

// Each thread processes a cell; blockIdx.y selects the component.
__global__ void average_kernel(const __grid_constant__ AllGains all, const RecursionFlags* flags) {
  follow_stream();
  const PatchGains& own = all.of[blockIdx.y];
  const ReferenceGrid& grid = own.grid;
  const VarianceCells& cells = own.cells;
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells.columns * cells.rows || flags->repeats != 0) {
    return;
  }
  const int column = cell % cells.columns;
  const int row = cell / cells.columns;
  // Patches whose centers are in the cell. The search begins a little before the cell.
  const auto first_of = [&](int c) { return max((c - 1) * kPatchSide / grid.spacing, 0); };
  float sum = 0;
  int count = 0;
  for (int r = min(first_of(row), grid.rows - 1); r < grid.rows && cell_of(grid.y(r), cells.rows) <= row;
       ++r) {
    if (cell_of(grid.y(r), cells.rows) != row) {
      continue;
    }
    for (int c = min(first_of(column), grid.columns - 1);
         c < grid.columns && cell_of(grid.x(c), cells.columns) <= column; ++c) {
      if (cell_of(grid.x(c), cells.columns) == column) {
        sum += own.gains[static_cast<std::ptrdiff_t>(r) * grid.columns + c];
        ++count;
      }
    }
  }
  cells.values[cell] = sum / static_cast<float>(count);
}

__global__ void decide_first_kernel(RecursionFlags* flags, float most) {
  follow_stream();
  flags->is_first = static_cast<float>(flags->unknown) > most ? 1 : 0;
}

}  // namespace

void merge_patches(std::span<const PatchPass> passes, cudaStream_t stream) {
  const PatchResults& results = passes[0].results;
  const int count = (results.last_row - results.first_row) * passes[0].job.grid.columns;
  launch(merge_kernel, dim3(blocks_for(count, kPatchesOfBlock), static_cast<unsigned>(passes.size())),
         dim3(kMergeThreads), 0, stream, PatchPasses(passes));
}

void gather_patches(std::span<const PatchPass> passes, cudaStream_t stream) {
  const PatchResults& results = passes[0].results;
  PlaneLaunch plane(passes[0].job.grid.width, results.last_sample - results.first_sample);
  plane.grid.z = static_cast<unsigned>(passes.size());
  launch(passes[0].job.second ? gather_kernel<true> : gather_kernel<false>, plane.grid, plane.block, 0,
         stream, PatchPasses(passes));
}

void average_gains(std::span<const PatchGains> of_components, const RecursionFlags* flags,
                   cudaStream_t stream) {
  constexpr int kThreads = 64;
  AllGains all;
  int most = 0;
  for (std::size_t c = 0; c < of_components.size(); ++c) {
    all.of[c] = of_components[c];
    most = std::max(most, of_components[c].cells.columns * of_components[c].cells.rows);
  }
  launch(average_kernel, dim3(blocks_for(most, kThreads), static_cast<unsigned>(of_components.size())),
         dim3(kThreads), 0, stream, all, flags);
}

void decide_first(const PatchJob& job, cudaStream_t stream) {
  const float most = recursive::kMostUnknown * static_cast<float>(job.grid.columns * job.grid.rows);
  launch(decide_first_kernel, dim3(1), dim3(1), 0, stream, job.flags, most);
}

}  // namespace limpid::cuda
