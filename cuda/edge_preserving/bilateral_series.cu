// SPDX-License-Identifier: MIT
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cuda/edge_preserving/kernels.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/matrix.h"
#include "cuda/runtime/powers.h"
#include "cuda/runtime/tile.h"

// The bilateral filter's weights, for a range sigma that is constant across the picture, as a sum of cosines
// (Chaudhury, Sage and Unser 2011; Sugimoto and Kamata 2015):
//
//   exp(-gamma d^2) = sum over k of a_k cos(w_k d),    w_k = (k + 1/2) step,
//
// to 10^-6 for differences d of 8-bit samples. Since cos(w (j - i)) = cos wj cos wi + sin wj sin wi, a sum of
// weights over a window consists of means of cos wI and sin wI by the spatial weights, for any sample in the
// center. The sums of d exp(-gamma d^2) and d^2 exp(-gamma d^2) consist of the same means with the factors
// of the series' derivatives. The spatial weights are the product of a column and a row: two products
// with band matrices, on tensor cores. The work therefore does not depend on the radius, but on the number of
// cosines: 9 for a range sigma of 50, 16 for 20.
//
// An isolated sample's own weight competes with the weights of all others, each nearly 0, which requires the
// 10^-6. Cosines and sines, and the sums of columns, are therefore pairs of halves, the second being the
// rounding error of the first.
//
// A warp makes 32 x 32 samples. For one frequency the left operands are always
//
//   16 x 48 spatial weights, of row m and column k that of distance k - 16 - m
//
// and the right ones 48 x 8 cosines, rows of samples by columns. The product, 16 x 8 sums along columns, is,
// transposed, in the layout of a lane's registers, 16 of 48 rows of the next right operand. Cosines come from
// a table in shared memory, of which 16 lanes have a copy each in their own banks, so that look-ups take one
// cycle for any samples. The table differs for every frequency; a block's 256 threads make one value's entry
// each by rotating the entry of the frequency before.
//
// Shared memory: two tables, 64 KiB, so that one is made while the other is used; the tile's samples with
// their margin as pairs of rows of offsets into the table, 32 KiB. 8 warps form a block of 64 x 128 samples,
// one per multiprocessor: a lane has all 255 registers.

namespace limpid::cuda {
namespace {

constexpr int kMargin = 16;
static_assert(kMargin > kMostBytesRadius);
constexpr int kSide = 32;  // side of a warp's samples
constexpr int kRows = 64;  // of a block
constexpr int kColumns = 128;
constexpr int kThreads = 256;  // also the number of values of a sample
constexpr int kCopies = 16;
constexpr int kEntryBytes = 8 * kCopies;
constexpr int kEntries = kThreads + 1;  // the last one, zero, is for samples outside the plane
constexpr int kPitch = kColumns + 2 * kMargin + 8;
constexpr int kPairs = kRows / 2 + kMargin;  // pairs of rows in the tile
constexpr int kPairsAtATime = 4;
constexpr int kMaxFrequencies = 40;

// A block's shared memory: tables of two frequencies, of cosines and sines, each as a half and its rounding
// error, and as a float; and the tile, pairs of rows of offsets into `parts`.
struct Shared {
  uint2 parts[2][kEntries][kCopies];
  float2 whole[2][kEntries];
  unsigned tile[kPairs][kPitch];
};

struct SeriesArguments {
  SamplePlane in;
  SamplePlane out;
  int width;
  int height;
  int radius;
  float spatial;
  FloatPlane variance;
  int frequencies;
  double half_period;              // of the lowest frequency
  float weights[kMaxFrequencies];  // a_k
  float moments[kMaxFrequencies];  // weights of d exp(-gamma d^2), or of d^2 exp(-gamma d^2)
};

// Fills the tile, whose first sample inside the margin is (x0, y0).
__device__ void fill_tile(const SeriesArguments& arguments, int x0, int y0,
                          unsigned (&tile)[kPairs][kPitch]) {
  for (int first = static_cast<int>(threadIdx.x) / 32 * kPairsAtATime; first < kPairs;
       first += kThreads / 32 * kPairsAtATime) {
    const TileRows<2 * kPairsAtATime> in(arguments.in, arguments.height, y0 - kMargin + 2 * first);
    for (int i = static_cast<int>(threadIdx.x) % 32; i < kColumns + 2 * kMargin; i += 32) {
      int samples[2 * kPairsAtATime];
#pragma unroll
      for (int k = 0; k < 2 * kPairsAtATime; ++k) {
        samples[k] = in.at(k, x0 - kMargin + i, arguments.width);
      }
      const auto offset = [](int sample) {
        return static_cast<unsigned>(sample < 0 ? kThreads : sample) * kEntryBytes;
      };
#pragma unroll
      for (int k = 0; k < kPairsAtATime; ++k) {
        tile[first + k][i] = offset(samples[2 * k]) | offset(samples[2 * k + 1]) << 16;
      }
    }
  }
}

// The cosine and sine of a value, for one frequency after the other.
struct Rotation {
  double cosine;
  double sine;
  double cosine_step;
  double sine_step;

