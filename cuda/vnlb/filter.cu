// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "cuda/bm3d/noise_curve.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vnlb/patch_groups.h"
#include "cuda/vnlb/tiles.h"

// Three kernels filter the groups of a band. The first multiplies a group's patches by each other, the second
// replaces the eigenvalues of these products by factors (eigenvalues.cu), and the third multiplies the
// patches by the result. In the first and the third, a block loads a group, with a thread for each sample of
// its patches, and warps multiply 16 rows each by tensor cores. The unit of samples is the noise's standard
// deviation, or 16 of them, which keeps them in the range of halves.
//
// Both are bound by shared memory and by the latency of loads, the third also by additions to the sums.

namespace limpid::cuda {
namespace {

using limpid::vnlb::kPatch;
using limpid::vnlb::kSlices;

constexpr int kSliceSamples = kPatch * kPatch;
constexpr int kSamples = kSlices * kSliceSamples;  // samples of a patch; threads of a block
// Pitch of patches in shared memory, in floats: pairs of a tile's rows are in different banks.
constexpr int kRowPitch = kSamples + 8;

// The unit of samples in products, in standard deviations of the noise, and a limit that white noise hardly
// ever reaches.
constexpr float kUnit = 16;
constexpr float kGreatest = 60000;
// Minimum of the noise's standard deviation, in code values, which keeps samples in that range, too.
constexpr float kLeastDeviation = 0.01F;

// A function of the samples' frequencies: the reciprocals of their standard deviations or variances.
struct Spectrum {
  float factors[kSliceSamples];  // [8 v + u]
};

struct FilterArguments {
  PatchGroups groups;
  const void* planes[kMostPictures];  // planes that the kernel reads
  const float* noisy[kMostPictures];
  std::int64_t* sums[kMostPictures];
  GroupSamples samples;
  std::ptrdiff_t positions;  // number of positions in the sums
  NoiseCurve curve;
  const float* brightness;     // may be null
  std::ptrdiff_t first_group;  // number of the first group
  Spectrum whitening;
  float dct[kPatch][kPatch];
  float window[kPatch];
  float sigma;           // in code values
  float weight_unit;     // units of 1
  float numerator_unit;  // units of numerators, of a unit of weights

  // Factor that converts samples in the format for groups to units of kUnit standard deviations of the noise,
  // which is `deviation` times sigma.
  __device__ __forceinline__ float to_units(float deviation) const {
    return 1 / (kUnit * fmaxf(sigma * deviation, kLeastDeviation) * samples.unit);
  }
};

// A group in the layout of a block's threads.
struct TakenPatches {
  int patches;
  int slices;
  int direction;
  unsigned* places;  // in shared memory
  std::int8_t* pictures;

