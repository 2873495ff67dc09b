// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/powers.h"
#include "cuda/runtime/tile.h"

// Weights of 8-bit samples from a table in shared memory. Every lane has its own copy in its own bank, so
// that 32 look-ups take one cycle for any differences. An entry is a pair of halves, the range weight and its
// product with the difference (or its square): multiplied by the spatial weight, one instruction adds it to
// both sums. The sums of up to 33 neighbors' pairs are halves (with a relative error of 2^-11 per step), the
// sums of these are floats.
//
// The tile's samples are stored in shared memory as their distances in the table, 16 bits each. Samples
// outside the plane have such a great value that the sum with the lane's own distance exceeds the table and
// is clamped to its last entry, which is zero.
//
// Threads: a warp is 16 lanes by 2 rows, and each lane has kPixels adjacent samples; up to 16 warps, one
// above the other, form a block, which processes tile after tile. A lane holds the 2 kPixels - 1 samples of
// the window's row that kPixels steps to the right need. Shared memory: 64 KiB of table, the tile's samples
// with their margin, the spatial weights. Registers: 64, two blocks of 512 threads per multiprocessor. Bound
// by shared memory, one look-up per weight at 32 per cycle and multiprocessor, and nearly as much by
// instruction issue: three per weight.

namespace limpid::cuda {
namespace {

constexpr int kLanes = 16;  // in a warp's row
constexpr int kMaxWarps = 16;
constexpr int kEntryBytes = 32 * 4;
constexpr int kDifferences = 511;
constexpr float kSquareScale = 1.0F / 64.0F;  // factor of squared differences that fits them to half floats
constexpr unsigned kOutside = 0xFFFF;         // distance of samples outside the plane
constexpr int kEntries = kDifferences + 1;    // the last one is for samples outside the plane
constexpr int kMostHalfSums = 33;             // maximum number of weights that a half float adds up
constexpr int kRowsAtATime = 4;

struct BytesArguments {
  SamplePlane in;
  SamplePlane out;
  int width;
  int height;
  int tile_columns;
  int tiles;
  int pitch;  // of the tile in shared memory, in samples
  AdaptiveBilateralWeights weights;
  FloatPlane variance;
};

// Spatial weights of one row of the window, as pairs of equal halves: 2 radius + 1, padded to a multiple of
// 4.
constexpr int kSpatialPitch = 32;
static_assert(2 * kMostBytesRadius + 1 <= kSpatialPitch);

// Runs in blocks of 128, 256 or 512 threads; each thread writes 4 copies of an entry, 4 entries at a time.
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
      const unsigned bits = bits_of(__floats2half2_rn(weight, product));
      table[i] = {bits, bits, bits, bits};
    }
  }
}

// Fills the tile: `rows` rows plus `radius` above and below; its columns begin `radius` before x0. A lane
// loads two columns of four rows before it stores any, so that the latencies overlap.
__device__ void fill_tile(const BytesArguments& arguments, int x0, int y0, int rows, std::uint16_t* tile) {
  const int radius = arguments.weights.first.radius;
  const int last = rows + 2 * radius;
  for (int first = static_cast<int>(threadIdx.x) / 32 * kRowsAtATime; first < last;
       first += static_cast<int>(blockDim.x) / 32 * kRowsAtATime) {
    const TileRows<kRowsAtATime> in(arguments.in, arguments.height, y0 - radius + first);
    for (int i = static_cast<int>(threadIdx.x) % 32; i < arguments.pitch / 2; i += 32) {
      const int x = x0 - radius + 2 * i;
      int samples[kRowsAtATime][2];
#pragma unroll
      for (int k = 0; k < kRowsAtATime; ++k) {
        samples[k][0] = in.at(k, x, arguments.width);
        samples[k][1] = in.at(k, x + 1, arguments.width);
      }
#pragma unroll
      for (int k = 0; k < kRowsAtATime; ++k) {
        const auto distance = [](int sample) {
          return sample < 0 ? kOutside : sample * unsigned{kEntryBytes};
        };
        if (first + k < last) {
          reinterpret_cast<unsigned*>(tile + (first + k) * arguments.pitch)[i] =
              distance(samples[k][0]) | distance(samples[k][1]) << 16;
        }
      }
    }
  }
}

// A lane's samples.
template <int kPixels>
struct Lane {
  float own[kPixels];
  int base[kPixels];  // the entry for sample p and a neighbor of distance v is at base[p] + v
  int end;            // entry of zeros
  __half2 sums[kPixels];
  float weight[kPixels] = {};
  float sum[kPixels] = {};

  __device__ void clear() {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = pair_of(0);
    }
  }
  __device__ void flush() {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      weight[p] += __low2float(sums[p]);
      sum[p] += __high2float(sums[p]);
    }
    clear();
  }
};

