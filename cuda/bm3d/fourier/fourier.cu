// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>

#include "core/bm3d/transforms.h"
#include "cuda/bm3d/fourier/fourier.h"
#include "cuda/runtime/launch.h"

// For a batch of groups: patches are copied side by side (a thread per row), transformed by cuFFT, shrunk (a
// block per group), transformed back, and added to the sums (a thread per sample, 64-bit atomics). In between
// they are in global memory, `capacity` patches per group; a row of k samples occupies the 2 (k / 2 + 1)
// floats of its coefficients. Bound by memory: five round trips.
//
// kFft3d fills groups by repeating their patches. A group of n patches then has its n-point spectrum, times
// capacity / n, at every (capacity / n)-th of `capacity` points, and zeros elsewhere. kDft2dAnd1d transforms
// across a group of any size in shared memory, in the kernel that shrinks.

namespace limpid::cuda {
namespace {

// The thesis's batch size, if it fits.
constexpr std::size_t kBatch = 256 * 128;
constexpr std::size_t kBatchBytes = std::size_t{96} << 20;
constexpr int kMaxGroup = 64;
constexpr int kChunk = 32;  // coefficients of a patch that a block holds in shared memory
constexpr int kThreadRows = 8;

struct BatchArguments {
  ReferenceGrid grid;
  Groups groups;
  int first;  // first group of the batch
  int count;