  __device__ Rotation(double half_period, int value) {
    sincospi(value / half_period, &sine, &cosine);
    sincospi(2 * value / half_period, &sine_step, &cosine_step);
  }
  __device__ void advance() {
    const double next = cosine * cosine_step - sine * sine_step;
    sine = sine * cosine_step + cosine * sine_step;
    cosine = next;
  }
  // Writes the thread's entry; the order of the copies avoids bank conflicts.
  __device__ void write(uint2 (&parts)[kEntries][kCopies], float2 (&whole)[kEntries]) const {
    const auto halves = [](double value) {
      const __half high = __double2half(value);
      return __halves2half2(high, __double2half(value - static_cast<double>(__half2float(high))));
    };
    const uint2 entry{bits_of(halves(cosine)), bits_of(halves(sine))};
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      parts[threadIdx.x][(threadIdx.x + i) % kCopies] = entry;
    }
    whole[threadIdx.x] = {static_cast<float>(cosine), static_cast<float>(sine)};
  }
};

// A warp's lane's samples: columns group and group + 8 of both halves of the warp's columns, rows 2 in_group
// and the next of all four quarters of its rows.
struct Sums {
  float weight[2][4][4] = {};
  float moment[2][4][4] = {};
};

// Calls take(half, quarter, i, offset) for all samples, with the offsets of their values in a table.
template <typename Take>
__device__ __forceinline__ void for_own_samples(const unsigned* words, const Take& take) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int quarter = 0; quarter < 4; ++quarter) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned word = words[(kMargin / 2 + 4 * quarter) * kPitch + kMargin + 16 * half + i / 2 * 8];
        take(half, quarter, i, i % 2 == 0 ? word & 0xFFFF : word >> 16);
      }
    }
  }
}

// Adds one frequency's terms. `band`: the left operands. `words`: the lane's first pair of rows in the
// margin. `parts`: its copy of the first entry.
template <BilateralPass kPass>
__device__ void add_frequency(const unsigned (&band)[3][4], const unsigned* words, const char* parts,
                              const char* whole, float weight, float moment, Sums& sums) {
  float means[2][2][4][4] = {};  // of cosines and sines
#pragma unroll
  for (int sixteen = 0; sixteen < 4; ++sixteen) {
    Operand columns[2][4][2];  // sums of cosines and sines, by quarters of the rows and eights of the columns
#pragma unroll
    for (int eight = 0; eight < 2; ++eight) {
      float column_sums[2][2][4] = {};  // of cosines and sines; halves of rows
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        unsigned high[2][2];
        unsigned low[2][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const unsigned word = words[(8 * k + 4 * i) * kPitch + 16 * sixteen + 8 * eight];
          const uint2 upper = *reinterpret_cast<const uint2*>(parts + (word & 0xFFFF));
          const uint2 lower = *reinterpret_cast<const uint2*>(parts + (word >> 16));
          high[0][i] = __byte_perm(upper.x, lower.x, 0x5410);
          low[0][i] = __byte_perm(upper.x, lower.x, 0x7632);
          high[1][i] = __byte_perm(upper.y, lower.y, 0x5410);
          low[1][i] = __byte_perm(upper.y, lower.y, 0x7632);
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          if (k >= half && k < half + 3) {
#pragma unroll
            for (int f = 0; f < 2; ++f) {
              multiply_add(column_sums[f][half], band[k - half], low[f][0], low[f][1]);
              multiply_add(column_sums[f][half], band[k - half], high[f][0], high[f][1]);
            }
          }
        }
      }
#pragma unroll
      for (int f = 0; f < 2; ++f) {
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
          const float* pair = column_sums[f][quarter / 2] + quarter % 2 * 2;
          columns[f][quarter][eight] = split<true>(pair[0], pair[1]);
        }
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (sixteen >= half && sixteen < half + 3) {
#pragma unroll
        for (int f = 0; f < 2; ++f) {
#pragma unroll
          for (int quarter = 0; quarter < 4; ++quarter) {
            const auto& [left, right] = columns[f][quarter];
            multiply_add(means[f][half][quarter], band[sixteen - half], left.low, right.low);
            multiply_add(means[f][half][quarter], band[sixteen - half], left.high, right.high);
          }
        }
      }
    }
  }
  for_own_samples(words, [&](int half, int quarter, int i, unsigned offset) {
    const float2 own = *reinterpret_cast<const float2*>(whole + offset / kCopies);
    const float cosine = means[0][half][quarter][i];
    const float sine = means[1][half][quarter][i];
    const float even = own.x * cosine + own.y * sine;
    sums.weight[half][quarter][i] += weight * even;
    sums.moment[half][quarter][i] +=
        moment * (kPass == BilateralPass::kMean ? own.x * sine - own.y * cosine : even);
  });
}

