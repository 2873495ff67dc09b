#include <cuda_fp16.h>

#include <cstdint>

#include "cuda/bilateral.h"
#include "cuda/byte_tile.h"
#include "cuda/launch.h"

// Weights of 8-bit samples computed in pairs of halves: for the adaptive bilateral filter's second pass,
// where each sample has a range sigma of its own, and for small pictures, for which filling a table takes too
// long. Samples p and p + kPixels / 2 of a lane make a pair, so that a pair of the window's samples, unpacked
// from its bytes once, serves all of the lane's pairs. Exponents and weights have a relative error of 2^-10
// or so; the sums of one row of the window are halves, their sums floats.
//
// The special function unit does 16 powers of two a cycle and multiprocessor, which would be the bound; so
// one pair of four gets them by arithmetic. 8 or 15 instructions a pair of weights.
//
// Blocks of 8 warps take a tile of 128 x 16 samples each, or of 4 warps 64 x 8 where that would leave
// multiprocessors idle. Shared memory: the tile's samples with their margin, the spatial exponents.
// Registers: 64. Bound by instruction issue and nearly as much by the special function unit.

namespace limpid::cuda {
namespace {

constexpr int kSpatialPitch = 32;      // of one row of the window: 2 radius + 1 and up to 3 more
constexpr unsigned kOutside = 0x7B53;  // 60000 in place of a sample that is not in the plane
constexpr float kLeastScale = 1e-4F;   // gives differences to kOutside no weight, to 255 all of it

struct HalvesArguments {
  SamplePlane in;
  SamplePlane out;
  int width;
  int height;
  int pitch;  // of the tile in shared memory, in words
  AdaptiveBilateralWeights weights;
  bool adapted;  // kAdapted, or else kMean
  FloatPlane variance;
};

__device__ unsigned bits_of(__half2 pair) { return *reinterpret_cast<const unsigned*>(&pair); }
__device__ __half2 pair_of(unsigned bits) { return *reinterpret_cast<const __half2*>(&bits); }

__device__ __half2 power_of_two(__half2 exponents) {
  unsigned powers = 0;
  asm("ex2.approx.f16x2 %0, %1;" : "=r"(powers) : "r"(bits_of(exponents)));
  return pair_of(powers);
}

// The same without the special function unit, for exponents of at most 0: 2^n 2^f, n the nearest integer. In
// 1049 + n it is the low bits; 2^(n + 10) is a normal half for all weights that a half can hold, and the
// polynomial has the factor 2^-10. Relative error: 2^-10.7.
__device__ __half2 power_of_two_by_arithmetic(__half2 exponents) {
  constexpr float kUnit = 1.0F / 1024.0F;
  const auto both = [](float value) { return __float2half2_rn(value); };
  exponents = __hmax2(exponents, both(-25));
  const __half2 biased = __hadd2_rn(exponents, both(1049));
  const __half2 f = __hsub2_rn(exponents, __hsub2_rn(biased, both(1049)));
  __half2 power = __hfma2(f, both(0.0558383F * kUnit), both(0.2426395F * kUnit));
  power = __hfma2(power, f, both(0.6931367F * kUnit));
  power = __hfma2(power, f, both(kUnit));
  return __hmul2(power, pair_of(bits_of(biased) << 10 & 0x7C007C00U));
}

// What a lane knows of its samples, in pairs p and p + kPixels / 2.
template <int kPixels>
struct Lane {
  static constexpr int kPairs = kPixels / 2;
  __half2 own[kPairs];    // 1024 + the sample
  __half2 scale[kPairs];  // of differences: exponents are their squares
  float weight[kPixels] = {};
  float sum[kPixels] = {};
};

// Pairs of 1024 + sample: bytes kFirst + i and kFirst + i + kPixels / 2 of two words. `column` is the plane's
// of byte kFirst.
template <int kPixels, bool kBorder, int kFirst, int kCount>
__device__ void unpack(const unsigned* words, int column, int width, bool row_inside, __half2* values) {
  constexpr int kPairs = kPixels / 2;
  const auto inside = [&](int x) { return row_inside && x >= 0 && x < width; };
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const unsigned bytes = __byte_perm(words[0], words[1], (kFirst + i) | (kFirst + i + kPairs) << 8);
    unsigned bits = (bytes & 0x00FF00FFU) | 0x64006400U;
    if constexpr (kBorder) {
      bits = inside(column + i) ? bits : (bits & 0xFFFF0000U) | kOutside;
      bits = inside(column + i + kPairs) ? bits : (bits & 0x0000FFFFU) | kOutside << 16;
    }
    values[i] = pair_of(bits);
  }
}

// Adds the neighbours at dy, the lane's words of that row being `words`.
template <int kPixels, bool kBorder>
__device__ void add_row(const HalvesArguments& arguments, const unsigned* words, const __half2* spatial,
                        int column, bool row_inside, Lane<kPixels>& lane) {
  constexpr int kPairs = kPixels / 2;
  const int taps = 2 * arguments.weights.first.radius + 1;
  __half2 values[kPairs + 4];
  __half2 weights[kPairs];
  __half2 sums[kPairs];
  unpack<kPixels, kBorder, 0, kPairs>(words, column, arguments.width, row_inside, values);
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    weights[p] = pair_of(0);
    sums[p] = pair_of(0);
  }
  const auto add = [&](int step, unsigned exponent) {
#pragma unroll
    for (int p = 0; p < kPairs; ++p) {
      const __half2 difference = __hsub2(values[p + step], lane.own[p]);
      const __half2 scaled = __hmul2(difference, lane.scale[p]);
      const __half2 exponents = __hfma2(__hneg2(scaled), scaled, pair_of(exponent));
      const __half2 weight =
          (p + kPairs * step) % 4 == 3 ? power_of_two_by_arithmetic(exponents) : power_of_two(exponents);
      weights[p] = __hadd2(weights[p], weight);
      sums[p] = __hfma2(weight, difference, sums[p]);
    }
  };
  const auto load = [&](int tap) {
    const int first = tap + kPairs;
    unpack<kPixels, kBorder, kPairs % 4, 4>(words + first / 4, column + first, arguments.width, row_inside,
                                            values + kPairs);
    return reinterpret_cast<const uint4*>(spatial)[tap / 4];
  };
  int tap = 0;
  for (; tap + 4 <= taps; tap += 4) {
    const uint4 exponents = load(tap);
    add(0, exponents.x);
    add(1, exponents.y);
    add(2, exponents.z);
    add(3, exponents.w);
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      values[i] = values[i + 4];
    }
  }
  // The number of taps is odd.
  const uint4 exponents = load(tap);
  add(0, exponents.x);
  if (tap + 3 == taps) {
    add(1, exponents.y);
    add(2, exponents.z);
  }
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    lane.weight[p] += __low2float(weights[p]);
    lane.weight[p + kPairs] += __high2float(weights[p]);
    lane.sum[p] += __low2float(sums[p]);
    lane.sum[p + kPairs] += __high2float(sums[p]);
  }
}

