#include <cuda_fp16.h>
#include <math_constants.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/bilateral.h"
#include "cuda/launch.h"

// Weights of 8-bit samples from a table in shared memory. Every lane has a copy of its own, in its own bank,
// so that 32 look-ups take one cycle whatever the differences. An entry is a pair of halves, the range
// weight and its product with the difference (or its square): multiplied by the spatial weight it adds to
// both sums by one instruction. The pairs' sums of one row of the window are halves (of relative error 2^-11
// a step), their sums floats.
//
// kAdapted, where each sample has a range sigma of its own, looks the Gaussian up by the difference in
// sigmas, t, in steps of 1/64: of weights the error is at most 0.5 %, of differences 1/128 sigma. Warps with
// sigmas for which that is over an eighth of a code value compute their weights instead.
//
// Threads: 16 lanes by 2 rows make a warp, each lane kPixels samples side by side; up to 16 warps, one above
// the other, make a block, which takes tile after tile. Of the window's row a lane holds the kPixels + 3
// samples that 4 steps to the right look at. Shared memory: 64 KiB of table (93 for kAdapted), the tile's
// samples with their margin, the spatial weights. Registers: 64, two blocks of 512 threads a multiprocessor.
// Bound by shared memory: one look-up a weight, at 32 a cycle and multiprocessor.

namespace limpid::cuda {
namespace {

constexpr int kMaxRadius = 15;
constexpr int kLanes = 16;  // side by side
constexpr int kMaxWarps = 16;
constexpr int kEntryBytes = 32 * 4;
constexpr int kDifferences = 511;
constexpr int kSteps = 742;                         // of t, from -kGreatest to kGreatest
constexpr float kGreatest = 0.5F * kSteps / 64.0F;  // 2^-24.2 at t = 5.8: less than a half float holds
constexpr float kSquareScale = 1.0F / 64.0F;        // of squared differences, to fit half floats
constexpr float kLeastSigma = 0.04F;                // less gives the same weights: 1 and 0
constexpr float kMostSigma = 16;
constexpr int kOutside = 1 << 20;  // in place of a sample that is not in the plane

// (kDifferences or kSteps) + 1 entries; kMean and kVariance's last one is for samples outside of the plane.
constexpr int entries(BilateralPass pass) {
  return pass == BilateralPass::kAdapted ? kSteps + 1 : kDifferences + 1;
}

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

template <BilateralPass kPass>
__device__ void fill_table(float range, __half2* table) {
  for (int entry = threadIdx.x / 32; entry < entries(kPass); entry += blockDim.x / 32) {
    float weight = 0;
    float product = 0;
    if constexpr (kPass == BilateralPass::kAdapted) {
      const float t = static_cast<float>(entry - kSteps / 2) * (2 * kGreatest / kSteps);
      if (entry > 0 && entry < kSteps) {
        weight = power_of_two(-0.72134752F * t * t);
      }
      product = weight * t;
    } else if (entry < kDifferences) {
      const auto difference = static_cast<float>(entry - kDifferences / 2);
      weight = power_of_two(-range * difference * difference);
      product = weight * difference * (kPass == BilateralPass::kVariance ? difference * kSquareScale : 1.0F);
    }
    table[entry * 32 + threadIdx.x % 32] = __floats2half2_rn(weight, product);
  }
}

// The tile's samples with `radius` more all round, those outside of the plane repeating its border.
__device__ void fill_tile(const BytesArguments& arguments, int x0, int y0, int columns, int rows,
                          std::uint8_t* tile) {
  const int radius = arguments.weights.first.radius;
  for (int row = threadIdx.x / 32; row < rows + 2 * radius; row += blockDim.x / 32) {
    const int y = min(max(y0 - radius + row, 0), arguments.height - 1);
    const auto* samples = reinterpret_cast<const std::uint8_t*>(arguments.in.data + y * arguments.in.stride);
    for (int column = threadIdx.x % 32; column < columns + 2 * radius; column += 32) {
      tile[row * arguments.pitch * 4 + column] =
          samples[min(max(x0 - radius + column, 0), arguments.width - 1)];
    }
  }
}

// A sample of the window as the look-up needs it: a distance in the table, or the sample itself for kAdapted.
template <BilateralPass kPass>
using Value = std::conditional_t<kPass == BilateralPass::kAdapted, float, int>;

// The 4 samples of a word; `column` is the plane's of the first.
template <BilateralPass kPass, bool kBorder>
__device__ void unpack(unsigned word, int column, int width, bool row_inside, Value<kPass>* values) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned sample = __byte_perm(word, 0, 0x4440 + i);
    const bool inside = !kBorder || (row_inside && column + i >= 0 && column + i < width);
    if constexpr (kPass == BilateralPass::kAdapted) {
      const float value = __uint_as_float(0x4B000000U | sample) - 8388608.0F;
      values[i] = inside ? value : CUDART_INF_F;
    } else {
      values[i] = inside ? static_cast<int>(sample) * kEntryBytes : kOutside;
    }
  }
}

