#include <cuda_fp16.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/bm3d/bm3d_plan.h"
#include "core/bm3d/transforms.h"
#include "cuda/bm3d/noise_curve.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vnlb/patch_groups.h"

// Three kernels filter the groups of a band. The first multiplies a group's patches by each other: a block
// loads them, a thread for each of their samples, and its threads make tiles of the product. The second
// finds eigenvectors, a warp for each group: Householder's reflections make the matrix tridiagonal, QL
// iterations diagonal. All lanes compute a rotation, and each turns its columns of the eigenvectors. Then a
// lane undoes the reflections of an eigenvector that is kept. The third filters, a thread for each sample.
//
// The first is bound by shared memory, the second by the latency of rotations, which follow each other, the
// third by additions to the sums in the first step, and by shared memory in the second.

namespace limpid::cuda {
namespace {

using limpid::vnlb::kPatch;
using limpid::vnlb::kSlices;

constexpr int kSliceSamples = kPatch * kPatch;
constexpr int kSamples = kSlices * kSliceSamples;  // of a patch; threads of a block
// Of patches in shared memory, in floats: four values of rows beside each other are in different banks.
constexpr int kRowPitch = kSamples + 4;
constexpr int kVectorsAtATime = 16;

// A function of the samples' frequencies: of their deviations' reciprocals, or variances'.
struct Spectrum {
  float factors[kSliceSamples];  // [8 v + u]
};

struct FilterArguments {
  PatchGroups groups;
  const void* planes[kMostPictures];  // what the kernel looks at
  const float* noisy[kMostPictures];
  std::int64_t* sums[kMostPictures];
  GroupSamples samples;
  std::ptrdiff_t positions;  // of the sums
  NoiseCurve curve;
  Spectrum whitening;
  float dct[kPatch][kPatch];
  float window[kPatch];
  float unit_variance;   // of the noise, of samples as groups take them
  float weight_unit;     // units of 1
  float numerator_unit;  // units of numerators, of a unit of weights
};

// A group as a block's threads have it.
struct TakenPatches {
  int patches;
  int slices;
  int direction;
  unsigned* places;  // in shared memory
  std::int8_t* pictures;

  // Thread t has sample t of each patch; its slice exists.
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

// With a barrier.
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

// The thread's sample of all patches, less their mean, which it returns.
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

// The mean of all threads' values, for all of them.
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
// needs one before it.
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

__device__ __forceinline__ float product_of(const float4& a, const float4& b, float sum) {
  return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

// ---------------------------------------------------------------------------------------------------------------------
// Products

template <typename Sample, bool kIn2d, int kCapacity>
__global__ void __launch_bounds__(kSamples)
    multiply_kernel(const __grid_constant__ FilterArguments arguments) {
  extern __shared__ float4 memory[];
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  const int t = static_cast<int>(threadIdx.x);
  auto* const matrix = reinterpret_cast<float*>(memory);
  float values[kCapacity];
  const float mean = load_samples<Sample>(taken, arguments.planes, arguments.samples.pitch, values);
#pragma unroll
  for (int i = 0; i < kCapacity; ++i) {
    matrix[i * kRowPitch + t] = values[i];
  }
  const float brightness =
      mean_of_block(taken.has_sample() ? mean : 0.0F, taken.slices * kSliceSamples) / arguments.samples.unit +
      arguments.samples.offset;
  const float deviation = arguments.curve.at(brightness);
  if (t == 0) {
    arguments.groups.deviations[group] = deviation;
  }
  if constexpr (kIn2d) {
    transform_slices<true>(arguments.dct, matrix, taken.patches);
    const float factor = arguments.whitening.factors[t % kSliceSamples];
    for (int i = 0; i < taken.patches; ++i) {
      matrix[i * kRowPitch + t] *= factor;
    }
    __syncthreads();
  }

  constexpr int kRows = kCapacity / 16;
  constexpr int kColumns = kCapacity / 8;
  const int row = t / 8;
  const int column = t % 8;
  float sums[kRows][kColumns] = {};
#pragma unroll 2
  for (int k = 0; k < taken.slices * kSliceSamples; k += 4) {
    float4 of_column[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      of_column[j] = memory[((column + 8 * j) * kRowPitch + k) / 4];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const float4 of_row = memory[((row + 16 * i) * kRowPitch + k) / 4];
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        sums[i][j] = product_of(of_row, of_column[j], sums[i][j]);
      }
    }
  }
  const float scale =
      1 / (arguments.unit_variance * deviation * deviation * static_cast<float>(max(taken.patches - 1, 1)));
  float* const out = arguments.groups.matrices + group * kCapacity * kCapacity;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      out[(row + 16 * i) * kCapacity + column + 8 * j] = sums[i][j] * scale;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Eigenvectors

__device__ __forceinline__ float sum_of_warp(float value) {
  return combine_warp(value, [](float a, float b) { return a + b; });
}

// To within a rounding or two, of normal numbers.
__device__ __forceinline__ float reciprocal_root(float value) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
  return root * fmaf(-0.5F * value * root, root, 1.5F);
}

// What a warp finds eigenvectors in. Of rows that lie beside each other columns are in different banks, and
// so are rows of a column.
template <int kCapacity>
struct Decomposition {
  static constexpr int kPitch = kCapacity + 1;
  static constexpr int kOfLane = (kCapacity + kWarp - 1) / kWarp;  // columns