  // Thread t has sample t of each patch. True if its slice exists.
  __device__ __forceinline__ bool has_sample() const {
    return static_cast<int>(threadIdx.x) < slices * kSliceSamples;
  }
  __device__ __forceinline__ int slice() const { return static_cast<int>(threadIdx.x) / kSliceSamples; }
  __device__ __forceinline__ int picture(int patch) const { return pictures[patch] + slice() * direction; }
  __device__ __forceinline__ std::ptrdiff_t offset(int patch, int pitch) const {
    const unsigned place = places[patch];
    return static_cast<std::ptrdiff_t>(place >> 16) * pitch + (place & 0xFFFF);
  }
  __device__ __forceinline__ std::ptrdiff_t own_offset(int patch, int pitch) const {
    const int sample = static_cast<int>(threadIdx.x) % kSliceSamples;
    return offset(patch, pitch) + static_cast<std::ptrdiff_t>(sample / kPatch) * pitch + sample % kPatch;
  }
};

template <int kCapacity>
struct SharedPlaces {
  unsigned places[kCapacity];
  std::int8_t pictures[kCapacity];
};

// Includes a barrier.
template <int kCapacity>
__device__ __forceinline__ TakenPatches take_patches(const PatchGroups& groups,
                                                     SharedPlaces<kCapacity>& shared) {
  const std::ptrdiff_t group = blockIdx.x;
  const int shape = groups.shapes[group];
  TakenPatches taken{};
  taken.patches = shape % PatchGroups::kSlicesUnit;
  taken.slices = shape / PatchGroups::kSlicesUnit % (PatchGroups::kDirectionUnit / PatchGroups::kSlicesUnit);
  taken.direction = shape / PatchGroups::kDirectionUnit - 1;
  taken.places = shared.places;
  taken.pictures = shared.pictures;
  if (const int i = static_cast<int>(threadIdx.x); i < taken.patches) {
    shared.places[i] = groups.places[group * kCapacity + i];
    shared.pictures[i] = groups.pictures[group * kCapacity + i];
  }
  __syncthreads();
  return taken;
}

__device__ __forceinline__ float as_float(float value) { return value; }
__device__ __forceinline__ float as_float(__half value) { return __half2float(value); }

// Loads the thread's sample of all patches minus their mean, which it returns.
template <typename Sample, int kCapacity>
__device__ __forceinline__ float load_samples(const TakenPatches& taken, const void* const* planes, int pitch,
                                              float (&values)[kCapacity]) {
  float mean = 0;
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    values[i] = 0;
    if (i < taken.patches && taken.has_sample()) {
      values[i] = as_float(static_cast<const Sample*>(planes[taken.picture(i)])[taken.own_offset(i, pitch)]);
    }
    mean += values[i];
  }
  mean /= static_cast<float>(taken.patches);
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    values[i] -= i < taken.patches && taken.has_sample() ? mean : 0.0F;
  }
  return mean;
}

// The mean of all threads' values, returned to all threads.
__device__ float mean_of_block(float value, int count) {
  __shared__ float of_warps[kSamples / kWarp];
  value = combine_warp(value, [](float a, float b) { return a + b; });
  if (threadIdx.x % kWarp == 0) {
    of_warps[threadIdx.x / kWarp] = value;
  }
  __syncthreads();
  float sum = 0;
  for (const float of_warp : of_warps) {
    sum += of_warp;
  }
  return sum / static_cast<float>(count);
}

// The 2D transform of the slices of `rows` patches in shared memory, or its inverse. Ends with a barrier, and
// requires one before it.
template <bool kForward>
__device__ void transform_slices(const float (&dct)[kPatch][kPatch], float* matrix, int rows) {
  const int lines = rows * kSlices * kPatch;
  const auto transform = [&](float* at, int spacing) {
    float in[kPatch];
#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
      in[i] = at[i * spacing];
    }
#pragma unroll
    for (int k = 0; k < kPatch; ++k) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kPatch; ++i) {
        sum = fmaf(kForward ? dct[k][i] : dct[i][k], in[i], sum);
      }
      at[k * spacing] = sum;
    }
  };
  for (int line = threadIdx.x; line < lines; line += kSamples) {
    transform(matrix + line / (kSlices * kPatch) * kRowPitch + line % (kSlices * kPatch) * kPatch, 1);
  }
  __syncthreads();
  for (int line = threadIdx.x; line < lines; line += kSamples) {
    const int of_row = line % (kSlices * kPatch);
    transform(
        matrix + line / (kSlices * kPatch) * kRowPitch + of_row / kPatch * kSliceSamples + of_row % kPatch,
        kPatch);
  }
  __syncthreads();
}

// Multiplies the thread's sample of all patches and limits it to the range of halves. Ends with a barrier.
template <int kCapacity>
__device__ __forceinline__ void whiten(float factor, float* matrix) {
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    float& value = matrix[i * kRowPitch + threadIdx.x];
    value = fminf(fmaxf(value * factor, -kGreatest), kGreatest);
  }
  __syncthreads();
}

// Splits pairs of samples in place. Ends with a barrier.
template <int kCapacity>
__device__ __forceinline__ const Operand* split_rows(float* matrix) {
  constexpr int kPairs = kRowPitch / 2;
  auto* const pairs = reinterpret_cast<Operand*>(matrix);
#pragma unroll 4
  for (int i = threadIdx.x; i < kCapacity * kPairs; i += kSamples) {
    const float2 two = reinterpret_cast<const float2*>(matrix)[i];
    pairs[i] = split<true>(two.x, two.y);
  }
  __syncthreads();
  return pairs;
}