// What a lane knows of its samples.
template <int kPixels, BilateralPass kPass>
struct Lane {
  float own[kPixels];
  float weight[kPixels] = {};
  float sum[kPixels] = {};
  // Of sample p and a neighbour of value v the entry is at base[p] + v; for kAdapted at scale[p] v + base[p]
  // of the table, as a share of 1.
  Value<kPass> base[kPixels];
  float scale[kPass == BilateralPass::kAdapted ? kPixels : 1];
};

template <int kPixels, BilateralPass kPass, bool kBorder>
__device__ __half2 look_up(const Lane<kPixels, kPass>& lane, int p, Value<kPass> value, const char* table) {
  int at = 0;
  if constexpr (kPass == BilateralPass::kAdapted) {
    const float share = __saturatef(fmaf(value, lane.scale[p], lane.base[p]));
    // Half a step more, since the bits under a whole step are cut off.
    const float fixed = fmaf(share, static_cast<float>(kSteps * kEntryBytes), 8388608.0F + kEntryBytes / 2);
    at = (__float_as_int(fixed) & 0x1FF80) | static_cast<int>(threadIdx.x % 32 * 4);
  } else {
    at = lane.base[p] + value;
    if constexpr (kBorder) {
      at = min(at, static_cast<int>(kDifferences * kEntryBytes + threadIdx.x % 32 * 4));
    }
  }
  return *reinterpret_cast<const __half2*>(table + at);
}

