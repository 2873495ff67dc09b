#pragma once

#include <cuda_fp16.h>

#include "cuda/filter.h"
#include "cuda/launch.h"
#include "cuda/transforms.cuh"

// Filtering of groups of up to 32 patches of 8x8 samples, in registers; included by filter_hard.cu and
// filter_wiener.cu, which are compiled side by side.
//
// A warp filters a group at a time. Eight lanes hold a patch, a lane one of its columns (after the transform:
// one of its rows of coefficients), and lane / 8 = q numbers four sets of K = size / 4 consecutive patches,
// so that K * 8 registers of each lane hold the group. Transforms along columns are inside of a lane, those
// along rows too after a transposition through shared memory; across the group, all levels of Haar but the
// last two are inside of a lane and these concern one patch in K. In the second step the basic estimate's
// group comes first and leaves one number per coefficient, the complement sigma^2 / (S^2 + sigma^2) of the
// Wiener factor, as a half float: it is small where the factor must be exact.
//
// A block of 8 warps owns a tile of 8 x 8 reference patches (fewer columns for wide windows) and adds what
// comes back to 32-bit fixed-point sums in shared memory, which go to the plane's sums once, at the end.
// Shared memory: 84 words per row of the tile's reach, 22 KiB at step 3 and windows of 39, and 18 KiB for
// transpositions. Registers: 64 for groups of 16 in the first step, 128 for groups of 32 in the second. Bound
// by instruction issue, half of it shuffles and shared-memory atomics.

namespace limpid::cuda {

inline constexpr int kSumPitch = 84;
inline constexpr int kFilterWarps = 8;

struct FastFilterArguments {
  ReferenceGrid grid;
  Groups groups;
  FloatPlane noisy;
  FloatPlane basic;
  AggregationSums sums;
  int radius;
  int tile_columns;             // of reference patches
  float threshold;              // first step
  float variance;               // second step
  float greatest_contribution;  // of weight * |sample - offset|; second step
  float weight_scale;           // 2^weight_bits
  float sum_scale;              // 2^(numerator_bits - weight_bits)
  float line[8];                // the aggregation window along one axis
};

__device__ __forceinline__ int sum_over_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFFU, value);
#else
  for (int i = 16; i > 0; i /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFU, value, i);
  }
  return value;
#endif
}

__device__ __forceinline__ float sum_over_warp(float value) {
#pragma unroll
  for (int i = 16; i > 0; i /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFU, value, i);
  }
  return value;
}

// Of values that are not negative, whose bits are ordered as they are.
__device__ __forceinline__ float greatest_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_max_sync(0xFFFFFFFFU, __float_as_uint(value)));
#else
  for (int i = 16; i > 0; i /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, i));
  }
  return value;
#endif
}

// 1 / value, right to a unit in the last place or two.
__device__ __forceinline__ float reciprocal(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}

// A level of the group's transform between lanes `bit` apart.
__device__ __forceinline__ void exchange(float& x, int lane, int bit) {
  const float other = __shfl_xor_sync(0xFFFFFFFFU, x, bit);
  x = kHalfSqrt * ((lane & bit) != 0 ? other - x : other + x);
}

// The transform across a group of `size` patches; it is its own inverse but for the order of its levels.
template <bool kHaar, int K>
__device__ __forceinline__ void transform_inside(float (&x)[K][8], bool forward) {
#pragma unroll
  for (int level = 1; level < K; level *= 2) {
    const int half = forward ? level : K / 2 / level;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (kHaar ? k % (2 * half) == 0 : (k & half) == 0) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          butterfly(x[k][i], x[k + half][i]);
        }
      }
    }
  }
}

template <bool kHaar, int K>
__device__ __forceinline__ void transform_lanes(float (&x)[K][8], int size, int lane, bool forward) {
  const auto low_level = [&] {
    if (K > 1 || size >= 2) {
#pragma unroll
      for (int k = 0; k < (kHaar ? 1 : K); ++k) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          exchange(x[k][i], lane, 8);
        }
      }
    }
  };
  const auto high_level = [&] {
    if (K > 1 || size >= 4) {
#pragma unroll
      for (int k = 0; k < (kHaar ? 1 : K); ++k) {
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          float value = x[k][i];
          exchange(value, lane, 16);
          x[k][i] = kHaar && (lane & 8) != 0 ? x[k][i] : value;
        }
      }
    }
  };
  if (forward) {
    low_level();
    high_level();
  } else {
    high_level();
    low_level();
  }
}

template <class Transform, bool kHaar, int K>
__device__ __forceinline__ void load_group(const FloatPlane& plane, const float* reference,
                                           const std::int16_t (&members)[K], bool active, int size, int lane,
                                           TransposeBuffer& buffer, float (&x)[K][8]) {
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const float* in = reference + offset_y(members[k]) * plane.pitch + offset_x(members[k]);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      x[k][i] = active ? in[i * plane.pitch] : 0.0F;
    }
  }
  if constexpr (K == 1) {
    __syncwarp();  // the buffer is not used in turns
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    forward_2d<Transform>(x[k], lane, buffer.halves[k % 2]);
  }
  transform_inside<kHaar, K>(x, true);
  transform_lanes<kHaar, K>(x, size, lane, true);
}