// The products of 16 rows, from number 16 m on, with all rows, over `samples` samples.
template <int kTiles>
__device__ __forceinline__ void multiply_rows(const Operand* rows, const Operand* all, int m, int samples,
                                              TileRow<kTiles>& products) {
#pragma unroll 1
  for (int k = 0; k < samples; k += 16) {
    const Tile row = load_tile(rows + (16 * m * kRowPitch + k) / 2, kRowPitch);
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
      multiply_by_transposed(products.sums[n][0], products.sums[n][1], row,
                             load_tile(all + (16 * n * kRowPitch + k) / 2, kRowPitch));
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Products

template <typename Sample, bool kIn2d, int kCapacity>
__global__ void __launch_bounds__(kSamples)
    multiply_kernel(const __grid_constant__ FilterArguments arguments) {
  extern __shared__ float matrix[];
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  const int t = static_cast<int>(threadIdx.x);
  float values[kCapacity];
  const float mean = load_samples<Sample>(taken, arguments.planes, arguments.samples.pitch, values);
  const float brightness =
      mean_of_block(taken.has_sample() ? mean : 0.0F, taken.slices * kSliceSamples) / arguments.samples.unit +
      arguments.samples.offset;
  const float deviation = arguments.curve.at(
      brightness_of_group(arguments.brightness, arguments.first_group + group), brightness);
  if (t == 0) {
    arguments.groups.deviations[group] = deviation;
  }
  const float to_units = arguments.to_units(deviation);
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    matrix[i * kRowPitch + t] = values[i] * to_units;
  }
  __syncthreads();
  if constexpr (kIn2d) {
    transform_slices<true>(arguments.dct, matrix, taken.patches);
    whiten<kCapacity>(arguments.whitening.factors[t % kSliceSamples], matrix);
  }
  const Operand* const pairs = split_rows<kCapacity>(matrix);
  constexpr int kTiles = kCapacity / 16;
  const int warp = t / kWarp;
  if (warp >= kTiles) {
    return;
  }
  TileRow<kTiles> products;
  multiply_rows<kTiles>(pairs, pairs, warp, taken.slices * kSliceSamples, products);
  const float scale = kUnit * kUnit / static_cast<float>(max(taken.patches - 1, 1));
  float* const out = arguments.groups.matrices + group * kCapacity * kCapacity;
  products.for_each_pair([&](const float* two, int row, int column) {
    *reinterpret_cast<float2*>(out + (16 * warp + row) * kCapacity + column) =
        make_float2(two[0] * scale, two[1] * scale);
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Estimates

// Adds the thread's sample of all patches' estimates (mean + estimate) to the sums, and the patches' weights.
template <int kCapacity>
__device__ __forceinline__ void add_estimates(const FilterArguments& arguments, const TakenPatches& taken,
                                              float mean, float deviation,
                                              const float (&estimates)[kCapacity]) {
  const int pitch = arguments.samples.pitch;
  const int sample = static_cast<int>(threadIdx.x) % kSliceSamples;
  // Numerators and denominators must have equal weights, so the weight is rounded once for both.
  const int weight =
      max(__float2int_rn(weight_factor(arguments.curve.least, deviation) * arguments.weight_unit), 1);
  const float scale = static_cast<float>(weight) * arguments.numerator_unit *
                      arguments.window[sample / kPatch] * arguments.window[sample % kPatch];
  const auto add = [](std::int64_t* sum, int value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum),
              static_cast<unsigned long long>(static_cast<long long>(value)));
  };
  if (taken.has_sample()) {
#pragma unroll
    for (int i = 0; i < kCapacity; ++i) {
      if (i < taken.patches) {
        if (std::int64_t* const sums = arguments.sums[taken.picture(i)]; sums != nullptr) {
          // Converted to the nearest representable integer.
          add(sums + taken.own_offset(i, pitch), __float2int_rn((mean + estimates[i]) * scale));
        }
      }
    }
  }
  for (int i = threadIdx.x; i < taken.patches * taken.slices; i += kSamples) {
    const int patch = i / taken.slices;
    const int picture = taken.pictures[patch] + i % taken.slices * taken.direction;
    if (std::int64_t* const sums = arguments.sums[picture]; sums != nullptr) {
      add(sums + arguments.positions + taken.offset(patch, pitch), weight);
    }
  }
}

// Pitch of pairs of patches' samples, in half as many rows as there are patches; those of a tile are in
// different banks.
constexpr int kPairPitch = kSamples + 4;

// Shared memory of a block that multiplies patches by a matrix. In the second step, both parts begin with
// other matrices.
template <int kCapacity>
struct EstimateMemory {
  union {
    float estimates[kCapacity * kRowPitch];
    float differences[kCapacity * kRowPitch];  // of the noisy patches and the basic estimates
  };
  union {
    Operand pairs[kCapacity / 2 * kPairPitch];
    float basic[kCapacity * kRowPitch];  // basic estimates times the noise's inverse covariance
  };
};

// Stores the thread's samples of all patches as pairs. Ends with a barrier.
template <int kCapacity>
__device__ __forceinline__ void share_pairs(const float (&values)[kCapacity], float to_units,
                                            EstimateMemory<kCapacity>& memory) {
#pragma unroll
  for (int i = 0; i < kCapacity; i += 2) {
    memory.pairs[i / 2 * kPairPitch + threadIdx.x] =
        split<true>(values[i] * to_units, values[i + 1] * to_units);
  }
  __syncthreads();
}

// The products of 16 rows of a matrix and the patches: rows of the estimates from number 16 m on.
template <int kCapacity>
__device__ __forceinline__ void multiply_patches(const Tile (&matrix)[kCapacity / 16], int m, float scale,
                                                 EstimateMemory<kCapacity>& memory) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
#pragma unroll 4
  for (int first = 0; first < kSamples; first += 8) {
    float sums[4] = {};
#pragma unroll
    for (int k = 0; k < kCapacity / 16; ++k) {
      const Operand* const at = memory.pairs + (8 * k + lane % 4) * kPairPitch + first + lane / 4;
      multiply_add(sums, matrix[k], at[0], at[4 * kPairPitch]);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float* const two = memory.estimates + (16 * m + tile_row(i)) * kRowPitch + first + tile_column(i);
      *reinterpret_cast<float2*>(two) = make_float2(sums[2 * i] * scale, sums[2 * i + 1] * scale);
    }
  }
}

// Loads the thread's sample of all estimates, which warps have made. Begins with a barrier.
template <int kCapacity>
__device__ __forceinline__ void take_estimates(const EstimateMemory<kCapacity>& memory,
                                               float (&estimates)[kCapacity]) {
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    estimates[i] = memory.estimates[i * kRowPitch + threadIdx.x];
  }
}