template <BilateralPass kPass>
__global__ void __launch_bounds__(kThreads, 1) bilateral_series_kernel(const SeriesArguments arguments) {
  extern __shared__ uint4 shared[];
  auto& memory = *reinterpret_cast<Shared*>(shared);
  const int group = static_cast<int>(threadIdx.x % 32 / 4);
  const int in_group = static_cast<int>(threadIdx.x % 4);
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int row = warp / (kColumns / kSide) * kSide;
  const int column = warp % (kColumns / kSide) * kSide;
  const int x0 = static_cast<int>(blockIdx.x) * kColumns;
  const int y0 = static_cast<int>(blockIdx.y) * kRows;

  unsigned band[3][4];
#pragma unroll
  for (int k = 0; k < 3; ++k) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int distance = 16 * k + 2 * in_group + i / 2 * 8 - kMargin - (group + i % 2 * 8);
      const auto spatial = [&](int d) {
        return abs(d) <= arguments.radius ? power_of_two(-arguments.spatial * static_cast<float>(d * d))
                                          : 0.0F;
      };
      band[k][i] = bits_of(__floats2half2_rn(spatial(distance), spatial(distance + 1)));
    }
  }
  Rotation rotation(arguments.half_period, static_cast<int>(threadIdx.x));
  if (threadIdx.x < 2 * kCopies) {
    memory.parts[threadIdx.x / kCopies][kThreads][threadIdx.x % kCopies] = {};
    memory.whole[threadIdx.x / kCopies][kThreads] = {};
  }
  follow_stream();
  fill_tile(arguments, x0, y0, memory.tile);

  const unsigned* words = &memory.tile[row / 2 + in_group][column + group];
  const bool in_plane = x0 + column < arguments.width && y0 + row < arguments.height;
  Sums sums;
#pragma unroll 1
  for (int k = 0; k < arguments.frequencies; ++k) {
    rotation.write(memory.parts[k % 2], memory.whole[k % 2]);
    rotation.advance();
    __syncthreads();
    if (in_plane) {
      add_frequency<kPass>(band, words,
                           reinterpret_cast<const char*>(&memory.parts[k % 2][0][threadIdx.x % kCopies]),
                           reinterpret_cast<const char*>(memory.whole[k % 2]), arguments.weights[k],
                           arguments.moments[k], sums);
    }
  }
  if (!in_plane) {
    return;
  }
  for_own_samples(words, [&](int half, int quarter, int i, unsigned offset) {
    const int x = x0 + column + 16 * half + i / 2 * 8 + group;
    const int y = y0 + row + 8 * quarter + 2 * in_group + i % 2;
    if (x >= arguments.width || y >= arguments.height) {
      return;
    }
    const float mean = __fdividef(sums.moment[half][quarter][i], sums.weight[half][quarter][i]);
    if constexpr (kPass == BilateralPass::kVariance) {
      arguments.variance.data[static_cast<std::ptrdiff_t>(y) * arguments.variance.pitch + x] = fmaxf(mean, 0);
    } else {
      const auto own = static_cast<float>(offset / kEntryBytes);
      reinterpret_cast<std::uint8_t*>(arguments.out.data + y * arguments.out.stride)[x] =
          static_cast<std::uint8_t>(fminf(fmaxf(own + mean + 0.5F, 0.0F), 255.0F));
    }
  });
}