template <int kPixels>
__global__ void __launch_bounds__(256, 4) bilateral_halves_kernel(HalvesArguments arguments) {
  constexpr int kPairs = kPixels / 2;
  extern __shared__ uint4 shared[];
  auto* spatial = reinterpret_cast<__half2*>(shared);
  const int radius = arguments.weights.first.radius;
  auto* tile = reinterpret_cast<unsigned*>(spatial + (2 * radius + 1) * kSpatialPitch);
  const int rows = static_cast<int>(blockDim.x) / kTileLanes;
  const int x0 = static_cast<int>(blockIdx.x) * (kTileLanes * kPixels);
  const int y0 = static_cast<int>(blockIdx.y) * rows;
  for (int i = threadIdx.x; i < (2 * radius + 1) * kSpatialPitch; i += blockDim.x) {
    const int dx = i % kSpatialPitch - radius;
    const int dy = i / kSpatialPitch - radius;
    spatial[i] = __float2half2_rn(-arguments.weights.first.spatial * static_cast<float>(dx * dx + dy * dy));
  }
  follow_stream();
  fill_byte_tile(arguments.in, arguments.width, arguments.height, radius, x0, y0, kTileLanes * kPixels, rows,
                 arguments.pitch, reinterpret_cast<std::uint8_t*>(tile));
  __syncthreads();

  const int strip = static_cast<int>(threadIdx.x % kTileLanes);
  const int row = static_cast<int>(threadIdx.x / kTileLanes);
  const int x = x0 + strip * kPixels;
  const int y = y0 + row;
  const unsigned* words = tile + row * arguments.pitch + strip * (kPixels / 4);
  const auto* own_row = reinterpret_cast<const std::uint8_t*>(words + radius * arguments.pitch) + radius;
  const auto scale_at = [&](int pixel) {
    if (!arguments.adapted) {
      return fmaxf(sqrtf(arguments.weights.first.range), kLeastScale);
    }
    const FloatPlane& variance = arguments.variance;
    const float v = variance.data[static_cast<std::ptrdiff_t>(min(y, arguments.height - 1)) * variance.pitch +
                                  min(x + pixel, arguments.width - 1)];
    return fmaxf(sqrtf(arguments.weights.adapted_range / (v + arguments.weights.epsilon)), kLeastScale);
  };
  Lane<kPixels> lane;
#pragma unroll
  for (int p = 0; p < kPairs; ++p) {
    lane.own[p] = pair_of(0x64006400U | own_row[p] | static_cast<unsigned>(own_row[p + kPairs]) << 16);
    lane.scale[p] = __floats2half2_rn(scale_at(p), scale_at(p + kPairs));
  }
  // For whole warps.
  const int warp_y = y - static_cast<int>(threadIdx.x % 32 / kTileLanes);
  const bool border = x0 < radius || x0 + kTileLanes * kPixels + radius > arguments.width ||
                      warp_y < radius || warp_y + 1 + radius >= arguments.height;
  for (int dy = -radius; dy <= radius; ++dy) {
    if (border) {
      add_row<kPixels, true>(arguments, words, spatial, x - radius, y + dy >= 0 && y + dy < arguments.height,
                             lane);
    } else {
      add_row<kPixels, false>(arguments, words, spatial, 0, true, lane);
    }
    words += arguments.pitch;
    spatial += kSpatialPitch;
  }
  if (y >= arguments.height) {
    return;
  }
  auto* out = reinterpret_cast<std::uint8_t*>(arguments.out.data + y * arguments.out.stride) + x;
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    if (x + p < arguments.width) {
      // A mean of bytes: no clamping.
      out[p] =
          static_cast<std::uint8_t>(static_cast<float>(own_row[p]) + lane.sum[p] / lane.weight[p] + 0.5F);
    }
  }
}