  float matrix[kCapacity * kPitch];  // then the reflections' vectors, as rows
  float vectors[kCapacity * kPitch];
  // Of the tridiagonal matrix: a diagonal element, and what is between it and the next one.
  float2 tridiagonal[kCapacity];
  float reflections[kCapacity];
  float work[kCapacity];

  __device__ void load(const float* from, int size) {
    for (int i = 0; i < size; ++i) {
      for (int column = threadIdx.x; column < size; column += kWarp) {
        matrix[i * kPitch + column] = from[i * kCapacity + column];
      }
    }
    __syncwarp();
  }

  // Each reflection is I - factor v v^T.
  __device__ void make_tridiagonal(int size) {
    const int lane = static_cast<int>(threadIdx.x);
    for (int k = 0; k < size; ++k) {
      float* const row = matrix + k * kPitch;
      const float on_diagonal = row[k];
      if (k + 1 == size) {
        tridiagonal[k] = make_float2(on_diagonal, 0);
        reflections[k] = 0;
        break;
      }
      const float head = row[k + 1];
      float v[kOfLane];
      float square = 0;
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        const int column = lane + q * kWarp;
        v[q] = column > k && column < size ? row[column] : 0.0F;
        square = fmaf(v[q], v[q], square);
      }
      square = sum_of_warp(square);
      const float norm = sqrtf(square);
      const float reflected = head > 0 ? -norm : norm;
      const float half = square - head * reflected;  // of (v - reflected e)^2
      const bool reflects = k + 2 < size && half > FLT_MIN;
      const float factor = reflects ? 1 / half : 0.0F;
      __syncwarp();
      tridiagonal[k] = make_float2(on_diagonal, reflects ? reflected : k + 2 == size ? head : 0.0F);
      reflections[k] = factor;
      if (!reflects) {
        continue;
      }
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        const int column = lane + q * kWarp;
        v[q] -= column == k + 1 ? reflected : 0.0F;
        if (column < size) {
          row[column] = v[q];
        }
      }
      __syncwarp();
      // w = factor A v, less what makes the update symmetric.
      float w[kOfLane] = {};
#pragma unroll 4
      for (int i = k + 1; i < size; ++i) {
        const float by = row[i];
#pragma unroll
        for (int q = 0; q < kOfLane; ++q) {
          const int column = min(lane + q * kWarp, size - 1);
          w[q] = fmaf(by, matrix[i * kPitch + column], w[q]);
        }
      }
      float share = 0;
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        w[q] *= factor;
        share = fmaf(v[q], w[q], share);
      }
      share = -factor / 2 * sum_of_warp(share);
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        const int column = lane + q * kWarp;
        w[q] = fmaf(share, v[q], w[q]);
        if (column < size) {
          work[column] = w[q];
        }
      }
      __syncwarp();
#pragma unroll 4
      for (int i = k + 1; i < size; ++i) {
        const float by_w = row[i];
        const float by_v = work[i];
#pragma unroll
        for (int q = 0; q < kOfLane; ++q) {
          const int column = lane + q * kWarp;
          if (column > k && column < size) {
            float& value = matrix[i * kPitch + column];
            value = fmaf(-by_v, v[q], fmaf(-by_w, w[q], value));
          }
        }
      }
      __syncwarp();
    }
    __syncwarp();
  }

  // The eigenvalues take the diagonal's place, the tridiagonal matrix's eigenvectors are rows.
  __device__ void decompose_tridiagonal(int size) {
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = 0; i < size; ++i) {
      for (int column = lane; column < kCapacity; column += kWarp) {
        vectors[i * kPitch + column] = column == i ? 1.0F : 0.0F;
      }
    }
    float greatest = 0;
    for (int i = lane; i < size; i += kWarp) {
      greatest = fmaxf(greatest, fabsf(tridiagonal[i].x) + fabsf(tridiagonal[i].y));
    }
    const float negligible = FLT_EPSILON / 2 * greatest_of_warp(greatest);
    constexpr int kMostIterations = 40;  // two or three suffice
    for (int first = 0; first < size; ++first) {
      for (int iteration = 0; iteration < kMostIterations; ++iteration) {
        const int last = end_of_block(first, size, negligible);
        if (last == first) {
          break;
        }
        turn(first, last);
        __syncwarp();
      }
    }
  }

  // The first row from `first` on that has nothing beside its diagonal.
  __device__ __forceinline__ int end_of_block(int first, int size, float negligible) const {
    for (int begin = first; begin < size; begin += kWarp) {
      const int i = begin + static_cast<int>(threadIdx.x);
      const unsigned ends = __ballot_sync(kAllLanes, i + 1 >= size || fabsf(tridiagonal[i].y) <= negligible);
      if (ends != 0) {
        return begin + __ffs(static_cast<int>(ends)) - 1;
      }
    }
    return first;
  }

  // A row of the tridiagonal matrix, with the lane's part of that of the eigenvectors.
  struct Row {
    float2 elements;
    float vector[kOfLane];
  };
  __device__ __forceinline__ Row row_of(int i) const {
    Row row;
    row.elements = tridiagonal[i];
#pragma unroll
    for (int q = 0; q < kOfLane; ++q) {
      const int column = static_cast<int>(threadIdx.x) + q * kWarp;
      row.vector[q] = column < kCapacity ? vectors[i * kPitch + column] : 0.0F;
    }
    return row;
  }
  __device__ __forceinline__ void store_vector(int i, const float (&vector)[kOfLane]) {
#pragma unroll
    for (int q = 0; q < kOfLane; ++q) {
      if (const int column = static_cast<int>(threadIdx.x) + q * kWarp; column < kCapacity) {
        vectors[i * kPitch + column] = vector[q];
      }
    }
  }

  // An iteration with implicit shifts, on rows first to last, upwards. All lanes compute the rotations, and
  // read elements before any of them writes those behind; each turns columns of its own.
  __device__ __forceinline__ void turn(int first, int last) {
    const bool writes = threadIdx.x == 0;
    const float2 head = tridiagonal[first];
    const float slope = (tridiagonal[first + 1].x - head.x) / (2 * head.y);
    const float root = sqrtf(fmaf(slope, slope, 1.0F));
    Row upper = row_of(last);
    float g = upper.elements.x - head.x + head.y / (slope + copysignf(root, slope));
    float sine = 1;
    float cosine = 1;
    float shift = 0;
    Row next = row_of(last - 1);
    __syncwarp();
    int i = last - 1;
    bool fell_apart = false;
#pragma unroll 2
    for (; i >= first; --i) {
      const Row lower = next;
      next = row_of(max(i - 1, first));  // on its way while this one is turned
      __syncwarp();
      const float f = sine * lower.elements.y;
      const float b = cosine * lower.elements.y;
      const float square = fmaf(f, f, g * g);
      fell_apart = !(square >= FLT_MIN);
      if (fell_apart) {
        break;
      }
      const float inverse = reciprocal_root(square);
      sine = f * inverse;
      cosine = g * inverse;
      g = upper.elements.x - shift;
      const float turned = fmaf(lower.elements.x - g, sine, 2 * cosine * b);
      shift = sine * turned;
      if (writes) {
        tridiagonal[i + 1] = make_float2(g + shift, i + 1 < last ? square * inverse : 0.0F);
      }
      g = fmaf(cosine, turned, -b);
      upper.elements.x = lower.elements.x;
      float higher[kOfLane];
#pragma unroll
      for (int q = 0; q < kOfLane; ++q) {
        higher[q] = fmaf(sine, lower.vector[q], cosine * upper.vector[q]);
        upper.vector[q] = fmaf(-sine, upper.vector[q], cosine * lower.vector[q]);
      }
      store_vector(i + 1, higher);
    }
    store_vector(i + 1, upper.vector);
    if (writes) {
      tridiagonal[i + 1] = make_float2(upper.elements.x - shift, fell_apart ? 0.0F : g);
    }
  }

  // Makes a row of `vectors` an eigenvector of the matrix. Lanes have rows of their own.
  __device__ void reflect_back(int size, int number) {
    float* const vector = vectors + number * kPitch;
    for (int k = size - 3; k >= 0; --k) {
      const float* const row = matrix + k * kPitch;
      float share = 0;
      for (int i = k + 1; i < size; ++i) {
        share = fmaf(row[i], vector[i], share);
      }
      share *= reflections[k];
      for (int i = k + 1; i < size; ++i) {
        vector[i] = fmaf(-share, row[i], vector[i]);
      }
    }
  }
};