  __device__ int patch_row_floats() const { return 2 * (grid.patch / 2 + 1); }
  __device__ const std::int16_t* members(int group) const {
    return groups.members + static_cast<std::ptrdiff_t>(first + group) * groups.capacity;
  }
  __device__ int x(int group, std::int16_t member) const {
    return grid.x((first + group) % grid.columns) + offset_x(member);
  }
  __device__ int y(int group, std::int16_t member) const {
    return grid.y(groups.first_row + (first + group) / grid.columns) + offset_y(member);
  }
};

__global__ void gather_kernel(BatchArguments arguments, FloatPlane plane, float* patches) {
  const int k = arguments.grid.patch;
  const int capacity = arguments.groups.capacity;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto group = static_cast<int>(i / (static_cast<std::size_t>(k) * capacity));
  if (group >= arguments.count) {
    return;
  }
  const auto row = static_cast<int>(i % k);
  const auto patch = static_cast<int>(i / k % capacity);
  const std::int16_t* members = arguments.members(group);
  const std::int16_t member = member_of(members, patch % members[0]);
  const float* in = plane.data + static_cast<std::ptrdiff_t>(arguments.y(group, member) + row) * plane.pitch +
                    arguments.x(group, member);
  float* out = patches + i * arguments.patch_row_floats();
  for (int column = 0; column < k; ++column) {
    out[column] = in[column];
  }
}

struct ShrinkArguments {
  BatchArguments batch;
  float2* noisy;
  const float2* basic;  // null in the first step
  int* weights;
  float threshold;  // square of the threshold, for one sample's noise
  float variance;
  float weight_scale;
};

__device__ float2 multiply(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// exp(-2 pi i n / kMaxGroup).
__device__ void fill_roots(float2* roots) {
  for (int n = threadIdx.y * kChunk + threadIdx.x; n < kMaxGroup / 2; n += kChunk * kThreadRows) {
    sincospif(-2.0F * static_cast<float>(n) / kMaxGroup, &roots[n].y, &roots[n].x);
  }
}

// The transform of every column of `size` rows, decimated in frequency, with the DC in row 0 and the others
// in bit-reversed order; and its inverse.
__device__ void transform_across(bool forward, int size, const float2* roots, float2 (*rows)[kChunk]) {
  for (int level = 1; level < size; level *= 2) {
    const int half = forward ? size / 2 / level : level;
    __syncthreads();
    for (int pair = threadIdx.y; pair < size / 2; pair += kThreadRows) {
      const int first = pair / half * 2 * half + pair % half;
      const float2 root = roots[pair % half * (kMaxGroup / 2 / half)];
      float2& a = rows[first][threadIdx.x];
      float2& b = rows[first + half][threadIdx.x];
      const float2 u = a;
      const float2 v = forward ? b : multiply(b, {root.x, -root.y});
      a = {u.x + v.x, u.y + v.y};
      const float2 difference{u.x - v.x, u.y - v.y};
      b = forward ? multiply(difference, root) : difference;
    }
  }
  __syncthreads();
}

template <bool kAcross>
__global__ void __launch_bounds__(kChunk* kThreadRows) shrink_kernel(ShrinkArguments arguments) {
  __shared__ float2 noisy[kMaxGroup][kChunk];
  __shared__ float2 basic[kMaxGroup][kChunk];
  __shared__ float2 roots[kMaxGroup / 2];
  __shared__ float parts[kThreadRows];
  const int k = arguments.batch.grid.patch;
  const int capacity = arguments.batch.groups.capacity;
  const int group = blockIdx.x;
  const int size = arguments.batch.members(group)[0];
  const int length = kAcross ? size : capacity;
  const int columns = k / 2 + 1;
  const int coefficients = k * columns;
  // The squared magnitude of a coefficient of noise of standard deviation 1.
  const float gain =
      static_cast<float>(k * k) * static_cast<float>(length) * static_cast<float>(length / size);
  const std::ptrdiff_t start = static_cast<std::ptrdiff_t>(group) * capacity * coefficients;
  fill_roots(roots);
  float part = 0;
  for (int first = 0; first < coefficients; first += kChunk) {
    const int coefficient = first + static_cast<int>(threadIdx.x);
    const bool inside = coefficient < coefficients;
    __syncthreads();
    for (int row = threadIdx.y; row < length; row += kThreadRows) {
      const std::ptrdiff_t at = start + static_cast<std::ptrdiff_t>(row) * coefficients + coefficient;
      noisy[row][threadIdx.x] = inside ? arguments.noisy[at] : float2{};
      if (arguments.basic != nullptr) {
        basic[row][threadIdx.x] = inside ? arguments.basic[at] : float2{};
      }
    }
    if constexpr (kAcross) {
      transform_across(true, length, roots, noisy);
      if (arguments.basic != nullptr) {
        transform_across(true, length, roots, basic);
      }
    }
    const int column = coefficient % columns;
    const float times = !inside ? 0.0F : column == 0 || 2 * column == k ? 1.0F : 2.0F;
    for (int row = threadIdx.y; row < length; row += kThreadRows) {
      float2& value = noisy[row][threadIdx.x];
      float factor = 0;
      if (arguments.basic != nullptr) {
        const float2 estimate = basic[row][threadIdx.x];
        const float signal = estimate.x * estimate.x + estimate.y * estimate.y;
        factor = signal / (signal + arguments.variance * gain);
      } else {
        const bool dc = row == 0 && coefficient == 0;
        factor = dc || value.x * value.x + value.y * value.y > arguments.threshold * gain ? 1.0F : 0.0F;
      }
      value.x *= factor;
      value.y *= factor;
      part += times * factor * factor;
    }
    if constexpr (kAcross) {
      transform_across(false, length, roots, noisy);
    }
    if (inside) {
      for (int row = threadIdx.y; row < length; row += kThreadRows) {
        arguments.noisy[start + static_cast<std::ptrdiff_t>(row) * coefficients + coefficient] =
            noisy[row][threadIdx.x];
      }
    }
  }
  // Adds in a fixed order, so that results are deterministic.
  for (int i = 16; i > 0; i /= 2) {
    part += __shfl_xor_sync(0xFFFFFFFFU, part, i);
  }
  if (threadIdx.x == 0) {
    parts[threadIdx.y] = part;
  }
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    float sum = 0;
    for (const float other : parts) {
      sum += other;
    }
    arguments.weights[group] = __float2int_rn(arguments.weight_scale / fmaxf(1.0F, sum));
  }
}

struct AddArguments {
  BatchArguments batch;
  const float* patches;
  const int* weights;
  const float* window;
  AggregationSums sums;
  bool repeated;  // true if groups were filled by repetition
  float sum_scale;
};

__global__ void add_kernel(AddArguments arguments) {
  const BatchArguments& batch = arguments.batch;
  const int k = batch.grid.patch;
  const int samples = k * k;
  const int capacity = batch.groups.capacity;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const auto group = static_cast<int>(i / (static_cast<std::size_t>(samples) * capacity));
  if (group >= batch.count) {
    return;
  }
  const auto patch = static_cast<int>(i / samples % capacity);
  const std::int16_t* members = batch.members(group);
  const int size = members[0];
  if (patch >= size) {
    return;
  }
  const auto sample = static_cast<int>(i % samples);
  const int column = sample % k;
  const std::size_t row = i / samples * k + sample / k;
  const std::int16_t member = member_of(members, patch);
  const int x = batch.x(group, member);
  const int y = batch.y(group, member);
  const int weight = arguments.weights[group];
  const float unscaled = arguments.patches[row * batch.patch_row_floats() + column];
  const float value = unscaled / static_cast<float>(samples * (arguments.repeated ? capacity : size));
  const float contribution = (value - arguments.sums.offset) * static_cast<float>(weight) *
                             arguments.sum_scale * arguments.window[sample];
  atomicAdd(reinterpret_cast<unsigned long long*>(arguments.sums.numerator) +
                static_cast<std::ptrdiff_t>(y + sample / k) * batch.grid.width + x + column,
            static_cast<unsigned long long>(__float2ll_rn(contribution)));
  if (sample == 0) {
    atomicAdd(arguments.sums.weight + static_cast<std::ptrdiff_t>(y) * batch.grid.width + x, weight);
  }
}

CufftPlan make_plan(CufftPlan::Direction direction, GroupTransform transform, int patch, int capacity,
                    std::size_t groups) {
  const std::array<int, 3> sizes{capacity, patch, patch};
  return transform == GroupTransform::kFft3d ? CufftPlan(direction, 3, sizes.data(), groups)
                                             : CufftPlan(direction, 2, sizes.data() + 1, groups * capacity);
}

std::size_t group_floats(int patch, int capacity) {
  return static_cast<std::size_t>(capacity) * patch * 2 * (patch / 2 + 1);
}

std::size_t batch_of(int patch, int capacity, bool wiener, std::size_t groups) {
  const std::size_t bytes = group_floats(patch, capacity) * sizeof(float) * (wiener ? 2 : 1);
  return std::min({groups, kBatch, kBatchBytes / bytes});
}

// Alignment of buffers for cuFFT.
constexpr std::size_t kAlignment = 256;
std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), std::size_t threads, cudaStream_t stream, Arguments... arguments) {
  constexpr unsigned kThreads = 256;
  kernel<<<static_cast<unsigned>((threads + kThreads - 1) / kThreads), kThreads, 0, stream>>>(arguments...);
  check_launch();
}

}  // namespace

