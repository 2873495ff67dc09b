// SPDX-License-Identifier: MIT
#include "cuda/recursive/recursive_kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// The merge of patches with their prior, and their shrinkage. Eight lanes process a patch, each a row of its
// samples or, between the transforms, the coefficients of one horizontal frequency. Results of patches are
// stored, then gathered for each sample in the order of the patches. Sums are therefore bit-exact in every
// run, for samples of any range, and each value is written and read once.

namespace limpid::cuda {
namespace {

constexpr int kPatchSide = recursive::kPatch;
constexpr int kPatchArea = kPatchSide * kPatchSide;
constexpr int kMergeThreads = 128;
constexpr int kPatchesOfBlock = kMergeThreads / kPatchSide;

using Row = float[kPatchSide];

__device__ __forceinline__ void dct(Row& x) {
  constexpr float kC1 = 0.490392640201615F;
  constexpr float kC2 = 0.461939766255643F;
  constexpr float kC3 = 0.415734806151273F;
  constexpr float kC4 = 0.353553390593274F;
  constexpr float kC5 = 0.277785116509801F;
  constexpr float kC6 = 0.191341716182545F;
  constexpr float kC7 = 0.097545161008064F;
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

__device__ __forceinline__ void inverse_dct(Row& x) {
  constexpr float kC1 = 0.490392640201615F;
  constexpr float kC2 = 0.461939766255643F;
  constexpr float kC3 = 0.415734806151273F;
  constexpr float kC4 = 0.353553390593274F;
  constexpr float kC5 = 0.277785116509801F;
  constexpr float kC6 = 0.191341716182545F;
  constexpr float kC7 = 0.097545161008064F;
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

// Eight lanes with their rows.
class PatchLanes {
 public:
  __device__ explicit PatchLanes(float (*tile)[kPatchSide + 1])
      : tile_(tile), row_(threadIdx.x % kPatchSide) {}

  __device__ int row() const { return row_; }
  __device__ void transpose(Row& x) const {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      tile_[row_][i] = x[i];
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      x[i] = tile_[i][row_];
    }
  }
  __device__ void load(const FloatPlane& plane, int x, int y, Row& out) const {
    const float* samples = plane.data + static_cast<std::ptrdiff_t>(y + row_) * plane.pitch + x;
#pragma unroll
    for (int i = 0; i < kPatchSide; ++i) {
      out[i] = samples[i];
    }
    dct(out);
    transpose(out);
    dct(out);
  }
  // Transforms coefficients back to a row of samples.
  __device__ void inverse(Row& x) const {
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
  __device__ void average_neighbors(Row& x) const {
    const int lane = threadIdx.x % kWarp;
    const int before = row_ == 0 ? lane : lane - 1;
    const int after = row_ == kPatchSide - 1 ? lane : lane + 1;
    Row sums;
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
  float (*tile_)[kPatchSide + 1];
  int row_;
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

// `out` is aligned to 16 bytes.
__device__ __forceinline__ void store_row(const Row& row, float* out) {
  float4* const vectors = reinterpret_cast<float4*>(out);
  vectors[0] = make_float4(row[0], row[1], row[2], row[3]);
  vectors[1] = make_float4(row[4], row[5], row[6], row[7]);
}

struct MergedPatch {
  Row merged;
  Row gains;
  bool known;
};

__device__ void find_gains(const PatchJob& job, const PatchLanes& lanes, const Row& variances, float state,
                           const Row& noisy, const Row& prior, const Row& pilot, MergedPatch& patch) {
  Row energy;
  float total = 0;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    const float difference = (job.second ? pilot[i] : noisy[i]) - prior[i];
    energy[i] = difference * difference * (1 / variances[i]);
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
      patch.gains[i] = variance / (variance + 1);
      patch.merged[i] = prior[i] + patch.gains[i] * (noisy[i] - prior[i]);
    }
  }
}

// Returns the weight; `estimate` is the merged patch before.
__device__ float shrink(const PatchJob& job, int row, const Row& variances, const Row& pilot,
                        const MergedPatch& patch, Row& estimate) {
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
    float factor = job.second || patch.known ? signal / (signal + left) : above > 0 ? 1.0F : 0.0F;
    if (row == 0 && i == 0) {
      factor = 1;
    }
    estimate[i] = x * factor;
    total += factor * factor * patch.gains[i];
  }
  return 1 / fmaxf(PatchLanes::sum(total), recursive::kLeastVariance);
}

__global__ void __launch_bounds__(kMergeThreads) merge_kernel(PatchJob job, PatchResults results) {
  follow_stream();
  __shared__ float tiles[kPatchesOfBlock][kPatchSide][kPatchSide + 1];
  if (job.flags->repeats != 0 || (job.only_first && job.flags->is_first == 0)) {
    return;
  }
  const int count = (results.last_row - results.first_row) * job.grid.columns;
  const int own = blockIdx.x * kPatchesOfBlock + threadIdx.x / kPatchSide;
  const int number = min(own, count - 1);  // all lanes of a warp work
  const int column = number % job.grid.columns;
  const int grid_row = results.first_row + number / job.grid.columns;
  const int x = job.grid.x(column);
  const int y = job.grid.y(grid_row);
  const PatchLanes lanes(tiles[threadIdx.x / kPatchSide]);
  const float factor = noise_factor(job, x, y, lanes.row());
  const bool has_prior = job.has_prior && job.flags->is_first == 0;
  Row variances;
  Row noisy;
  Row pilot{};
  MergedPatch patch;
  lanes.load(job.noisy, x, y, noisy);
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    variances[i] = job.variances[kPatchSide * i + lanes.row()] * factor;
    patch.merged[i] = noisy[i];
    patch.gains[i] = 1;
  }
  patch.known = false;
  if (has_prior || job.second) {
    lanes.load(job.pilot, x, y, pilot);
  }
  if (has_prior) {
    const int center_x = (x + kPatchSide / 2) << job.shift_x;
    const int center_y = (y + kPatchSide / 2) << job.shift_y;
    const float state =
        job.block_variances[MotionField::block_at(center_x, center_y, job.blocks.columns, job.blocks.rows)] +
        recursive::kAddedVariance;
    Row prior;
    lanes.load(job.prior, x, y, prior);
    find_gains(job, lanes, variances, state, noisy, prior, pilot, patch);
  }
  Row estimate;
  const float weight = shrink(job, lanes.row(), variances, pilot, patch, estimate);
  float gain = 0;
#pragma unroll
  for (int i = 0; i < kPatchSide; ++i) {
    gain += patch.gains[i];
  }
  gain = PatchLanes::sum(gain) * (1.0F / kPatchArea);
  lanes.inverse(estimate);
  if (job.second) {
    lanes.inverse(patch.merged);
  }
  if (own >= count) {
    return;
  }
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(number) * kPatchArea + lanes.row() * kPatchSide;
  store_row(estimate, results.estimates + at);
  if (job.second) {
    store_row(patch.merged, results.merged + at);
  }
  if (lanes.row() == 0) {
    results.weights[number] = weight;
    results.gains[static_cast<std::ptrdiff_t>(grid_row) * job.grid.columns + column] = gain;
    if (job.counts && has_prior && !patch.known && grid_row >= results.first_new_row) {
      atomicAdd(&job.flags->unknown, 1);
    }
  }
}

// Calls visit(number along the axis, offset in the patch) for the patches that cover a sample, in order.
template <typename Place, typename Visit>
__device__ __forceinline__ void for_each_cover(int sample, int count, int spacing, const Place& place,
                                               const Visit& visit) {
  const int first = max((sample - kPatchSide + spacing) / spacing, 0);
  for (int i = first; i < count; ++i) {
    const int offset = sample - place(i);
    if (offset < 0) {
      return;
    }
    if (offset < kPatchSide) {
      visit(i, offset);
    }
  }
}

// Each thread computes a sample from all patches that cover it.
__global__ void gather_kernel(PatchJob job, PatchResults results, FloatPlane estimate, FloatPlane merged) {
  follow_stream();
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = results.first_sample + static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= job.grid.width || y >= results.last_sample || job.flags->repeats != 0 ||
      (job.only_first && job.flags->is_first == 0)) {
    return;
  }
  float estimates = 0;
  float weights = 0;
  float merged_sum = 0;
  float merged_weights = 0;
  for_each_cover(
      y, job.grid.rows, job.grid.spacing, [&](int i) { return job.grid.y(i); },
      [&](int row, int below) {
        for_each_cover(
            x, job.grid.columns, job.grid.spacing, [&](int i) { return job.grid.x(i); },
            [&](int column, int right) {
              const int number = (row - results.first_row) * job.grid.columns + column;
              const std::ptrdiff_t at =
                  static_cast<std::ptrdiff_t>(number) * kPatchArea + below * kPatchSide + right;
              const float window = job.window[below] * job.window[right];
              const float weight = results.weights[number] * window;
              estimates = fmaf(weight, results.estimates[at], estimates);
              weights += weight;
              if (job.second) {
                merged_sum = fmaf(window, results.merged[at], merged_sum);
                merged_weights += window;
              }
            });
      });
  const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * estimate.pitch + x;
  estimate.data[at] = estimates / weights;
  if (job.second) {
    merged.data[at] = merged_sum / merged_weights;
  }
}

__device__ int cell_of(int position, int count) {
  return min((position + kPatchSide / 2) / kPatchSide, count - 1);
}

// Each thread processes a cell.
__global__ void average_kernel(PatchJob job, const float* gains, VarianceCells cells) {
  follow_stream();
  const int cell = blockIdx.x * blockDim.x + threadIdx.x;
  if (cell >= cells.columns * cells.rows || job.flags->repeats != 0) {
    return;
  }
  const int column = cell % cells.columns;
  const int row = cell / cells.columns;
  // Patches whose centers are in the cell. The search begins a little before the cell.
  const auto first_of = [&](int c) { return max((c - 1) * kPatchSide / job.grid.spacing, 0); };
  float sum = 0;
  int count = 0;
  for (int r = min(first_of(row), job.grid.rows - 1);
       r < job.grid.rows && cell_of(job.grid.y(r), cells.rows) <= row; ++r) {
    if (cell_of(job.grid.y(r), cells.rows) != row) {
      continue;
    }
    for (int c = min(first_of(column), job.grid.columns - 1);
         c < job.grid.columns && cell_of(job.grid.x(c), cells.columns) <= column; ++c) {
      if (cell_of(job.grid.x(c), cells.columns) == column) {
        sum += gains[static_cast<std::ptrdiff_t>(r) * job.grid.columns + c];
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

void merge_patches(const PatchJob& job, const PatchResults& results, cudaStream_t stream) {
  const int count = (results.last_row - results.first_row) * job.grid.columns;
  launch(merge_kernel, dim3(blocks_for(count, kPatchesOfBlock)), dim3(kMergeThreads), 0, stream, job,
         results);
}

void gather_patches(const PatchJob& job, const PatchResults& results, const FloatPlane& estimate,
                    const FloatPlane& merged, cudaStream_t stream) {
  const PlaneLaunch plane(job.grid.width, results.last_sample - results.first_sample);
  launch(gather_kernel, plane.grid, plane.block, 0, stream, job, results, estimate, merged);
}

void average_gains(const PatchJob& job, const float* gains, const VarianceCells& cells, cudaStream_t stream) {
  constexpr int kThreads = 64;
  launch(average_kernel, dim3(blocks_for(cells.columns * cells.rows, kThreads)), dim3(kThreads), 0, stream,
         job, gains, cells);
}

void decide_first(const PatchJob& job, cudaStream_t stream) {
  const float most = recursive::kMostUnknown * static_cast<float>(job.grid.columns * job.grid.rows);
  launch(decide_first_kernel, dim3(1), dim3(1), 0, stream, job.flags, most);
}

}  // namespace limpid::cuda