struct NoiseEdges {
  float of[kSlices][limpid::vnlb::kMostPatches + 1];  // [slices - 1][patches]
};

NoiseEdges noise_edges() {
  NoiseEdges edges{};
  for (int slices = 1; slices <= kSlices; ++slices) {
    for (int patches = 2; patches <= limpid::vnlb::kMostPatches; ++patches) {
      edges.of[slices - 1][patches] = limpid::vnlb::noise_edge(patches, slices * kSliceSamples);
    }
  }
  return edges;
}

template <bool kSecondStep>
__device__ __forceinline__ float factor_of(float x, int patches, float edge) {
  if constexpr (kSecondStep) {
    const float kept = limpid::vnlb::second_step_factor(x);
    return kept > 0 ? kept / (x * static_cast<float>(patches - 1)) : 0.0F;
  } else {
    return limpid::vnlb::first_step_factor(x, edge);
  }
}

template <bool kSecondStep, int kCapacity>
__global__ void __launch_bounds__(kWarp)
    decompose_kernel(PatchGroups groups, const __grid_constant__ NoiseEdges edges) {
  extern __shared__ float4 memory[];
  auto& work = *reinterpret_cast<Decomposition<kCapacity>*>(memory);
  follow_stream();
  const std::ptrdiff_t group = blockIdx.x;
  const int lane = static_cast<int>(threadIdx.x);
  const int shape = groups.shapes[group];
  const int patches = shape % PatchGroups::kSlicesUnit;
  const int slices =
      shape / PatchGroups::kSlicesUnit % (PatchGroups::kDirectionUnit / PatchGroups::kSlicesUnit);
  int kept = 0;
  if (patches > 1) {
    float* const matrix = groups.matrices + group * kCapacity * kCapacity;
    work.load(matrix, patches);
    work.make_tridiagonal(patches);
    work.decompose_tridiagonal(patches);
    const float edge = edges.of[slices - 1][patches];
    auto* const numbers = reinterpret_cast<int*>(work.work);
    for (int first = 0; first < patches; first += kWarp) {
      const int i = first + lane;
      const float factor = i < patches ? factor_of<kSecondStep>(work.tridiagonal[i].x, patches, edge) : 0.0F;
      const unsigned all = __ballot_sync(kAllLanes, factor != 0);
      if (factor != 0) {
        const int number = kept + __popc(all & ((1U << lane) - 1));
        numbers[number] = i;
        groups.factors[group * kCapacity + number] = factor;
      }
      kept += __popc(all);
    }
    __syncwarp();
    for (int j = lane; j < kept; j += kWarp) {
      work.reflect_back(patches, numbers[j]);
    }
    __syncwarp();
    for (int j = 0; j < kept; ++j) {
      const float* const vector = work.vectors + numbers[j] * Decomposition<kCapacity>::kPitch;
      for (int i = lane; i < kCapacity; i += kWarp) {
        matrix[j * kCapacity + i] = i < patches ? vector[i] : 0.0F;
      }
    }
  }
  if (lane == 0) {
    groups.kept[group] = kept;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Estimates

// Adds the thread's sample of all patches' estimates, each the mean and more, to the sums, and patches'
// weights.
template <int kCapacity>
__device__ __forceinline__ void add_estimates(const FilterArguments& arguments, const TakenPatches& taken,
                                              float mean, float deviation,
                                              const float (&estimates)[kCapacity]) {
  const int pitch = arguments.samples.pitch;
  const int sample = static_cast<int>(threadIdx.x) % kSliceSamples;
  // Numerators and denominators must have the same weight, so it is rounded once, for both.
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
          // Converted to the nearest integer that there is.
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

// The values of an eigenvector in four registers at a time, the same for all threads.
__device__ __forceinline__ float4 four_of(const float* vector, int first) {
  return __ldg(reinterpret_cast<const float4*>(vector + first));
}

template <int kCapacity>
__device__ __forceinline__ float project(const float* vector, const float (&values)[kCapacity]) {
  float sums[4] = {};
#pragma unroll
  for (int i = 0; i < kCapacity; i += 4) {
    const float4 four = four_of(vector, i);
    sums[0] = fmaf(four.x, values[i], sums[0]);
    sums[1] = fmaf(four.y, values[i + 1], sums[1]);
    sums[2] = fmaf(four.z, values[i + 2], sums[2]);
    sums[3] = fmaf(four.w, values[i + 3], sums[3]);
  }
  return sums[0] + sums[1] + (sums[2] + sums[3]);
}

// The first step: what eigenvectors have of the noisy patches.
template <int kCapacity>
__global__ void __launch_bounds__(kSamples)
    project_kernel(const __grid_constant__ FilterArguments arguments) {
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  float values[kCapacity];
  const float mean = load_samples<float>(taken, arguments.planes, arguments.samples.pitch, values);
  float estimates[kCapacity] = {};
  const int kept = arguments.groups.kept[group];
  for (int j = 0; j < kept; ++j) {
    const float* const vector = arguments.groups.matrices + (group * kCapacity + j) * kCapacity;
    const float share = arguments.groups.factors[group * kCapacity + j] * project(vector, values);
#pragma unroll
    for (int i = 0; i < kCapacity; i += 4) {
      const float4 four = four_of(vector, i);
      estimates[i] = fmaf(share, four.x, estimates[i]);
      estimates[i + 1] = fmaf(share, four.y, estimates[i + 1]);
      estimates[i + 2] = fmaf(share, four.z, estimates[i + 2]);
      estimates[i + 3] = fmaf(share, four.w, estimates[i + 3]);
    }
  }
  add_estimates(arguments, taken, mean, arguments.groups.deviations[group], estimates);
}

template <int kCapacity>
struct SecondStepMemory {
  float noisy[kCapacity * kRowPitch];
  float directions[kVectorsAtATime * kRowPitch];  // of the basic estimates' signal, in samples
  float whitened[kVectorsAtATime * kRowPitch];    // the same by the noise's inverse covariance
  float shares[kVectorsAtATime * kCapacity];
};

// The second step: B F B^T N with patches as columns, N of the noisy patches and B of the basic estimates. F
// is made of eigenvectors, each of which gives B one direction.
template <bool kIn2d, int kCapacity>
__global__ void __launch_bounds__(kSamples) shrink_kernel(const __grid_constant__ FilterArguments arguments) {
  extern __shared__ float4 memory[];
  __shared__ SharedPlaces<kCapacity> places;
  follow_stream();
  auto& shared = *reinterpret_cast<SecondStepMemory<kCapacity>*>(memory);
  const TakenPatches taken = take_patches(arguments.groups, places);
  const std::ptrdiff_t group = blockIdx.x;
  const int t = static_cast<int>(threadIdx.x);
  const int pitch = arguments.samples.pitch;
  const float deviation = arguments.groups.deviations[group];
  const int kept = arguments.groups.kept[group];
  float estimates[kCapacity] = {};
  float basic[kCapacity];
  const auto* const noisy = reinterpret_cast<const void* const*>(arguments.noisy);
  const float mean = load_samples<float>(taken, noisy, pitch, basic);
  if (kept > 0) {
#pragma unroll
    for (int i = 0; i < kCapacity; ++i) {
      shared.noisy[i * kRowPitch + t] = basic[i];
    }
    load_samples<__half>(taken, arguments.planes, pitch, basic);
  }
  const float scale = 1 / (arguments.unit_variance * deviation * deviation);
  for (int first = 0; first < kept; first += kVectorsAtATime) {
    const int count = min(kVectorsAtATime, kept - first);
    const float* const vectors = arguments.groups.matrices + (group * kCapacity + first) * kCapacity;
    for (int j = 0; j < kVectorsAtATime; ++j) {
      const float sample = j < count ? project(vectors + j * kCapacity, basic) : 0.0F;
      shared.directions[j * kRowPitch + t] = sample;
      if constexpr (kIn2d) {
        shared.whitened[j * kRowPitch + t] = sample;
      }
    }
    __syncthreads();
    if constexpr (kIn2d) {
      transform_slices<true>(arguments.dct, shared.whitened, count);
      const float factor = arguments.whitening.factors[t % kSliceSamples];
      for (int j = 0; j < count; ++j) {
        shared.whitened[j * kRowPitch + t] *= factor * factor;
      }
      __syncthreads();
      transform_slices<false>(arguments.dct, shared.whitened, count);
    }
    const float* const rows = kIn2d ? shared.whitened : shared.directions;
    constexpr int kColumns = kCapacity / 8;
    const int row = t / 8;
    const int column = t % 8;
    float sums[kColumns] = {};
#pragma unroll 2
    for (int k = 0; k < taken.slices * kSliceSamples; k += 4) {
      const float4 of_row = *reinterpret_cast<const float4*>(rows + row * kRowPitch + k);
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        sums[i] = product_of(
            of_row, *reinterpret_cast<const float4*>(shared.noisy + (column + 8 * i) * kRowPitch + k),
            sums[i]);
      }
    }
    const float factor =
        row < count ? arguments.groups.factors[group * kCapacity + first + row] * scale : 0.0F;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      shared.shares[row * kCapacity + column + 8 * i] = sums[i] * factor;
    }
    __syncthreads();
    for (int j = 0; j < count; ++j) {
      const float direction = shared.directions[j * kRowPitch + t];
#pragma unroll
      for (int i = 0; i < kCapacity; i += 4) {
        const float4 four = *reinterpret_cast<const float4*>(shared.shares + j * kCapacity + i);
        estimates[i] = fmaf(four.x, direction, estimates[i]);
        estimates[i + 1] = fmaf(four.y, direction, estimates[i + 1]);
        estimates[i + 2] = fmaf(four.z, direction, estimates[i + 2]);
        estimates[i + 3] = fmaf(four.w, direction, estimates[i + 3]);
      }
    }
    __syncthreads();
  }
  add_estimates(arguments, taken, mean, deviation, estimates);
}

// ---------------------------------------------------------------------------------------------------------------------

// Capacities that kernels are compiled for.
constexpr int kCapacities[] = {32, 48, 64};
static_assert(kCapacities[2] == limpid::vnlb::kMostPatches);

template <typename Launch>
void with_capacity(int capacity, const Launch& with) {
  switch (capacity) {
    case kCapacities[0]:
      return with(std::integral_constant<int, kCapacities[0]>());
    case kCapacities[1]:
      return with(std::integral_constant<int, kCapacities[1]>());
    default:
      return with(std::integral_constant<int, kCapacities[2]>());
  }
}

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
  const float sigma = job.sigma * job.samples.unit;
  arguments.unit_variance = sigma * sigma;
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
  return square * sizeof(float) + capacity * (sizeof(float) + sizeof(unsigned) + sizeof(std::int8_t)) +
         2 * sizeof(int) + sizeof(float);
}