// The series of 2^(-range d^2) for |d| up to 255. The series is periodic with alternating sign. Its period is
// so long that the error from repetition is no greater than the error from omitted frequencies.
struct Series {
  double half_period;  // of the lowest frequency
  int frequencies;

  Series(BilateralPass pass, float range) {
    const double sigma = std::sqrt(0.5 / (static_cast<double>(range) * std::log(2.0)));
    // Variances have terms of up to sigma^2, and those of flat neighborhoods must be 0.
    const double reach =
        std::sqrt(pass == BilateralPass::kMean ? 29 : 33 + 4.5 * std::log(std::max(sigma / 50, 1.0)));
    half_period = 255 + reach * sigma;
    frequencies = static_cast<int>(std::ceil(reach / sigma * half_period / (2 * M_PI)));
  }
};

}  // namespace

bool can_filter_by_series(const BilateralJob& job, const DeviceLimits& device) {
  return job.bytes && job.pass != BilateralPass::kAdapted && job.weights.first.radius <= kMostBytesRadius &&
         Series(job.pass, job.weights.first.range).frequencies <= kMaxFrequencies &&
         sizeof(Shared) <= device.shared_memory;
}

bool series_pays(const BilateralJob& job, const DeviceLimits& device) {
  // The number of a window's samples that bilateral_bytes() looks up in the time of one frequency, measured
  // on an H200. A device's attributes do not contain it, and it must not be measured at run time: the choice
  // affects results, which must be deterministic.
  constexpr double kSamplesOfFrequency = 26;
  const int waves =
      blocks_for(blocks_for(job.width, kColumns) * blocks_for(job.height, kRows), device.multiprocessors);
  const double window = std::pow(2 * job.weights.first.radius + 1, 2);
  return kSamplesOfFrequency * Series(job.pass, job.weights.first.range).frequencies * waves *
             device.multiprocessors * kRows * kColumns <
         window * job.width * job.height;
}

void bilateral_series(const BilateralJob& job, cudaStream_t stream) {
  const BilateralWeights& weights = job.weights.first;
  const Series series(job.pass, weights.range);
  SeriesArguments arguments{job.in,
                            job.out,
                            job.width,
                            job.height,
                            weights.radius,
                            weights.spatial,
                            job.variance,
                            series.frequencies,
                            series.half_period,
                            {},
                            {}};
  const double gamma = static_cast<double>(weights.range) * std::log(2.0);
  for (int k = 0; k < series.frequencies; ++k) {
    const double frequency = (2 * k + 1) * M_PI / series.half_period;
    const double weight =
        2 / series.half_period * std::sqrt(M_PI / gamma) * std::exp(-frequency * frequency / (4 * gamma));
    arguments.weights[k] = static_cast<float>(weight);
    arguments.moments[k] =
        static_cast<float>(weight * (job.pass == BilateralPass::kMean
                                         ? frequency / (2 * gamma)
                                         : (2 * gamma - frequency * frequency) / (4 * gamma * gamma)));
  }
  const auto kernel = job.pass == BilateralPass::kMean ? bilateral_series_kernel<BilateralPass::kMean>
                                                       : bilateral_series_kernel<BilateralPass::kVariance>;
  allow_shared_memory(kernel, sizeof(Shared));
  launch(kernel,
         dim3(static_cast<unsigned>(blocks_for(job.width, kColumns)),
              static_cast<unsigned>(blocks_for(job.height, kRows))),
         kThreads, sizeof(Shared), stream, arguments);
}

}  // namespace limpid::cuda
