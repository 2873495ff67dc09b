#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "cuda/bilateral.h"
#include "cuda/byte_tile.h"
#include "cuda/launch.h"

// Weights of 8-bit samples from a table in shared memory. Every lane has a copy of its own, in its own bank,
// so that 32 look-ups take one cycle whatever the differences. An entry is a pair of halves, the range
// weight and its product with the difference (or its square): multiplied by the spatial weight it adds to
// both sums by one instruction. The pairs' sums of one row of the window are halves (of relative error 2^-11
// a step), their sums floats.
//
// Threads: 16 lanes by 2 rows make a warp, each lane kPixels samples side by side; up to 16 warps, one above
// the other, make a block, which takes tile after tile. Of the window's row a lane holds the kPixels + 3
// samples that 4 steps to the right look at. Shared memory: 64 KiB of table, the tile's samples with their
// margin, the spatial weights. Registers: 64, two blocks of 512 threads a multiprocessor. Bound by shared
// memory: one look-up a weight, at 32 a cycle and multiprocessor.

namespace limpid::cuda {
namespace {

constexpr int kMaxRadius = 15;
constexpr int kMaxWarps = 16;
constexpr int kEntryBytes = 32 * 4;
constexpr int kDifferences = 511;
constexpr float kSquareScale = 1.0F / 64.0F;  // of squared differences, to fit half floats
constexpr int kOutside = 1 << 20;             // in place of a sample that is not in the plane
constexpr int kEntries = kDifferences + 1;    // the last one for samples outside of the plane

struct BytesArguments {
  SamplePlane in;
  SamplePlane out;
  int width;
  int height;
  int tile_columns;
  int tiles;
  int pitch;  // of the tile in shared memory, in words
  AdaptiveBilateralWeights weights;
  FloatPlane variance;
};

// Spatial weights of one row of the window, as pairs of the same half: 2 radius + 1 and up to 3 more.
constexpr int kSpatialPitch = 32;

__device__ float power_of_two(float exponent) {
  float power = 0;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

// By blocks of 128, 256 or 512 threads, a thread 4 copies of an entry and 4 entries at a time.
template <BilateralPass kPass>
__device__ void fill_table(float range, uint4* table) {
  constexpr int kQuarters = kEntryBytes / 16;
  for (int first = threadIdx.x; first < kEntries * kQuarters; first += 4 * blockDim.x) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int i = first + k * static_cast<int>(blockDim.x);
      const auto difference = static_cast<float>(i / kQuarters - kDifferences / 2);
      const float weight =
          i / kQuarters < kDifferences ? power_of_two(-range * difference * difference) : 0.0F;
      const float product =
          weight * difference * (kPass == BilateralPass::kVariance ? difference * kSquareScale : 1.0F);
      const __half2 entry = __floats2half2_rn(weight, product);
      const unsigned bits = *reinterpret_cast<const unsigned*>(&entry);
      table[i] = {bits, bits, bits, bits};
    }
  }
}

// The 4 samples of a word as distances in the table; `column` is the plane's of the first.
template <bool kBorder>
__device__ void unpack(unsigned word, int column, int width, bool row_inside, int* values) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned sample = __byte_perm(word, 0, 0x4440 + i);
    const bool inside = !kBorder || (row_inside && column + i >= 0 && column + i < width);
    values[i] = inside ? static_cast<int>(sample) * kEntryBytes : kOutside;
  }
}

// What a lane knows of its samples.
template <int kPixels>
struct Lane {
  float own[kPixels];
  float weight[kPixels] = {};
  float sum[kPixels] = {};
  int base[kPixels];  // of sample p and a neighbour of value v the entry is at base[p] + v
};

template <bool kBorder>
__device__ __half2 look_up(int base, int value, const char* table) {
  int at = base + value;
  if constexpr (kBorder) {
    at = min(at, static_cast<int>(kDifferences * kEntryBytes + threadIdx.x % 32 * 4));
  }
  return *reinterpret_cast<const __half2*>(table + at);
}