// The distances of kPixels adjacent samples.
template <int kPixels>
__device__ void unpack(const std::uint16_t* samples, int* values) {
  unsigned words[kPixels / 2];
  if constexpr (kPixels == 8) {
    *reinterpret_cast<uint4*>(words) = *reinterpret_cast<const uint4*>(samples);
  } else {
    *reinterpret_cast<uint2*>(words) = *reinterpret_cast<const uint2*>(samples);
  }
#pragma unroll
  for (int i = 0; i < kPixels; i += 2) {
    values[i] = static_cast<int>(__byte_perm(words[i / 2], 0, 0x4410));
    values[i + 1] = static_cast<int>(__byte_perm(words[i / 2], 0, 0x4432));
  }
}

// Adds the neighbors of one row; the lane's first one is at `samples`.
template <int kPixels>
__device__ void add_row(const std::uint16_t* samples, const __half2* spatial, int taps, const char* table,
                        Lane<kPixels>& lane) {
  int values[2 * kPixels];
  unpack<kPixels>(samples, values);
  const auto add = [&](int step, unsigned weight) {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      const int at = min(lane.base[p] + values[p + step], lane.end);
      lane.sums[p] = __hfma2(*reinterpret_cast<const __half2*>(table + at), pair_of(weight), lane.sums[p]);
    }
  };
  const auto weights_at = [&](int tap) { return reinterpret_cast<const uint4*>(spatial)[tap / 4]; };
  int tap = 0;
#pragma unroll 1
  for (; tap + kPixels <= taps; tap += kPixels) {
    unpack<kPixels>(samples + tap + kPixels, values + kPixels);
#pragma unroll
    for (int step = 0; step < kPixels; step += 4) {
      const uint4 weights = weights_at(tap + step);
      add(step, weights.x);
      add(step + 1, weights.y);
      add(step + 2, weights.z);
      add(step + 3, weights.w);
    }
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      values[i] = values[i + kPixels];
    }
  }
  // The number of taps is odd.
  unpack<kPixels>(samples + tap + kPixels, values + kPixels);
  uint4 weights = weights_at(tap);
  add(0, weights.x);
  if (tap + 3 <= taps) {
    add(1, weights.y);
    add(2, weights.z);
  }
  if constexpr (kPixels == 8) {
    if (tap + 5 <= taps) {
      add(3, weights.w);
      weights = weights_at(tap + 4);
      add(4, weights.x);
    }
    if (tap + 7 <= taps) {
      add(5, weights.y);
      add(6, weights.z);
    }
  }
}

template <int kPixels, BilateralPass kPass>
__device__ void filter_lane(const BytesArguments& arguments, int x0, int y0, const std::uint16_t* tile,
                            const __half2* spatial, const char* table) {
  const int radius = arguments.weights.first.radius;
  const int strip = static_cast<int>(threadIdx.x % kLanes);
  const int row = static_cast<int>(threadIdx.x / kLanes);
  const int x = x0 + strip * kPixels;
  const int y = y0 + row;
  const std::uint16_t* samples = tile + row * arguments.pitch + strip * kPixels;
  const auto copy = static_cast<int>(threadIdx.x % 32 * 4);
  Lane<kPixels> lane;
  lane.end = kDifferences * kEntryBytes + copy;
  lane.clear();
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    // Lanes outside the plane, too: their look-ups must stay in the table.
    const int own = min(static_cast<int>(samples[radius * arguments.pitch + radius + p]), 255 * kEntryBytes);
    lane.own[p] = static_cast<float>(own / kEntryBytes);
    lane.base[p] = kDifferences / 2 * kEntryBytes - own + copy;
  }
  const int taps = 2 * radius + 1;
  const int rows_of_sums = max(kMostHalfSums / taps, 1);
  int rows = 0;
#pragma unroll 1
  for (int dy = -radius; dy <= radius; ++dy) {
    add_row<kPixels>(samples, spatial, taps, table, lane);
    samples += arguments.pitch;
    spatial += kSpatialPitch;
    if (++rows == rows_of_sums) {
      rows = 0;
      lane.flush();
    }
  }
  lane.flush();
  if (y >= arguments.height) {
    return;
  }
  if constexpr (kPass == BilateralPass::kVariance) {
    float* out = arguments.variance.data + static_cast<std::ptrdiff_t>(y) * arguments.variance.pitch + x;
    float values[kPixels];
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      values[p] = __fdividef(lane.sum[p], kSquareScale * lane.weight[p]);
    }
    store_run(values, out, arguments.width - x);
  } else {
    auto* out = reinterpret_cast<std::uint8_t*>(arguments.out.data + y * arguments.out.stride) + x;
    std::uint8_t values[kPixels];
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      // A mean of bytes needs no clamping.
      values[p] = static_cast<std::uint8_t>(lane.own[p] + __fdividef(lane.sum[p], lane.weight[p]) + 0.5F);
    }
    store_run(values, out, arguments.width - x);
  }
}

