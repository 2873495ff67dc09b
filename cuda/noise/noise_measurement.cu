// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "core/frame/frame.h"
#include "core/noise/noise_statistics.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Eight threads measure a block: each transforms one column, then one row of the results of all columns.
// Compiled without fused multiply-adds, so that blocks have bit-exactly the CPU's coefficients, which decide
// on the bins. Bound by latency and by atomic additions, many of which go to few bins.

namespace limpid::cuda {
namespace {

using noise::kActivities;
using noise::kBlock;
using noise::kClasses;
using noise::kCoefficients;

constexpr int kMeasuringThreads = 128;
constexpr int kBlocksAtATime = kMeasuringThreads / kBlock;
constexpr int kChannels = 3;

// Sums of energies are integers in units of 2^-16, so that they do not depend on the order. None overflows:
// usable_code_value() limits samples to 2^12, and thus the opponent channels, which are averages of samples
// or of their differences. 64 samples have an energy of at most 2^30, those of a difference / sqrt 2 at most
// 2^31, and a coefficient of an orthonormal transform has no more. For 2^14 single blocks or 2^13 differences
// this gives 2^44, or 2^60 units; rounding in single precision adds less than a thousandth.
constexpr int kEnergyBits = 16;
static_assert(noise::kMostSingle <= 1 << 14 && noise::kMostDifferences <= 1 << 13);
using EnergySum = unsigned long long;

__device__ EnergySum fixed(float energy) { return __float2ull_rn(energy * (1 << kEnergyBits)); }

// [8 u + v]: the threads of a block, which have a row each, add to adjacent sums.
using EnergySums = EnergySum[kCoefficients];

struct SingleSums {
  int levels[noise::kLevels];
  int blocks[2][kActivities];
  EnergySums energy[kActivities];  // the even coefficients in one bin, the odd ones in another
};

struct DifferenceSums {
  EnergySums energy[kClasses * kActivities];
  // Sums of octaves_of(), which has 31 bits and a sign: 2^13 blocks cannot overflow. Two's complement.
  unsigned long long octaves[kClasses * kActivities];
  int blocks[kClasses * kActivities];
  int copied;
  int lost;
};

// Only a leading part is cleared and downloaded: the levels of the first channel, all single blocks, or also
// the differences of some channels.
struct Sums {
  SingleSums single[kChannels];
  DifferenceSums differences[kChannels];
};

struct Grids {
  noise::BlockGrid of_channel[kChannels];
};

// A picture's channels in 8-bit code values.
template <typename Sample, bool kRgb>
struct Channels {
  SamplePlane planes[kChannels];
  float scale;
  noise::ClippedRange range;