// Adds the neighbours at dy, the lane's words of that row being `words`.
template <int kPixels, bool kBorder>
__device__ void add_row(const BytesArguments& arguments, const unsigned* words, const __half2* spatial,
                        const char* table, int column, bool row_inside, Lane<kPixels>& lane) {
  const int taps = 2 * arguments.weights.first.radius + 1;
  int values[kPixels + 4];
  __half2 sums[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; i += 4) {
    unpack<kBorder>(words[i / 4], column + i, arguments.width, row_inside, values + i);
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    sums[p] = __half2half2(__ushort_as_half(0));
  }
  const auto add = [&](int step, __half2 weight) {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = __hfma2(look_up<kBorder>(lane.base[p], values[p + step], table), weight, sums[p]);
    }
  };
  const auto load = [&](int tap) {
    unpack<kBorder>(words[(tap + kPixels) / 4], column + tap + kPixels, arguments.width, row_inside,
                    values + kPixels);
    return reinterpret_cast<const uint4*>(spatial)[tap / 4];
  };
  const auto pair = [](unsigned bits) { return *reinterpret_cast<const __half2*>(&bits); };
  int tap = 0;
  for (; tap + 4 <= taps; tap += 4) {
    const uint4 weights = load(tap);
    add(0, pair(weights.x));
    add(1, pair(weights.y));
    add(2, pair(weights.z));
    add(3, pair(weights.w));
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      values[i] = values[i + 4];
    }
  }
  // The number of taps is odd.
  const uint4 weights = load(tap);
  add(0, pair(weights.x));
  if (tap + 3 == taps) {
    add(1, pair(weights.y));
    add(2, pair(weights.z));
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    lane.weight[p] += __low2float(sums[p]);
    lane.sum[p] += __high2float(sums[p]);
  }
}

template <int kPixels, BilateralPass kPass>
__device__ void filter_lane(const BytesArguments& arguments, int x0, int y0, const unsigned* tile,
                            const __half2* spatial, const char* table) {
  const int radius = arguments.weights.first.radius;
  const int strip = static_cast<int>(threadIdx.x % kTileLanes);
  const int row = static_cast<int>(threadIdx.x / kTileLanes);
  const int x = x0 + strip * kPixels;
  const int y = y0 + row;
  const auto* bytes =
      reinterpret_cast<const std::uint8_t*>(tile) + row * arguments.pitch * 4 + strip * kPixels;
  Lane<kPixels> lane;
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    const int own = bytes[radius * arguments.pitch * 4 + radius + p];
    lane.own[p] = static_cast<float>(own);
    lane.base[p] = (kDifferences / 2 - own) * kEntryBytes + static_cast<int>(threadIdx.x % 32 * 4);
  }
  // For whole warps.
  const int warp_y = y - static_cast<int>(threadIdx.x % 32 / kTileLanes);
  const bool border = x0 < radius || x0 + kTileLanes * kPixels + radius > arguments.width ||
                      warp_y < radius || warp_y + 1 + radius >= arguments.height;
  const unsigned* words = tile + row * arguments.pitch + strip * (kPixels / 4);
  for (int dy = -radius; dy <= radius; ++dy) {
    if (border) {
      add_row<kPixels, true>(arguments, words, spatial, table, x - radius,
                             y + dy >= 0 && y + dy < arguments.height, lane);
    } else {
      add_row<kPixels, false>(arguments, words, spatial, table, 0, true, lane);
    }
    words += arguments.pitch;
    spatial += kSpatialPitch;
  }
  if (y >= arguments.height) {
    return;
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    if (x + p >= arguments.width) {
      return;
    }
    const float mean = lane.sum[p] / lane.weight[p];
    if constexpr (kPass == BilateralPass::kVariance) {
      arguments.variance.data[static_cast<std::ptrdiff_t>(y) * arguments.variance.pitch + x + p] =
          mean / kSquareScale;
    } else {
      // A mean of bytes: no clamping.
      reinterpret_cast<std::uint8_t*>(arguments.out.data + y * arguments.out.stride)[x + p] =
          static_cast<std::uint8_t>(lane.own[p] + mean + 0.5F);
    }
  }
}

template <int kPixels, BilateralPass kPass>
__global__ void __launch_bounds__(32 * kMaxWarps, 2) bilateral_bytes_kernel(BytesArguments arguments) {
  extern __shared__ uint4 shared[];
  auto* table = reinterpret_cast<__half2*>(shared);
  __half2* spatial = table + kEntries * 32;
  const int radius = arguments.weights.first.radius;
  auto* tile = reinterpret_cast<unsigned*>(spatial + (2 * radius + 1) * kSpatialPitch);
  const int rows = static_cast<int>(blockDim.x) / kTileLanes;
  fill_table<kPass>(arguments.weights.first.range, shared);
  for (int i = threadIdx.x; i < (2 * radius + 1) * kSpatialPitch; i += blockDim.x) {
    const int dx = i % kSpatialPitch - radius;
    const int dy = i / kSpatialPitch - radius;
    spatial[i] = __float2half2_rn(
        power_of_two(-arguments.weights.first.spatial * static_cast<float>(dx * dx + dy * dy)));
  }
  follow_stream();
  for (int number = blockIdx.x; number < arguments.tiles; number += gridDim.x) {
    const int x0 = number % arguments.tile_columns * (kTileLanes * kPixels);
    const int y0 = number / arguments.tile_columns * rows;
    fill_byte_tile(arguments.in, arguments.width, arguments.height, radius, x0, y0, kTileLanes * kPixels,
                   rows, arguments.pitch, reinterpret_cast<std::uint8_t*>(tile));
    __syncthreads();
    filter_lane<kPixels, kPass>(arguments, x0, y0, tile, spatial, reinterpret_cast<const char*>(table));
    __syncthreads();
  }
}