// The first step: F A.
template <int kCapacity>
__global__ void __launch_bounds__(kSamples)
    project_kernel(const __grid_constant__ FilterArguments arguments) {
  extern __shared__ float4 shared[];
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  auto& memory = *reinterpret_cast<EstimateMemory<kCapacity>*>(shared);
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  const float deviation = arguments.groups.deviations[group];
  const float to_units = arguments.to_units(deviation);
  float values[kCapacity];
  const float mean = load_samples<float>(taken, arguments.planes, arguments.samples.pitch, values);
  share_pairs(values, to_units, memory);
  constexpr int kTiles = kCapacity / 16;
  if (const int warp = static_cast<int>(threadIdx.x) / kWarp; warp < kTiles) {
    const float* const matrix = arguments.groups.matrices + (group * kCapacity + 16 * warp) * kCapacity;
    Tile row[kTiles];
#pragma unroll
    for (int k = 0; k < kTiles; ++k) {
      row[k] = load_tile(matrix + 16 * k, kCapacity);
    }
    multiply_patches<kCapacity>(row, warp, 1 / to_units, memory);
  }
  take_estimates(memory, values);
  add_estimates(arguments, taken, mean, deviation, values);
}

// The second step: (H + D B^T F) B of the basic estimates B and the differences D.
template <bool kIn2d, int kCapacity>
__global__ void __launch_bounds__(kSamples) shrink_kernel(const __grid_constant__ FilterArguments arguments) {
  extern __shared__ float4 shared[];
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  auto& memory = *reinterpret_cast<EstimateMemory<kCapacity>*>(shared);
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  const int t = static_cast<int>(threadIdx.x);
  const int pitch = arguments.samples.pitch;
  const float deviation = arguments.groups.deviations[group];
  const float to_units = arguments.to_units(deviation);
  float values[kCapacity];
  const auto* const noisy = reinterpret_cast<const void* const*>(arguments.noisy);
  const float mean = load_samples<float>(taken, noisy, pitch, values);
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    memory.differences[i * kRowPitch + t] = values[i] * to_units;
  }
  load_samples<__half>(taken, arguments.planes, pitch, values);
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    memory.basic[i * kRowPitch + t] = values[i] * to_units;
    memory.differences[i * kRowPitch + t] -= values[i] * to_units;
  }
  __syncthreads();
  if constexpr (kIn2d) {
    transform_slices<true>(arguments.dct, memory.basic, taken.patches);
    const float factor = arguments.whitening.factors[t % kSliceSamples];
    whiten<kCapacity>(factor * factor, memory.basic);
    transform_slices<false>(arguments.dct, memory.basic, taken.patches);
  }
  const Operand* const differences = split_rows<kCapacity>(memory.differences);
  const Operand* const basic = split_rows<kCapacity>(memory.basic);
  constexpr int kTiles = kCapacity / 16;
  const int warp = t / kWarp;
  Tile row[kTiles];
  if (warp < kTiles) {
    TileRow<kTiles> products;
    multiply_rows<kTiles>(differences, basic, warp, taken.slices * kSliceSamples, products);
    // Divided by n - 1, and F multiplied by it, which keeps both in the range of halves.
    const auto others = static_cast<float>(max(taken.patches - 1, 1));
    products.for_each_pair([&](float* two, int, int) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        two[i] = fminf(fmaxf(two[i] * (kUnit * kUnit / others), -kGreatest), kGreatest);
      }
    });