template <int kPixels, BilateralPass kPass>
__global__ void __launch_bounds__(32 * kMaxWarps, 2) bilateral_bytes_kernel(BytesArguments arguments) {
  extern __shared__ uint4 shared[];
  auto* table = reinterpret_cast<__half2*>(shared);
  __half2* spatial = table + kEntries * 32;
  const int radius = arguments.weights.first.radius;
  auto* tile = reinterpret_cast<std::uint16_t*>(spatial + (2 * radius + 1) * kSpatialPitch);
  const int rows = static_cast<int>(blockDim.x) / kLanes;
  fill_table<kPass>(arguments.weights.first.range, shared);
  for (int i = threadIdx.x; i < (2 * radius + 1) * kSpatialPitch; i += blockDim.x) {
    const int dx = i % kSpatialPitch - radius;
    const int dy = i / kSpatialPitch - radius;
    spatial[i] = __float2half2_rn(
        power_of_two(-arguments.weights.first.spatial * static_cast<float>(dx * dx + dy * dy)));
  }
  follow_stream();
  for (int number = blockIdx.x; number < arguments.tiles; number += gridDim.x) {
    const int x0 = number % arguments.tile_columns * (kLanes * kPixels);
    const int y0 = number / arguments.tile_columns * rows;
    fill_tile(arguments, x0, y0, rows, tile);
    __syncthreads();
    filter_lane<kPixels, kPass>(arguments, x0, y0, tile, spatial, reinterpret_cast<const char*>(table));
    __syncthreads();
  }
}

struct Shape {
  int pixels;
  int warps;
  // A lane reads complete runs of `pixels`.
  int pitch(int radius) const { return (kLanes * pixels + 2 * radius + pixels) / pixels * pixels; }
  std::size_t shared_bytes(int radius) const {
    return static_cast<std::size_t>(kEntries) * kEntryBytes +
           static_cast<std::size_t>(2 * radius + 1) * kSpatialPitch * 4 +
           static_cast<std::size_t>(2 * warps + 2 * radius) * pitch(radius) * 2;
  }
  int columns(int width) const { return (width + kLanes * pixels - 1) / (kLanes * pixels); }
  int tiles(int width, int height) const { return columns(width) * ((height + 2 * warps - 1) / (2 * warps)); }
};

constexpr Shape kLargest{8, kMaxWarps};

// The largest tiles that give every multiprocessor one and a half, or the smallest ones.
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

template <BilateralPass kPass>
void filter_tiles(const BilateralJob& job, BytesArguments& arguments, cudaStream_t stream) {
  const int multiprocessors = device_limits().multiprocessors;
  const int radius = job.weights.first.radius;
  const Shape shape = choose_shape(arguments.width, arguments.height, multiprocessors);
  arguments.tile_columns = shape.columns(arguments.width);
  arguments.tiles = shape.tiles(arguments.width, arguments.height);
  arguments.pitch = shape.pitch(radius);
  auto* kernel = shape.pixels == 4 ? bilateral_bytes_kernel<4, kPass> : bilateral_bytes_kernel<8, kPass>;
  const std::size_t bytes = shape.shared_bytes(radius);
  allow_shared_memory(kernel, bytes);
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 32 * shape.warps, bytes));
  const int blocks = std::min(arguments.tiles, std::max(resident, 1) * multiprocessors);
  const auto threads = static_cast<unsigned>(32 * shape.warps);
  // A single wave of blocks that is launched early concentrates on the multiprocessors that the previous
  // kernel leaves first. On an H200, early launch is faster for pictures that occupy all multiprocessors,
  // after the filter's second pass, and where launching takes longest.
  const bool early =
      arguments.tiles > blocks || 10 * arguments.tiles >= 9 * resident * multiprocessors ||
      (kPass == BilateralPass::kVariance ? shape.warps == kMaxWarps : shape.warps < kMaxWarps && radius <= 4);
  if (early) {
    launch(kernel, static_cast<unsigned>(blocks), threads, bytes, stream, arguments);
  } else {
    kernel<<<static_cast<unsigned>(blocks), threads, bytes, stream>>>(arguments);
    check_launch();
  }
}

}  // namespace

bool can_filter_bytes(const BilateralJob& job, const DeviceLimits& device) {
  const int radius = job.weights.first.radius;
  return job.bytes && job.pass != BilateralPass::kAdapted && radius <= kMostBytesRadius &&
         kLargest.shared_bytes(radius) <= device.shared_memory;
}

void bilateral_bytes(const BilateralJob& job, cudaStream_t stream) {
  BytesArguments arguments{job.in, job.out, job.width, job.height, 0, 0, 0, job.weights, job.variance};
  (job.pass == BilateralPass::kMean ? filter_tiles<BilateralPass::kMean>
                                    : filter_tiles<BilateralPass::kVariance>)(job, arguments, stream);
}

}  // namespace limpid::cuda