struct Shape {
  int pixels;
  int warps;
  dim3 grid(int width, int height) const {
    const int columns = kTileLanes * pixels;
    return {static_cast<unsigned>((width + columns - 1) / columns),
            static_cast<unsigned>((height + 2 * warps - 1) / (2 * warps))};
  }
};

}  // namespace

void bilateral_halves(const BilateralJob& job, const SamplePlane& in, int width, int height,
                      const SamplePlane& out, cudaStream_t stream) {
  Shape shape{8, 8};
  const dim3 large = shape.grid(width, height);
  if (large.x * large.y < 3 * static_cast<unsigned>(multiprocessor_count())) {
    shape = {4, 4};
  }
  const int radius = job.weights.first.radius;
  const int pitch = byte_tile_pitch(shape.pixels, radius);
  const auto bytes =
      static_cast<std::size_t>((2 * radius + 1) * kSpatialPitch + (2 * shape.warps + 2 * radius) * pitch) * 4;
  const HalvesArguments arguments{
      in, out, width, height, pitch, job.weights, job.pass == BilateralPass::kAdapted, job.variance};
  const auto kernel = shape.pixels == 8 ? bilateral_halves_kernel<8> : bilateral_halves_kernel<4>;
  launch(kernel, shape.grid(width, height), static_cast<unsigned>(32 * shape.warps), bytes, stream,
         arguments);
}

}  // namespace limpid::cuda