PatchGroups PatchGroups::in(void* memory, int capacity, std::size_t count) {
  PatchGroups groups;
  groups.capacity = capacity;
  // What kernels read four at a time comes first.
  groups.matrices = static_cast<float*>(memory);
  groups.factors = groups.matrices + count * capacity * capacity;
  groups.deviations = groups.factors + count * capacity;
  groups.places = reinterpret_cast<unsigned*>(groups.deviations + count);
  groups.shapes = reinterpret_cast<int*>(groups.places + count * capacity);
  groups.kept = groups.shapes + count;
  groups.pictures = reinterpret_cast<std::int8_t*>(groups.kept + count);
  return groups;
}

void decompose_patch_groups(const PatchGroups& groups, int count, bool second_step, cudaStream_t stream) {
  const NoiseEdges edges = noise_edges();
  with_capacity(groups.capacity, [&](auto capacity) {
    constexpr int kCapacity = decltype(capacity)::value;
    launch_over_groups(second_step ? decompose_kernel<true, kCapacity> : decompose_kernel<false, kCapacity>,
                       count, kWarp, sizeof(Decomposition<kCapacity>), stream, groups, edges);
  });
}

void filter_patch_groups(const GroupJob& job, const PatchGroups& groups, cudaStream_t stream) {
  const bool second_step = job.basic[job.own] != nullptr;
  bool in_2d = false;
  const FilterArguments arguments = make_arguments(job, groups, second_step, in_2d);
  const int count = (job.groups.last_row - job.groups.first_row) * job.grid.columns;
  with_capacity(groups.capacity, [&](auto capacity) {
    constexpr int kCapacity = decltype(capacity)::value;
    const auto multiply = [&]<typename Sample>() {
      launch_over_groups(
          in_2d ? multiply_kernel<Sample, true, kCapacity> : multiply_kernel<Sample, false, kCapacity>, count,
          kSamples, kCapacity * kRowPitch * sizeof(float), stream, arguments);
    };
    second_step ? multiply.template operator()<__half>() : multiply.template operator()<float>();
    decompose_patch_groups(groups, count, second_step, stream);
    if (second_step) {
      launch_over_groups(in_2d ? shrink_kernel<true, kCapacity> : shrink_kernel<false, kCapacity>, count,
                         kSamples, sizeof(SecondStepMemory<kCapacity>), stream, arguments);
    } else {
      launch_over_groups(project_kernel<kCapacity>, count, kSamples, 0, stream, arguments);
    }
  });
}

}  // namespace limpid::cuda