#pragma unroll
    for (int k = 0; k < kTiles; ++k) {
      row[k] = products.tile(k);
    }
    const float* const filter = arguments.groups.matrices + group * kCapacity * kCapacity;
    const float* const kept = arguments.groups.kept + group * kCapacity * kCapacity;
    TileRow<kTiles> result;
#pragma unroll
    for (int n = 0; n < kTiles; ++n) {
#pragma unroll
      for (int k = 0; k < kTiles; ++k) {
        const Tile tile = load_tile(filter + (16 * n * kCapacity + 16 * k), kCapacity, others);
        multiply_by_transposed(result.sums[n][0], result.sums[n][1], row[k], tile);
      }
    }
    result.for_each_pair([&](float* two, int of_row, int column) {
      const auto more = *reinterpret_cast<const float2*>(kept + (16 * warp + of_row) * kCapacity + column);
      two[0] += more.x;
      two[1] += more.y;
    });
#pragma unroll
    for (int k = 0; k < kTiles; ++k) {
      row[k] = result.tile(k);
    }
  }
  __syncthreads();
  share_pairs(values, to_units, memory);
  if (warp < kTiles) {
    multiply_patches<kCapacity>(row, warp, 1 / to_units, memory);
  }
  take_estimates(memory, values);
  add_estimates(arguments, taken, mean, deviation, values);
}

// ---------------------------------------------------------------------------------------------------------------------

static_assert(PatchGroups::kCapacities[2] == limpid::vnlb::kMostPatches);

template <typename Kernel, typename... Arguments>
void launch_over_groups(Kernel* kernel, int groups, int threads, std::size_t shared_bytes,
                        cudaStream_t stream, const Arguments&... arguments) {
  allow_shared_memory(kernel, shared_bytes);
  launch(kernel, groups, threads, shared_bytes, stream, arguments...);
}

