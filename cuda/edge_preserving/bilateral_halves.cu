// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/powers.h"
#include "cuda/runtime/tile.h"

// Weights of 8-bit samples, computed in pairs of halves for the adaptive bilateral filter's second pass, in
// which each sample has its own range sigma, so that no table is possible. A lane makes two rows of kColumns
// samples. The two samples of a column form a pair, and so do their neighbors in the tile, whose words are
// the halves (x, y) and (x, y + 1). Exponents and weights have a relative error of about 2^-9; the sums of up
// to 33 neighbors are halves, the sums of these are floats.
//
// The special function unit computes 16 powers of two per cycle and multiprocessor, which would be the bound,
// so six pairs of 16 are computed by arithmetic. 7 or 12 instructions per pair of weights.
//
// A warp is 16 lanes by 2 pairs of rows. Blocks of 8 warps process a tile of 64 x 32 samples each, or fewer
// columns if multiprocessors would be idle. Shared memory: the tile with its margin, 4 bytes per sample, and
// the spatial exponents. Registers: 64. Bound by instruction issue and nearly as much by the special function
// unit.

namespace limpid::cuda {
namespace {

constexpr int kLanes = 16;         // in a row
constexpr int kSpatialPitch = 32;  // of one row of the window: 2 radius + 1, padded to a multiple of 4
constexpr int kSteps = 4;          // neighbors of a row at a time
static_assert((2 * kMostBytesRadius + kSteps) / kSteps * kSteps <= kSpatialPitch);
constexpr int kMostHalfSums = 33;  // maximum number of weights that a half float adds up
constexpr int kRowsAtATime = 4;
constexpr float kOutside = 60000;  // value of samples outside the plane
// Limits of the scale of differences: the least gives differences to kOutside no weight and differences of
// 255 full weight, the greatest gives no weight to a difference of 1.
constexpr float kLeastScale = 1e-4F;
constexpr float kGreatestScale = 16;

struct HalvesArguments {
  SamplePlane in;
  SamplePlane out;
  int width;
  int height;
  int pitch;  // of the tile in shared memory, in words
  AdaptiveBilateralWeights weights;
  FloatPlane variance;
};

// power_of_two() without the special function unit, for exponents of at most 0: 2^n 2^f, n the nearest
// integer. In 1049 + n it is the low bits; shifted, they make 2^(n + 10), a normal half for all weights that
// a half can hold, and the polynomial has the factor 2^-10. The bits that the shift moves from the lower half
// to the upper one increase that by kStray. Relative error: 2^-9.
__device__ __half2 power_of_two_by_arithmetic(__half2 exponents) {
  constexpr float kUnit = 1.0F / 1024.0F;
  constexpr float kStray = 1 + 400.0F / 1024.0F;
  const auto both = [](float value) { return __float2half2_rn(value); };
  const auto coefficient = [](float value) {
    return __floats2half2_rn(value * kUnit, value * kUnit / kStray);
  };
  exponents = __hmax2(exponents, both(-25));
  const __half2 biased = __hadd2_rn(exponents, both(1049));
  const __half2 f = __hsub2_rn(exponents, __hsub2_rn(biased, both(1049)));
  __half2 power = __hfma2(f, coefficient(0.2384289F), coefficient(0.7034480F));
  power = __hfma2(power, f, coefficient(1.0004431F));
  return __hmul2(power, pair_of(bits_of(biased) << 10));
}

// A lane's samples, in pairs of rows. kBorder: neighbors may be kOutside. Then unscaled differences are
// summed, and only exponents use scaled ones. Otherwise scaled differences are summed, which saves an
// instruction but would be infinite for kOutside.
template <int kColumns, bool kBorder>
struct Lane {
  __half2 scale[kColumns];  // of differences: exponents are their squares
  __half2 own[kColumns];    // samples, or the negative of scaled ones
  __half2 half_weights[kColumns];
  __half2 half_sums[kColumns];
  float2 weight[kColumns] = {};
  float2 sum[kColumns] = {};