// Filters the group of `number`, whose reference patch is at (rx, ry), and adds it to the tile's sums, which
// begin at (tile_x, tile_y).
template <class Transform, bool kHaar, bool kWiener, int K>
__device__ __forceinline__ void filter_group(const FastFilterArguments& arguments, int number, int size,
                                             int rx, int ry, int tile_x, int tile_y, TransposeBuffer& buffer,
                                             int* sums) {
  const int lane = threadIdx.x % 32;
  const int column = lane % 8;
  const int first = lane / 8 * K;
  const bool active = first < size;
  const std::int16_t* group =
      arguments.groups.members + static_cast<std::ptrdiff_t>(number) * arguments.groups.capacity;
  std::int16_t members[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    members[k] = group[active ? first + k : 0];
  }
  const std::ptrdiff_t origin = static_cast<std::ptrdiff_t>(ry) * arguments.noisy.pitch + rx + column;

  float x[K][8];
  float weight;
  if constexpr (kWiener) {
    load_group<Transform, kHaar, K>(arguments.basic, arguments.basic.data + origin, members, active, size,
                                    lane, buffer, x);
    __half2 complement[K][4];
    float energy = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        const float a = arguments.variance * reciprocal(fmaf(x[k][i], x[k][i], arguments.variance));
        const float b = arguments.variance * reciprocal(fmaf(x[k][i + 1], x[k][i + 1], arguments.variance));
        complement[k][i / 2] = __floats2half2_rn(a, b);
        energy = fmaf(1 - a, 1 - a, energy);
        energy = fmaf(1 - b, 1 - b, energy);
      }
    }
    weight = 1.0F / fmaxf(1.0F, sum_over_warp(energy));
    load_group<Transform, kHaar, K>(arguments.noisy, arguments.noisy.data + origin, members, active, size,
                                    lane, buffer, x);
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < 8; i += 2) {
        const float2 c = __half22float2(complement[k][i / 2]);
        x[k][i] = fmaf(-c.x, x[k][i], x[k][i]);
        x[k][i + 1] = fmaf(-c.y, x[k][i + 1], x[k][i + 1]);
      }
    }
  } else {
    load_group<Transform, kHaar, K>(arguments.noisy, arguments.noisy.data + origin, members, active, size,
                                    lane, buffer, x);
    int kept = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const bool keep = fabsf(x[k][i]) > arguments.threshold || (k == 0 && i == 0 && lane == 0);
        kept += keep ? 1 : 0;
        x[k][i] = keep ? x[k][i] : 0.0F;
      }
    }
    weight = 1.0F / static_cast<float>(sum_over_warp(kept));
  }
  // Taken off the mean, the offset is off every sample: a patch of 8x8 ones has the coefficient 8.
  if (lane == 0) {
    x[0][0] -= 8 * arguments.sums.offset * sqrtf(static_cast<float>(size));
  }
  transform_lanes<kHaar, K>(x, size, lane, false);
  transform_inside<kHaar, K>(x, false);

  if constexpr (K == 1) {
    __syncwarp();
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    inverse_2d<Transform>(x[k], lane, buffer.halves[k % 2]);
  }
  if constexpr (kWiener) {
    // What no natural group comes near, but some group could, is given less weight (fixed_point.cpp).
    float greatest = 0;
#pragma unroll
    for (int k = 0; k < K; ++k) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        greatest = fmaxf(greatest, fabsf(x[k][i]));
      }
    }
    weight = fminf(weight, arguments.greatest_contribution * reciprocal(greatest_of_warp(greatest)));
  }
  // Numerators and denominators must have the same weight, so it is rounded once, for both.
  const int weight_units = max(__float2int_rd(weight * arguments.weight_scale), 1);
  float scale[8];
  const float column_scale = static_cast<float>(weight_units) * arguments.sum_scale * arguments.line[column];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    scale[i] = column_scale * arguments.line[i];
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    if (active) {
      const int px = rx + offset_x(members[k]);
      const int py = ry + offset_y(members[k]);
      int* out = sums + (py - tile_y) * kSumPitch + px + column - tile_x;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        // 1.5 * 2^23 moves the integer part into the low bits, rounded to nearest.
        constexpr float kRound = 12582912.0F;
        atomicAdd(out + i * kSumPitch,
                  __float_as_int(fmaf(x[k][i], scale[i], kRound)) - __float_as_int(kRound));
      }
      if (column == 0) {
        atomicAdd(arguments.sums.weight + static_cast<std::ptrdiff_t>(py) * arguments.grid.width + px,
                  weight_units);
      }
    }
  }
}

constexpr int blocks_per_multiprocessor(bool wiener, int greatest_k) {
  return greatest_k >= 8 ? 2 : wiener && greatest_k == 4 ? 3 : 4;
}