struct Shape {
  int pixels;
  int warps;
  std::size_t shared_bytes(int radius) const {
    return static_cast<std::size_t>(kEntries) * kEntryBytes +
           static_cast<std::size_t>(2 * radius + 1) * kSpatialPitch * 4 +
           static_cast<std::size_t>(2 * warps + 2 * radius) * byte_tile_pitch(pixels, radius) * 4;
  }
  int columns(int width) const { return (width + kTileLanes * pixels - 1) / (kTileLanes * pixels); }
  int tiles(int width, int height) const { return columns(width) * ((height + 2 * warps - 1) / (2 * warps)); }
};

constexpr Shape kLargest{8, kMaxWarps};

// The largest tiles of which every multiprocessor has one and a half, or the smallest.
Shape choose_shape(int width, int height, int multiprocessors) {
  if (2 * kLargest.tiles(width, height) >= 3 * multiprocessors) {
    return kLargest;
  }
  Shape shape{4, kMaxWarps};
  while (shape.warps > 4 && 10 * shape.tiles(width, height) < 9 * multiprocessors) {
    shape.warps /= 2;
  }
  return shape;
}

// Whether filling the tables takes longer than they save: found by trial on an H200.
bool is_small(int width, int height, int radius) {
  return static_cast<long long>(width) * height <= 128 * 1024 && radius <= 5;
}

template <BilateralPass kPass>
void filter_tiles(const BilateralJob& job, BytesArguments& arguments, cudaStream_t stream) {
  const int multiprocessors = multiprocessor_count();
  const int radius = job.weights.first.radius;
  const Shape shape = choose_shape(arguments.width, arguments.height, multiprocessors);
  arguments.tile_columns = shape.columns(arguments.width);
  arguments.tiles = shape.tiles(arguments.width, arguments.height);
  arguments.pitch = byte_tile_pitch(shape.pixels, radius);
  auto* kernel = shape.pixels == 4 ? bilateral_bytes_kernel<4, kPass> : bilateral_bytes_kernel<8, kPass>;
  const std::size_t bytes = shape.shared_bytes(radius);
  allow_shared_memory(kernel, bytes);
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 32 * shape.warps, bytes));
  const int blocks = std::min(arguments.tiles, std::max(resident, 1) * multiprocessors);
  if (arguments.tiles > blocks) {
    launch(kernel, static_cast<unsigned>(blocks), static_cast<unsigned>(32 * shape.warps), bytes, stream,
           arguments);
  } else {
    // A single wave of blocks, launched early, would crowd where the kernel before leaves room first.
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * shape.warps), bytes, stream>>>(
        arguments);
    check_launch();
  }
}

}  // namespace

bool can_filter_bytes(const BilateralJob& job) {
  const int radius = job.weights.first.radius;
  return radius <= kMaxRadius && (job.pass == BilateralPass::kAdapted ||
                                  kLargest.shared_bytes(radius) <= device_limits().shared_memory);
}

void bilateral_bytes(const BilateralJob& job, const SamplePlane& in, int width, int height,
                     const SamplePlane& out, cudaStream_t stream) {
  BytesArguments arguments{in, out, width, height, 0, 0, 0, job.weights, job.variance};
  switch (job.pass) {
    case BilateralPass::kMean:
      if (is_small(width, height, job.weights.first.radius)) {
        bilateral_halves(job, in, width, height, out, stream);
      } else {
        filter_tiles<BilateralPass::kMean>(job, arguments, stream);
      }
      break;
    case BilateralPass::kVariance:
      filter_tiles<BilateralPass::kVariance>(job, arguments, stream);
      break;
    case BilateralPass::kAdapted:
      bilateral_halves(job, in, width, height, out, stream);
      break;
  }
}

}  // namespace limpid::cuda