// Adds the neighbours at dy, the lane's words of that row being `words`.
template <int kPixels, BilateralPass kPass, bool kBorder>
__device__ void add_row(const BytesArguments& arguments, const unsigned* words, const __half2* spatial,
                        const char* table, int column, bool row_inside, Lane<kPixels, kPass>& lane) {
  const int taps = 2 * arguments.weights.first.radius + 1;
  Value<kPass> values[kPixels + 4];
  __half2 sums[kPixels];
#pragma unroll
  for (int i = 0; i < kPixels; i += 4) {
    unpack<kPass, kBorder>(words[i / 4], column + i, arguments.width, row_inside, values + i);
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    sums[p] = __half2half2(__ushort_as_half(0));
  }
  const auto add = [&](int step, __half2 weight) {
#pragma unroll
    for (int p = 0; p < kPixels; ++p) {
      sums[p] = __hfma2(look_up<kPixels, kPass, kBorder>(lane, p, values[p + step], table), weight, sums[p]);
    }
  };
  const auto load = [&](int tap) {
    unpack<kPass, kBorder>(words[(tap + kPixels) / 4], column + tap + kPixels, arguments.width, row_inside,
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

// Weights computed one by one, for range sigmas that the table is too coarse for.
template <int kPixels>
__device__ void add_exactly(const BytesArguments& arguments, const std::uint8_t* tile, int x, int y,
                            const float* range, Lane<kPixels, BilateralPass::kAdapted>& lane) {
  const int radius = arguments.weights.first.radius;
  const float spatial = arguments.weights.first.spatial;
  for (int dy = max(-radius, -y); dy <= min(radius, arguments.height - 1 - y); ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      const float exponent = spatial * static_cast<float>(dx * dx + dy * dy);
#pragma unroll
      for (int p = 0; p < kPixels; ++p) {
        const int column = x + p + dx;
        const float difference =
            static_cast<float>(tile[(dy + radius) * arguments.pitch * 4 + dx + radius + p]) - lane.own[p];
        const float weight = column >= 0 && column < arguments.width
                                 ? power_of_two(-fmaf(range[p] * difference, difference, exponent))
                                 : 0.0F;
        lane.weight[p] += weight;
        lane.sum[p] = fmaf(weight, difference, lane.sum[p]);
      }
    }
  }
}

template <int kPixels, BilateralPass kPass>
__device__ void filter_lane(const BytesArguments& arguments, int x0, int y0, const unsigned* tile,
                            const __half2* spatial, const char* table) {
  const int radius = arguments.weights.first.radius;
  const int strip = static_cast<int>(threadIdx.x % kLanes);
  const int row = static_cast<int>(threadIdx.x / kLanes);
  const int x = x0 + strip * kPixels;
  const int y = y0 + row;
  const auto* bytes =
      reinterpret_cast<const std::uint8_t*>(tile) + row * arguments.pitch * 4 + strip * kPixels;
  Lane<kPixels, kPass> lane;
  float range[kPixels];
  bool exactly = false;
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    const int own = bytes[radius * arguments.pitch * 4 + radius + p];
    lane.own[p] = static_cast<float>(own);
    if constexpr (kPass == BilateralPass::kAdapted) {
      const FloatPlane& variance = arguments.variance;
      const float v =
          variance.data[static_cast<std::ptrdiff_t>(min(y, arguments.height - 1)) * variance.pitch +
                        min(x + p, arguments.width - 1)];
      range[p] = arguments.weights.adapted_range / (v + arguments.weights.epsilon);
      const float sigma = fmaxf(sqrtf(0.72134752F / range[p]), kLeastSigma);
      exactly = exactly || sigma > kMostSigma;
      lane.scale[p] = 0.5F / kGreatest / sigma;
      lane.base[p] = fmaf(-lane.own[p], lane.scale[p], 0.5F);
    } else {
      lane.base[p] = (kDifferences / 2 - own) * kEntryBytes + static_cast<int>(threadIdx.x % 32 * 4);
    }
  }
  float unit = kPass == BilateralPass::kVariance ? 1 / kSquareScale : 1.0F;
  if constexpr (kPass == BilateralPass::kAdapted) {
    exactly = __any_sync(0xFFFFFFFFU, exactly) != 0;
    if (exactly) {
      add_exactly<kPixels>(arguments, bytes, x, y, range, lane);
    }
  }
  if (!exactly) {
    // For whole warps.
    const int warp_y = y - static_cast<int>(threadIdx.x % 32 / kLanes);
    const bool border = x0 < radius || x0 + kLanes * kPixels + radius > arguments.width || warp_y < radius ||
                        warp_y + 1 + radius >= arguments.height;
    const unsigned* words = tile + row * arguments.pitch + strip * (kPixels / 4);
    for (int dy = -radius; dy <= radius; ++dy) {
      if (border) {
        add_row<kPixels, kPass, true>(arguments, words, spatial, table, x - radius,
                                      y + dy >= 0 && y + dy < arguments.height, lane);
      } else {
        add_row<kPixels, kPass, false>(arguments, words, spatial, table, 0, true, lane);
      }
      words += arguments.pitch;
      spatial += kSpatialPitch;
    }
  }
  if (y >= arguments.height) {
    return;
  }
#pragma unroll
  for (int p = 0; p < kPixels; ++p) {
    if (x + p >= arguments.width) {
      return;
    }
    float mean = lane.sum[p] / lane.weight[p] * unit;
    if constexpr (kPass == BilateralPass::kVariance) {
      arguments.variance.data[static_cast<std::ptrdiff_t>(y) * arguments.variance.pitch + x + p] = mean;
    } else {
      if constexpr (kPass == BilateralPass::kAdapted) {
        mean *= exactly ? 1.0F : 0.5F / kGreatest / lane.scale[p];
      }
      // A mean of bytes: no clamping.
      reinterpret_cast<std::uint8_t*>(arguments.out.data + y * arguments.out.stride)[x + p] =
          static_cast<std::uint8_t>(lane.own[p] + mean + 0.5F);
    }
  }
}

template <int kPixels, BilateralPass kPass>
__global__ void __launch_bounds__(32 * kMaxWarps, kPass == BilateralPass::kAdapted ? 1 : 2)
    bilateral_bytes_kernel(BytesArguments arguments) {
  extern __shared__ uint4 shared[];
  auto* table = reinterpret_cast<__half2*>(shared);
  __half2* spatial = table + entries(kPass) * 32;
  const int radius = arguments.weights.first.radius;
  auto* tile = reinterpret_cast<unsigned*>(spatial + (2 * radius + 1) * kSpatialPitch);
  const int rows = static_cast<int>(blockDim.x) / kLanes;
  fill_table<kPass>(arguments.weights.first.range, table);
  for (int i = threadIdx.x; i < (2 * radius + 1) * kSpatialPitch; i += blockDim.x) {
    const int dx = i % kSpatialPitch - radius;
    const int dy = i / kSpatialPitch - radius;
    spatial[i] = __float2half2_rn(
        power_of_two(-arguments.weights.first.spatial * static_cast<float>(dx * dx + dy * dy)));
  }
  for (int number = blockIdx.x; number < arguments.tiles; number += gridDim.x) {
    const int x0 = number % arguments.tile_columns * (kLanes * kPixels);
    const int y0 = number / arguments.tile_columns * rows;
    fill_tile(arguments, x0, y0, kLanes * kPixels, rows, reinterpret_cast<std::uint8_t*>(tile));
    __syncthreads();
    filter_lane<kPixels, kPass>(arguments, x0, y0, tile, spatial, reinterpret_cast<const char*>(table));
    __syncthreads();
  }
}

struct Shape {
  int pixels;
  int warps;
  int pitch(int radius) const {
    // Both rows of a warp read their words without conflicts: the second row lies an odd number of words away
    // where lanes are two words apart, half of the banks away where they are one.
    const int words = (kLanes * pixels + 2 * radius + 3) / 4 + 1;
    return pixels == 8 ? words | 1 : (words + 15) / 32 * 32 + 16;
  }
  std::size_t shared_bytes(const BilateralJob& job) const {
    const int radius = job.weights.first.radius;
    return static_cast<std::size_t>(entries(job.pass)) * kEntryBytes +
           static_cast<std::size_t>(2 * radius + 1) * kSpatialPitch * 4 +
           static_cast<std::size_t>(2 * warps + 2 * radius) * pitch(radius) * 4;
  }
  int columns(int width) const { return (width + kLanes * pixels - 1) / (kLanes * pixels); }
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

template <BilateralPass kPass>
void launch(const BilateralJob& job, BytesArguments& arguments, cudaStream_t stream) {
  int device = 0;
  int multiprocessors = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const Shape shape = choose_shape(arguments.width, arguments.height, multiprocessors);
  arguments.tile_columns = shape.columns(arguments.width);
  arguments.tiles = shape.tiles(arguments.width, arguments.height);
  arguments.pitch = shape.pitch(job.weights.first.radius);
  const auto kernel = shape.pixels == 8 ? bilateral_bytes_kernel<8, kPass> : bilateral_bytes_kernel<4, kPass>;
  const std::size_t bytes = shape.shared_bytes(job);
  allow_shared_memory(kernel, bytes);
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, 32 * shape.warps, bytes));
  const int blocks = std::min(arguments.tiles, std::max(resident, 1) * multiprocessors);
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * shape.warps), bytes, stream>>>(
      arguments);
  check_launch();
}

}  // namespace

bool can_filter_bytes(const BilateralJob& job) {
  return job.weights.first.radius <= kMaxRadius &&
         kLargest.shared_bytes(job) <= device_limits().shared_memory;
}

void bilateral_bytes(const BilateralJob& job, const SamplePlane& in, int width, int height,
                     const SamplePlane& out, cudaStream_t stream) {
  BytesArguments arguments{in, out, width, height, 0, 0, 0, job.weights, job.variance};
  switch (job.pass) {
    case BilateralPass::kMean:
      launch<BilateralPass::kMean>(job, arguments, stream);
      break;
    case BilateralPass::kVariance:
      launch<BilateralPass::kVariance>(job, arguments, stream);
      break;
    case BilateralPass::kAdapted:
      launch<BilateralPass::kAdapted>(job, arguments, stream);
      break;
  }
}

}  // namespace limpid::cuda