template <class Transform, bool kHaar, bool kWiener, int kGreatestK>
__global__ void __launch_bounds__(32 * kFilterWarps, blocks_per_multiprocessor(kWiener, kGreatestK))
    filter_fast_kernel(FastFilterArguments arguments) {
  extern __shared__ int sums[];
  __shared__ alignas(16) TransposeBuffer buffers[kFilterWarps];
  // What a shuffle from one lane gives is known to the compiler to be the same for the warp.
  const int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / 32, 0);
  const ReferenceGrid& grid = arguments.grid;
  const int first_column = blockIdx.x * arguments.tile_columns;
  const int first_row = arguments.groups.first_row + blockIdx.y * kFilterTile;
  const int columns = min(arguments.tile_columns, grid.columns - first_column);
  const int rows = min(kFilterTile, arguments.groups.last_row - first_row);
  const int tile_x = max(grid.x(first_column) - arguments.radius, 0);
  const int tile_y = max(grid.y(first_row) - arguments.radius, 0);
  const int width = min(grid.x(first_column + columns - 1) + arguments.radius + 8, grid.width) - tile_x;
  const int height = min(grid.y(first_row + rows - 1) + arguments.radius + 8, grid.height) - tile_y;
  for (int i = threadIdx.x; i < height * kSumPitch; i += blockDim.x) {
    sums[i] = 0;
  }
  __syncthreads();
  for (int i = warp; i < columns * rows; i += kFilterWarps) {
    const int column = first_column + i % columns;
    const int row = first_row + i / columns;
    const int number = (row - arguments.groups.first_row) * grid.columns + column;
    const int size = __shfl_sync(0xFFFFFFFFU, static_cast<int>(arguments.groups.sizes[number]), 0);
    const auto filter = [&]<int K>() {
      filter_group<Transform, kHaar, kWiener, K>(arguments, number, size, grid.x(column), grid.y(row), tile_x,
                                                 tile_y, buffers[warp], sums);
      __syncwarp();
    };
    if (kGreatestK >= 8 && size == 32) {
      filter.template operator()<kGreatestK >= 8 ? 8 : 1>();
    } else if (kGreatestK >= 4 && size == 16) {
      filter.template operator()<kGreatestK >= 4 ? 4 : 1>();
    } else if (kGreatestK >= 2 && size == 8) {
      filter.template operator()<kGreatestK >= 2 ? 2 : 1>();
    } else {
      filter.template operator()<1>();
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < height * width; i += blockDim.x) {
    const int y = i / width;
    const int x = i % width;
    const long long sum = sums[y * kSumPitch + x];
    if (sum != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(arguments.sums.numerator) +
                    static_cast<std::ptrdiff_t>(tile_y + y) * grid.width + tile_x + x,
                static_cast<unsigned long long>(sum));
    }
  }
}

template <class Transform, bool kHaar, bool kWiener, int kGreatestK>
void launch_filter(const FastFilterArguments& arguments, cudaStream_t stream) {
  const ReferenceGrid& grid = arguments.grid;
  const int rows = (kFilterTile - 1) * grid.step + 2 * arguments.radius + 8;
  const std::size_t bytes = static_cast<std::size_t>(rows) * kSumPitch * sizeof(int);
  const auto kernel = filter_fast_kernel<Transform, kHaar, kWiener, kGreatestK>;
  allow_shared_memory(kernel, bytes);
  const auto blocks = [](int count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  };
  const dim3 tiles(blocks(grid.columns, arguments.tile_columns),
                   blocks(arguments.groups.last_row - arguments.groups.first_row, kFilterTile));
  kernel<<<tiles, 32 * kFilterWarps, bytes, stream>>>(arguments);
  check_launch();
}

template <bool kWiener>
void launch_filter(const Bm3dStep& step, const FastFilterArguments& arguments, cudaStream_t stream) {
  const auto with_size = [&]<class Transform, bool kHaar>() {
    if (arguments.groups.capacity >= 32) {
      launch_filter<Transform, kHaar, kWiener, 8>(arguments, stream);
    } else if (arguments.groups.capacity >= 16) {
      launch_filter<Transform, kHaar, kWiener, 4>(arguments, stream);
    } else {
      launch_filter<Transform, kHaar, kWiener, 2>(arguments, stream);
    }
  };
  const auto with_group_transform = [&]<class Transform>() {
    step.transform_1d == Transform1d::kHaar ? with_size.template operator()<Transform, true>()
                                            : with_size.template operator()<Transform, false>();
  };
  step.transform_2d == Transform2d::kDct ? with_group_transform.template operator()<Dct8>()
                                         : with_group_transform.template operator()<Bior15>();
}

// Defined in filter_hard.cu and filter_wiener.cu.
void launch_hard_filter(const Bm3dStep& step, const FastFilterArguments& arguments, cudaStream_t stream);
void launch_wiener_filter(const Bm3dStep& step, const FastFilterArguments& arguments, cudaStream_t stream);

}  // namespace limpid::cuda