  __device__ void clear() {
#pragma unroll
    for (int p = 0; p < kColumns; ++p) {
      half_weights[p] = pair_of(0);
      half_sums[p] = pair_of(0);
    }
  }
  __device__ void flush() {
#pragma unroll
    for (int p = 0; p < kColumns; ++p) {
      weight[p].x += __low2float(half_weights[p]);
      weight[p].y += __high2float(half_weights[p]);
      sum[p].x += __low2float(half_sums[p]);
      sum[p].y += __high2float(half_sums[p]);
    }
    clear();
  }
  __device__ void add(int p, __half2 values, __half2 spatial, bool by_arithmetic) {
    __half2 scaled;
    __half2 term;
    if constexpr (kBorder) {
      term = __hsub2(values, own[p]);
      scaled = __hmul2(term, scale[p]);
    } else {
      scaled = __hfma2(values, scale[p], own[p]);
      term = scaled;
    }
    const __half2 exponents = __hfma2(__hneg2(scaled), scaled, spatial);
    const __half2 weights = by_arithmetic ? power_of_two_by_arithmetic(exponents) : power_of_two(exponents);
    half_weights[p] = __hadd2(half_weights[p], weights);
    half_sums[p] = __hfma2(weights, term, half_sums[p]);
  }
  __device__ float2 mean(int p) const {
    const float2 shift{__fdividef(sum[p].x, weight[p].x), __fdividef(sum[p].y, weight[p].y)};
    const float2 from = __half22float2(own[p]);
    if constexpr (kBorder) {
      return {from.x + shift.x, from.y + shift.y};
    } else {
      const float2 unit = __half22float2(scale[p]);
      return {__fdividef(shift.x - from.x, unit.x), __fdividef(shift.y - from.y, unit.y)};
    }
  }
};

// Loads kCount words, in aligned vectors of kColumns.
template <int kColumns, int kCount>
__device__ void load(const unsigned* words, __half2* values) {
#pragma unroll
  for (int i = 0; i < kCount; i += kColumns) {
    if constexpr (kColumns == 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(words + i);
      values[i] = pair_of(four.x);
      values[i + 1] = pair_of(four.y);
      values[i + 2] = pair_of(four.z);
      values[i + 3] = pair_of(four.w);
    } else if constexpr (kColumns == 2) {
      const uint2 two = *reinterpret_cast<const uint2*>(words + i);
      values[i] = pair_of(two.x);
      values[i + 1] = pair_of(two.y);
    } else {
      values[i] = pair_of(words[i]);
    }
  }
}

// Adds the neighbors of one row; the lane's first one is at `words`.
template <int kColumns, bool kBorder>
__device__ void add_row(const unsigned* words, const __half2* spatial, int taps,
                        Lane<kColumns, kBorder>& lane) {
  __half2 values[kColumns + kSteps];
  load<kColumns, kColumns>(words, values);
  const auto add = [&](int step, unsigned exponents) {
#pragma unroll
    for (int p = 0; p < kColumns; ++p) {
      const int i = (p + kColumns * step) % 8;
      lane.add(p, values[p + step], pair_of(exponents), i == 2 || i == 5 || i == 7);
    }
  };
  int tap = 0;
#pragma unroll 2
  for (; tap + kSteps <= taps; tap += kSteps) {
    load<kColumns, kSteps>(words + tap + kColumns, values + kColumns);
    const uint4 exponents = reinterpret_cast<const uint4*>(spatial)[tap / 4];
    add(0, exponents.x);
    add(1, exponents.y);
    add(2, exponents.z);
    add(3, exponents.w);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      values[i] = values[i + kSteps];
    }
  }
  // The number of taps is odd.
  load<kColumns, kSteps>(words + tap + kColumns, values + kColumns);
  const uint4 exponents = reinterpret_cast<const uint4*>(spatial)[tap / 4];
  add(0, exponents.x);
  if (tap + 3 == taps) {
    add(1, exponents.y);
    add(2, exponents.z);
  }
}

// Fills the tile's `rows`, which begin with (x0, y0). A lane loads a column of four of them before it stores
// any, so that the latencies overlap.
__device__ void fill_tile(const HalvesArguments& arguments, int x0, int y0, int rows, unsigned* tile) {
  for (int first = static_cast<int>(threadIdx.x) / 32 * kRowsAtATime; first < rows;
       first += static_cast<int>(blockDim.x) / 32 * kRowsAtATime) {
    const TileRows<kRowsAtATime + 1> in(arguments.in, arguments.height, y0 + first);
    for (int i = static_cast<int>(threadIdx.x) % 32; i < arguments.pitch; i += 32) {
      float samples[kRowsAtATime + 1];
#pragma unroll
      for (int k = 0; k <= kRowsAtATime; ++k) {
        const int sample = in.at(k, x0 + i, arguments.width);
        samples[k] = sample < 0 ? kOutside : static_cast<float>(sample);
      }
#pragma unroll
      for (int k = 0; k < kRowsAtATime; ++k) {
        if (first + k < rows) {
          tile[(first + k) * arguments.pitch + i] = bits_of(__floats2half2_rn(samples[k], samples[k + 1]));
        }
      }
    }
  }
}

// Sets `values` to those of a row from column `x` on; beyond its end, the last one is repeated.
template <int kCount>
__device__ void load_run(const float* row, int x, int width, float (&values)[kCount]) {
  if constexpr (kCount == 4) {
    if (x + kCount <= width) {
      const float4 four = *reinterpret_cast<const float4*>(row + x);
      values[0] = four.x;
      values[1] = four.y;
      values[2] = four.z;
      values[3] = four.w;
      return;
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    values[i] = row[min(x + i, width - 1)];
  }
}

// Makes the samples of a lane whose pairs begin at (x, y) and whose window begins at `words`.
template <int kColumns, bool kBorder>
__device__ void filter_lane(const HalvesArguments& arguments, const unsigned* words, const __half2* spatial,
                            int x, int y) {
  const int radius = arguments.weights.first.radius;
  const float kappa = sqrtf(arguments.weights.adapted_range);
  const auto scales = [&](int row, float(&values)[kColumns]) {
    load_run(arguments.variance.data +
                 static_cast<std::ptrdiff_t>(min(row, arguments.height - 1)) * arguments.variance.pitch,
             x, arguments.width, values);
#pragma unroll
    for (float& value : values) {
      value = fminf(fmaxf(kappa * rsqrtf(value + arguments.weights.epsilon), kLeastScale), kGreatestScale);
    }
  };
  float upper[kColumns];
  float lower[kColumns];
  scales(y, upper);
  scales(y + 1, lower);
  Lane<kColumns, kBorder> lane;
  lane.clear();
#pragma unroll
  for (int p = 0; p < kColumns; ++p) {
    const __half2 own = pair_of(words[radius * arguments.pitch + radius + p]);
    lane.scale[p] = __floats2half2_rn(upper[p], lower[p]);
    lane.own[p] = kBorder ? own : __hneg2(__hmul2(own, lane.scale[p]));
  }
  const int taps = 2 * radius + 1;
  const int rows_of_sums = max(kMostHalfSums / taps, 1);
  int rows = 0;
#pragma unroll 1
  for (int dy = -radius; dy <= radius; ++dy) {
    add_row(words, spatial, taps, lane);
    words += arguments.pitch;
    spatial += kSpatialPitch;
    if (++rows == rows_of_sums) {
      rows = 0;
      lane.flush();
    }
  }
  lane.flush();
  float2 means[kColumns];
#pragma unroll
  for (int p = 0; p < kColumns; ++p) {
    means[p] = lane.mean(p);
  }
  const auto store = [&](int row, auto&& mean) {
    if (row < arguments.height) {
      std::uint8_t values[kColumns];
#pragma unroll
      for (int p = 0; p < kColumns; ++p) {
        values[p] = static_cast<std::uint8_t>(mean(p) + 0.5F);  // a mean of bytes needs no clamping
      }
      store_run(values, reinterpret_cast<std::uint8_t*>(arguments.out.data + row * arguments.out.stride) + x,
                arguments.width - x);
    }
  };
  store(y, [&](int p) { return means[p].x; });
  store(y + 1, [&](int p) { return means[p].y; });
}

template <int kColumns>
__global__ void __launch_bounds__(256, 4) bilateral_halves_kernel(HalvesArguments arguments) {
  extern __shared__ uint4 shared[];
  auto* spatial = reinterpret_cast<__half2*>(shared);
  const int radius = arguments.weights.first.radius;
  auto* tile = reinterpret_cast<unsigned*>(spatial + (2 * radius + 1) * kSpatialPitch);
  const int pairs = static_cast<int>(blockDim.x) / kLanes;
  const int x0 = static_cast<int>(blockIdx.x) * (kLanes * kColumns);
  const int y0 = static_cast<int>(blockIdx.y) * (2 * pairs);
  for (int i = threadIdx.x; i < (2 * radius + 1) * kSpatialPitch; i += blockDim.x) {
    const int dx = i % kSpatialPitch - radius;
    const int dy = i / kSpatialPitch - radius;
    spatial[i] = __float2half2_rn(-arguments.weights.first.spatial * static_cast<float>(dx * dx + dy * dy));
  }
  follow_stream();
  fill_tile(arguments, x0 - radius, y0 - radius, 2 * pairs + 2 * radius - 1, tile);
  __syncthreads();

  const int strip = static_cast<int>(threadIdx.x % kLanes) * kColumns;
  const int row = static_cast<int>(threadIdx.x / kLanes) * 2;
  const unsigned* words = tile + row * arguments.pitch + strip;
  // For whole warps.
  const int warp_y = y0 + static_cast<int>(threadIdx.x / 32) * 4;
  if (warp_y >= arguments.height) {
    return;
  }
  if (x0 < radius || x0 + kLanes * kColumns + radius > arguments.width || warp_y < radius ||
      warp_y + 4 + radius > arguments.height) {
    filter_lane<kColumns, true>(arguments, words, spatial, x0 + strip, y0 + row);
  } else {
    filter_lane<kColumns, false>(arguments, words, spatial, x0 + strip, y0 + row);
  }
}

struct Shape {
  int columns;  // per lane
  int warps;
  // Lanes read kSteps words at a time. The pairs of rows of a warp are half of the banks apart.
  int pitch(int radius) const { return (kLanes * columns + 2 * radius + kSteps + 7) / 16 * 16 + 8; }
  std::size_t shared_bytes(int radius) const {
    return static_cast<std::size_t>((2 * radius + 1) * kSpatialPitch +
                                    (4 * warps + 2 * radius - 1) * pitch(radius)) *
           4;
  }
  dim3 grid(int width, int height) const {
    return {static_cast<unsigned>((width + kLanes * columns - 1) / (kLanes * columns)),
            static_cast<unsigned>((height + 4 * warps - 1) / (4 * warps))};
  }
};

// The greatest number of columns per lane that leaves `kWarps` warps to a multiprocessor.
Shape choose_shape(int width, int height, int multiprocessors) {
  constexpr int kWarps = 12;
  Shape shape{4, 8};
  while (shape.columns > 1) {
    const dim3 grid = shape.grid(width, height);
    if (grid.x * grid.y * shape.warps >= kWarps * static_cast<unsigned>(multiprocessors)) {
      break;
    }
    shape = {shape.columns / 2, 4};
  }
  return shape;
}

}  // namespace

bool can_filter_halves(const BilateralJob& job, const DeviceLimits& /*device*/) {
  return job.bytes && job.pass == BilateralPass::kAdapted && job.weights.first.radius <= kMostBytesRadius;
}

void bilateral_halves(const BilateralJob& job, cudaStream_t stream) {
  const Shape shape = choose_shape(job.width, job.height, device_limits().multiprocessors);
  const int radius = job.weights.first.radius;
  const HalvesArguments arguments{job.in,      job.out,     job.width, job.height, shape.pitch(radius),
                                  job.weights, job.variance};
  const auto kernel = shape.columns == 4   ? bilateral_halves_kernel<4>
                      : shape.columns == 2 ? bilateral_halves_kernel<2>
                                           : bilateral_halves_kernel<1>;
  const std::size_t bytes = shape.shared_bytes(radius);
  allow_shared_memory(kernel, bytes);
  launch(kernel, shape.grid(job.width, job.height), static_cast<unsigned>(32 * shape.warps), bytes, stream,
         arguments);
}

}  // namespace limpid::cuda