FilterArguments make_arguments(const GroupJob& job, const PatchGroups& groups, bool second_step,
                               bool& in_2d) {
  FilterArguments arguments{};
  arguments.groups = groups;
  for (int p = 0; p < kMostPictures; ++p) {
    arguments.noisy[p] = static_cast<const float*>(job.noisy[p]);
    arguments.planes[p] = second_step ? job.basic[p] : job.noisy[p];
    arguments.sums[p] = static_cast<std::int64_t*>(job.sums[p]);
  }
  arguments.samples = job.samples;
  arguments.positions = static_cast<std::ptrdiff_t>(job.samples.pitch) * job.grid.height;
  arguments.curve = make_curve(job.curve);
  arguments.first_group = static_cast<std::ptrdiff_t>(job.groups.first_row) * job.grid.columns;
  arguments.brightness = job.brightness;
  in_2d = false;
  for (int i = 0; i < kSliceSamples; ++i) {
    in_2d = in_2d || job.variances[i] != 1;
    arguments.whitening.factors[i] = 1 / std::sqrt(job.variances[i]);
  }
  const TransformMatrices dct = transform_matrices(Transform2d::kDct, kPatch);
  for (int i = 0; i < kSliceSamples; ++i) {
    arguments.dct[i / kPatch][i % kPatch] = static_cast<float>(dct.forward[i]);
  }
  std::copy_n(job.tables->window, kPatch, arguments.window);
  arguments.sigma = job.sigma;
  arguments.weight_unit = std::ldexp(1.0F, job.format.weight_bits);
  arguments.numerator_unit = std::ldexp(1.0F, job.format.numerator_bits - job.format.weight_bits);
  return arguments;
}

}  // namespace

int PatchGroups::capacity_for(int patches) {
  return *std::find_if(std::begin(kCapacities), std::end(kCapacities) - 1,
                       [patches](int capacity) { return patches <= capacity; });
}

std::size_t PatchGroups::bytes_of(int capacity) {
  const std::size_t square = static_cast<std::size_t>(capacity) * capacity;
  return 2 * square * sizeof(float) + capacity * (sizeof(unsigned) + sizeof(std::int8_t)) + sizeof(int) +
         sizeof(float);
}

PatchGroups PatchGroups::in(void* memory, int capacity, std::size_t count) {
  PatchGroups groups;
  groups.capacity = capacity;
  // Data that kernels read in pairs comes first.
  groups.matrices = static_cast<float*>(memory);
  groups.kept = groups.matrices + count * capacity * capacity;
  groups.deviations = groups.kept + count * capacity * capacity;
  groups.places = reinterpret_cast<unsigned*>(groups.deviations + count);
  groups.shapes = reinterpret_cast<int*>(groups.places + count * capacity);
  groups.pictures = reinterpret_cast<std::int8_t*>(groups.shapes + count);
  return groups;
}

void filter_patch_groups(const GroupJob& job, const PatchGroups& groups, cudaStream_t stream) {
  const bool second_step = job.basic[job.own] != nullptr;
  bool in_2d = false;
  const FilterArguments arguments = make_arguments(job, groups, second_step, in_2d);
  const int count = (job.groups.last_row - job.groups.first_row) * job.grid.columns;
  PatchGroups::with_capacity(groups.capacity, [&](auto capacity) {
    constexpr int kCapacity = decltype(capacity)::value;
    const auto multiply = [&]<typename Sample>() {
      launch_over_groups(
          in_2d ? multiply_kernel<Sample, true, kCapacity> : multiply_kernel<Sample, false, kCapacity>, count,
          kSamples, kCapacity * kRowPitch * sizeof(float), stream, arguments);
    };
    second_step ? multiply.template operator()<__half>() : multiply.template operator()<float>();
    filter_eigenvalues(groups, count, second_step, stream);
    if (second_step) {
      launch_over_groups(in_2d ? shrink_kernel<true, kCapacity> : shrink_kernel<false, kCapacity>, count,
                         kSamples, sizeof(EstimateMemory<kCapacity>), stream, arguments);
    } else {
      launch_over_groups(project_kernel<kCapacity>, count, kSamples, sizeof(EstimateMemory<kCapacity>),
                         stream, arguments);
    }
  });
}

}  // namespace limpid::cuda