  __device__ float sample(int plane, int x, int y) const {
    const auto* row = reinterpret_cast<const Sample*>(planes[plane].data + y * planes[plane].stride);
    return usable_code_value(static_cast<float>(row[x]) * scale);
  }
  __device__ float at(int channel, int x, int y) const {
    if constexpr (kRgb) {
      const float red = sample(0, x, y);
      const float green = sample(1, x, y);
      const float blue = sample(2, x, y);
      return channel == 0   ? (red + green + blue) / 3.0F
             : channel == 1 ? (red - blue) * 0.5F
                            : (red - 2.0F * green + blue) * 0.25F;
    } else {
      return sample(channel, x, y);
    }
  }
  // True if the sample's noise may be clipped.
  __device__ bool is_cut_off(int channel, int x, int y) const {
    if constexpr (kRgb) {
      return range.is_at_end(sample(0, x, y), sample(1, x, y), sample(2, x, y));
    } else {
      return range.is_at_end(sample(channel, x, y));
    }
  }
};

// A thread's part of a block: a column, or a row of coefficients.
using Line = std::array<std::array<float, 1>, kBlock>;

__device__ int own_line() { return static_cast<int>(threadIdx.x) % kBlock; }

template <typename Sample, bool kRgb>
__device__ Line load_column(const Channels<Sample, kRgb>& channels, int channel, int x, int y) {
  Line column;
  for (int row = 0; row < kBlock; ++row) {
    column[row][0] = channels.at(channel, x + own_line(), y + row);
  }
  return column;
}

// A row of the coefficients of the block that contains this column.
__device__ Line coefficients_of(Line column, const noise::HalfDctMatrix& matrix) {
  __shared__ float exchanged[kBlocksAtATime][kBlock][kBlock + 1];
  auto& block = exchanged[threadIdx.x / kBlock];
  noise::dct_columns(column, matrix);
  for (int v = 0; v < kBlock; ++v) {
    block[v][own_line()] = column[v][0];
  }
  __syncwarp();
  Line row;
  for (int x = 0; x < kBlock; ++x) {
    row[x][0] = block[own_line()][x];
  }
  __syncwarp();
  noise::dct_columns(row, matrix);
  return row;
}

__device__ std::array<float, kBlock> energies_of(const Line& coefficients) {
  std::array<float, kBlock> energies;
  for (int u = 0; u < kBlock; ++u) {
    energies[u] = coefficients[u][0] * coefficients[u][0];
  }
  return energies;
}

__device__ noise::HalfEnergies sum_of_block(const std::array<float, kBlock>& energies) {
  const noise::HalfEnergies own = noise::halves_of_row(own_line(), energies);
  noise::HalfEnergies sums{};
  for (int v = 0; v < kBlock; ++v) {
    noise::add_to(sums,
                  {__shfl_sync(kAllLanes, own[0], v, kBlock), __shfl_sync(kAllLanes, own[1], v, kBlock)});
  }
  return sums;
}

// The level of the block with these energies.
__device__ int level_of_block(const std::array<float, kBlock>& energies) {
  const float own = noise::middle_of_row(own_line(), energies);
  float sum = 0;
  for (int v = 0; v < kBlock; ++v) {
    sum += __shfl_sync(kAllLanes, own, v, kBlock);
  }
  return noise::level_of_middle(sum);
}

// True if `own` is true in all of a block's threads.
__device__ bool all_of_block(bool own) {
  const unsigned lanes = 0xFFU << (threadIdx.x % kWarp / kBlock * kBlock);
  return (__ballot_sync(kAllLanes, own) & lanes) == lanes;
}

// True if the noise of the block at (x, y) may be clipped.
template <typename Sample, bool kRgb>
__device__ bool is_cut_off(const Channels<Sample, kRgb>& channels, int channel, int x, int y) {
  int count = 0;
  for (int row = 0; row < kBlock; ++row) {
    count += channels.is_cut_off(channel, x + own_line(), y + row) ? 1 : 0;
  }
  for (int i = kBlock / 2; i > 0; i /= 2) {
    count += __shfl_xor_sync(kAllLanes, count, i, kBlock);
  }
  return count > noise::kMostCutOff;
}

// The brightness of the luma under the block of chroma at (x, y).
template <typename Sample, bool kRgb>
__device__ float brightness_by_luma(const Channels<Sample, kRgb>& channels, int x, int y, int shift_x,
                                    int shift_y) {
  float own = 0;
  for (int row = 0; row < kBlock; ++row) {
    own += channels.sample(0, (x + own_line()) << shift_x, (y + row) << shift_y);
  }
  std::array<float, kBlock> columns;
  for (int i = 0; i < kBlock; ++i) {
    columns[i] = __shfl_sync(kAllLanes, own, i, kBlock);
  }
  return noise::brightness_by_luma(columns);
}

// The number of a thread's block. Whole warps stay together: numbers beyond the last block are mapped to
// existing ones, which are then not counted.
__device__ int block_number() { return blockIdx.x * kBlocksAtATime + threadIdx.x / kBlock; }

template <typename Sample, bool kRgb>
__global__ void __launch_bounds__(kMeasuringThreads)
    single_kernel(Channels<Sample, kRgb> channels, Grids grids, noise::HalfDctMatrix matrix, bool levels_only,
                  Sums* sums) {
  follow_stream();
  const int channel = blockIdx.y;
  const noise::BlockGrid& grid = grids.of_channel[channel];
  if (static_cast<int>(blockIdx.x) * kBlocksAtATime >= grid.blocks()) {
    return;
  }
  const int number = min(block_number(), grid.blocks() - 1);
  const int x = number % grid.columns * grid.spacing;
  const int y = number / grid.columns * grid.spacing;
  const Line column = load_column(channels, channel, x, y);
  const float first = __shfl_sync(kAllLanes, column[0][0], 0, kBlock);
  bool same = true;
  for (const auto& sample : column) {
    same = same && sample[0] == first;
  }
  const bool constant = all_of_block(same);
  const bool cut_off = is_cut_off(channels, channel, x, y);
  const std::array<float, kBlock> energies = energies_of(coefficients_of(column, matrix));
  const std::array<int, 2> bins = noise::single_bins(sum_of_block(energies));
  const int level = level_of_block(energies);
  if (constant || cut_off || number != block_number()) {
    return;
  }
  SingleSums& own = sums->single[channel];
  const int v = own_line();
  if (v == 0) {
    atomicAdd(&own.levels[level], 1);
  }
  if (levels_only) {
    return;
  }
  const int of_even_u = v % 2 == 0 ? bins[0] : bins[1];
  const int of_odd_u = v % 2 == 0 ? bins[1] : bins[0];
  for (int u = 0; u < kBlock; ++u) {
    if (u + v > 0) {
      atomicAdd(&own.energy[u % 2 == 0 ? of_even_u : of_odd_u][u * kBlock + v], fixed(energies[u]));
    }
  }
  if (v < 2) {
    atomicAdd(&own.blocks[v][of_even_u], 1);
  }
}

// Luma's motion, and the subsampling of the other channels relative to luma.
struct Vectors {
  const MotionVector* vectors;  // to the picture before
  const MotionVector* back;     // from that picture back
  int columns;
  int rows;
  int shift_x;
  int shift_y;
  BrightnessScale scale;
};

struct Sizes {
  int width[kChannels];
  int height[kChannels];
};

template <typename Sample, bool kRgb>
__global__ void __launch_bounds__(kMeasuringThreads)
    difference_kernel(Channels<Sample, kRgb> now, Channels<Sample, kRgb> before, Sizes sizes, Grids grids,
                      Vectors motion, noise::HalfDctMatrix matrix, Sums* sums) {
  follow_stream();
  const int channel = blockIdx.y;
  const noise::BlockGrid& grid = grids.of_channel[channel];
  if (static_cast<int>(blockIdx.x) * kBlocksAtATime >= grid.blocks()) {
    return;
  }
  const int number = min(block_number(), grid.blocks() - 1);
  const int x = number % grid.columns * grid.spacing;
  const int y = number / grid.columns * grid.spacing;
  const MotionVector vector =
      noise::vector_of_block(motion.vectors, motion.columns, motion.rows, x, y,
                             channel == 0 ? 0 : motion.shift_x, channel == 0 ? 0 : motion.shift_y);
  const int from_x = x + vector.x;
  const int from_y = y + vector.y;
  const bool inside = from_x >= 0 && from_y >= 0 && from_x + kBlock <= sizes.width[channel] &&
                      from_y + kBlock <= sizes.height[channel];
  const Line a = load_column(now, channel, x, y);
  const Line b = load_column(before, channel, inside ? from_x : x, inside ? from_y : y);
  Line difference;
  Line mean;
  const float first = __shfl_sync(kAllLanes, a[0][0], 0, kBlock);
  bool same = true;
  bool level = true;
  for (int row = 0; row < kBlock; ++row) {
    same = same && a[row][0] == b[row][0];
    level = level && a[row][0] == first;
    difference[row][0] = noise::difference_sample(a[row][0], b[row][0]);
    mean[row][0] = noise::mean_sample(a[row][0], b[row][0]);
  }
  const bool copied = all_of_block(same);
  const bool constant = all_of_block(level);
  const bool cut_off_now = is_cut_off(now, channel, x, y);
  const bool cut_off_before = is_cut_off(before, channel, inside ? from_x : x, inside ? from_y : y);
  const std::array<float, kBlock> energies = energies_of(coefficients_of(difference, matrix));
  const noise::HalfEnergies of_difference = sum_of_block(energies);
  const Line texture = coefficients_of(mean, matrix);
  const float dc = __shfl_sync(kAllLanes, texture[0][0], 0, kBlock);
  const bool by_luma = !kRgb && channel > 0;
  const float brightness = by_luma ? brightness_by_luma(now, x, y, motion.shift_x, motion.shift_y)
                                   : noise::brightness_by_dc(dc, kRgb && channel > 0);
  const noise::HalfEnergies of_mean = sum_of_block(energies_of(texture));
  const int bin = noise::difference_bin(brightness, motion.scale, of_mean);
  if (!inside || number != block_number() || (copied ? constant : cut_off_now || cut_off_before)) {
    return;
  }
  const int shift_x = channel == 0 ? 0 : motion.shift_x;
  const int shift_y = channel == 0 ? 0 : motion.shift_y;
  const bool in_reach = noise::is_followed(motion.vectors, motion.back, motion.columns, motion.rows,
                                           x << shift_x, y << shift_y);
  DifferenceSums& own = sums->differences[channel];
  const int v = own_line();
  const bool is_copy = copied || (in_reach && noise::is_copy(of_difference));
  const bool followed = !is_copy && in_reach && noise::can_be_noise(of_difference, of_mean);
  if (followed) {
    for (int u = 0; u < kBlock; ++u) {
      atomicAdd(&own.energy[bin][u * kBlock + v], fixed(energies[u]));
    }
  }
  if (v == 0) {
    atomicAdd(is_copy ? &own.copied : followed ? &own.blocks[bin] : &own.lost, 1);
    if (followed) {
      atomicAdd(&own.octaves[bin],
                static_cast<unsigned long long>(static_cast<long long>(noise::octaves_of(of_difference))));
    }
  }
}

template <typename Sample, bool kRgb>
Channels<Sample, kRgb> channels_of(const FrameFormat& format,
                                   const std::array<SamplePlane, kMaxPlanes>& planes,
                                   const noise::SceneRange& range) {
  return {{planes[0], planes[1], planes[2]},
          static_cast<float>(1.0 / format.code_value()),
          noise::ClippedRange(format, range)};
}

// Calls measure(sample, is_rgb), with a sample and a std::bool_constant, for the matching kernels.
template <typename Measure>
void with_variant(const FrameFormat& format, const Measure& measure) {
  visit_samples(format, [&](auto sample) {
    if (format.color_model == ColorModel::kRgb) {
      measure(sample, std::true_type());
    } else {
      measure(sample, std::false_type());
    }
  });
}

dim3 launch_grid(const Grids& grids, int channels) {
  int most = 0;
  for (const noise::BlockGrid& grid : grids.of_channel) {
    most = std::max(most, grid.blocks());
  }
  return {static_cast<unsigned>(blocks_for(most, kBlocksAtATime)), static_cast<unsigned>(channels)};
}

double in_code_values(EnergySum sum) { return static_cast<double>(sum) / (1 << kEnergyBits); }

// Adds the sums of a bin: of all coefficients, or, with `half`, of the even or the odd ones.
void add_sums(const EnergySums& sums, int blocks, noise::Energies& bin, int half = -1) {
  if (blocks == 0) {
    return;
  }
  bin.blocks = blocks;
  for (int i = 0; i < kCoefficients; ++i) {
    if (half < 0 || noise::is_odd(i) == (half == 1)) {
      bin.energy[i] = in_code_values(sums[i % kBlock * kBlock + i / kBlock]);
    }
  }
}

void add_single(const SingleSums& sums, bool levels_only, noise::ChannelStatistics& channel) {
  channel.levels.assign(std::begin(sums.levels), std::end(sums.levels));
  for (int half = 0; half < 2 && !levels_only; ++half) {
    channel.single[half].resize(kActivities);
    for (int i = 0; i < kActivities; ++i) {
      add_sums(sums.energy[i], sums.blocks[half][i], channel.single[half][i], half);
    }
  }
}

void add_differences(const DifferenceSums& sums, noise::ChannelStatistics& channel) {
  channel.differences.resize(std::size_t{kClasses} * kActivities);
  for (std::size_t i = 0; i < channel.differences.size(); ++i) {
    add_sums(sums.energy[i], sums.blocks[i], channel.differences[i]);
    channel.differences[i].octaves =
        static_cast<double>(static_cast<long long>(sums.octaves[i])) * noise::kOctave;
  }
  channel.copied = sums.copied;
  channel.lost = sums.lost;
}

}  // namespace

NoiseMeasurer::Motion::Motion(int width, int height)
    : reference(width, height),
      current(width, height),
      estimator(width, height),
      field(width, height),
      back(width, height) {}

NoiseMeasurer::NoiseMeasurer(const FrameFormat& format)
    : format_(format),
      sums_(sizeof(Sums)),
      sums_in_host_(allocate_pinned_memory(sizeof(Sums), "noise statistics")) {}

noise::NoiseStatistics NoiseMeasurer::measure(const std::array<SamplePlane, kMaxPlanes>& frame,
                                              const std::array<SamplePlane, kMaxPlanes>* before,
                                              bool interlaced, const noise::SceneRange& range,
                                              bool levels_only, cudaStream_t stream) {
  const PictureRows rows = pictures_of(interlaced).front();
  const int channels = levels_only ? 1 : format_.color_plane_count();
  const auto picture_of = [&](std::array<SamplePlane, kMaxPlanes> planes) {
    for (SamplePlane& plane : planes) {
      plane.stride *= rows.spacing;
    }
    return planes;
  };
  const std::array<SamplePlane, kMaxPlanes> picture = picture_of(frame);
  Sizes sizes{};
  Grids single{};
  Grids differences{};
  for (int c = 0; c < channels; ++c) {
    sizes.width[c] = format_.plane_width(c);
    sizes.height[c] = rows.count(format_.plane_height(c));
    single.of_channel[c] = noise::single_grid(sizes.width[c], sizes.height[c]);
    differences.of_channel[c] = noise::difference_grid(sizes.width[c], sizes.height[c]);
  }
  // Without blocks of luma there are no vectors.
  const bool compared = before != nullptr && differences.of_channel[0].blocks() > 0;
  const std::size_t bytes = levels_only ? offsetof(SingleSums, blocks)
                            : compared  ? offsetof(Sums, differences) + channels * sizeof(DifferenceSums)
                                        : offsetof(Sums, differences);
  const noise::HalfDctMatrix matrix = noise::half_dct_matrix();
  auto* sums = sums_.as<Sums>();
  check(cudaMemsetAsync(sums, 0, bytes, stream));
  const dim3 single_launch = launch_grid(single, channels);
  if (single_launch.x > 0) {
    with_variant(format_, [&](auto sample, auto rgb) {
      using Sample = decltype(sample);
      launch(single_kernel<Sample, rgb()>, single_launch, kMeasuringThreads, 0, stream,
             channels_of<Sample, rgb()>(format_, picture, range), single, matrix, levels_only, sums);
    });
  }
  if (compared) {
    const std::array<SamplePlane, kMaxPlanes> reference = picture_of(*before);
    std::optional<Motion>& motion = motion_[interlaced ? 1 : 0];
    if (!motion) {
      motion.emplace(sizes.width[0], sizes.height[0]);
    }
    motion->reference.enqueue(format_, reference, stream);
    motion->current.enqueue(format_, picture, stream);
    // Lost blocks are counted here, from the vectors alone.
    motion->estimator.enqueue_both(motion->reference, motion->current, {motion->back, 0}, {motion->field, 0},
                                   stream);
    const bool chroma = format_.color_model == ColorModel::kYuv;
    const Vectors vectors = {motion->field.vectors(),
                             motion->back.vectors(),
                             motion->field.columns(),
                             motion->field.rows(),
                             chroma ? format_.chroma_shift_x : 0,
                             chroma ? format_.chroma_shift_y : 0,
                             range.scale};
    with_variant(format_, [&](auto sample, auto rgb) {
      using Sample = decltype(sample);
      launch(difference_kernel<Sample, rgb()>, launch_grid(differences, channels), kMeasuringThreads, 0,
             stream, channels_of<Sample, rgb()>(format_, picture, range),
             channels_of<Sample, rgb()>(format_, reference, range), sizes, differences, vectors, matrix,
             sums);
    });
  }
  check(cudaMemcpyAsync(sums_in_host_.get(), sums, bytes, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  const auto& found = *reinterpret_cast<const Sums*>(sums_in_host_.get());
  noise::NoiseStatistics statistics;
  statistics.rgb = format_.color_model == ColorModel::kRgb;
  statistics.step = noise::quantization_step(format_);
  statistics.scale = range.scale;
  for (int c = 0; c < channels; ++c) {
    add_single(found.single[c], levels_only, statistics.channels[c]);
    if (compared) {
      add_differences(found.differences[c], statistics.channels[c]);
    }
  }
  return statistics;
}

}  // namespace limpid::cuda