FourierFilter::FourierFilter(GroupTransform transform, const Bm3dStep& step, int capacity, bool wiener,
                             std::size_t groups)
    : transform_(transform),
      patch_(step.patch_size),
      capacity_(capacity),
      wiener_(wiener),
      batch_(batch_of(patch_, capacity, wiener, groups)),
      forward_(make_plan(CufftPlan::Direction::kForward, transform, patch_, capacity, batch_)),
      inverse_(make_plan(CufftPlan::Direction::kInverse, transform, patch_, capacity, batch_)) {}

std::size_t FourierFilter::spectra_bytes() const {
  return batch_ * group_floats(patch_, capacity_) * sizeof(float);
}

std::size_t FourierFilter::scratch_bytes() const {
  return aligned(spectra_bytes()) * (wiener_ ? 2 : 1) + aligned(batch_ * sizeof(int)) +
         std::max(forward_.work_bytes(), inverse_.work_bytes());
}

void FourierFilter::filter(const FilterJob& job, const float* window, std::byte* scratch,
                           cudaStream_t stream) const {
  auto* noisy = reinterpret_cast<float*>(scratch);
  scratch += aligned(spectra_bytes());
  auto* basic = wiener_ ? reinterpret_cast<float*>(scratch) : nullptr;
  scratch += wiener_ ? aligned(spectra_bytes()) : 0;
  auto* weights = reinterpret_cast<int*>(scratch);
  scratch += aligned(batch_ * sizeof(int));

  const int groups = job.grid.columns * (job.groups.last_row - job.groups.first_row);
  const auto shrink = transform_ == GroupTransform::kFft3d ? shrink_kernel<false> : shrink_kernel<true>;
  const float threshold = coefficient_threshold(job.lambda, job.sigma);
  for (int first = 0; first < groups; first += static_cast<int>(batch_)) {
    const BatchArguments batch{job.grid, job.groups, first,
                               std::min(groups - first, static_cast<int>(batch_))};
    const std::size_t patches = static_cast<std::size_t>(batch.count) * capacity_;
    launch(gather_kernel, patches * patch_, stream, batch, job.noisy, noisy);
    forward_.execute(noisy, scratch, stream);
    if (wiener_) {
      launch(gather_kernel, patches * patch_, stream, batch, job.basic, basic);
      forward_.execute(basic, scratch, stream);
    }
    const ShrinkArguments arguments{batch,
                                    reinterpret_cast<float2*>(noisy),
                                    reinterpret_cast<const float2*>(basic),
                                    weights,
                                    threshold * threshold,
                                    job.sigma * job.sigma,
                                    std::ldexp(1.0F, job.sums.weight_bits)};
    shrink<<<static_cast<unsigned>(batch.count), dim3(kChunk, kThreadRows), 0, stream>>>(arguments);
    check_launch();
    inverse_.execute(noisy, scratch, stream);
    const AddArguments sums{batch,
                            noisy,
                            weights,
                            window,
                            job.sums,
                            transform_ == GroupTransform::kFft3d,
                            std::ldexp(job.sums.numerator_scale, -job.sums.weight_bits)};
    launch(add_kernel, patches * patch_ * patch_, stream, sums);
  }
}

}  // namespace limpid::cuda
