// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>
#include <limits>
#include <optional>
#include <vector>

#include "core/frame/combing.h"
#include "core/noise/noise_blocks.h"
#include "cuda/noise/noise.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Compiled without fused multiply-adds, so that blocks have bit-exactly the CPU's textures, which decide on
// their selection. Only the sums are added in another order. Bound by latency: a plane has at most 16384
// blocks, and its kernels occupy a small part of the device while the rest denoises frames.

namespace limpid::cuda {
namespace {

using noise::kBlock;
using noise::kBlocksPerCell;
using noise::kMaxBlocks;
using noise::kNoiseCoefficients;

constexpr int kThreads = 128;

constexpr int count_shares(int blocks) {
  noise::Shares sizes(blocks);
  int count = 0;
  while (sizes.next() > 0) {
    ++count;
  }
  return count;
}
constexpr int kMostShares = 48;
static_assert(count_shares(kMaxBlocks) < kMostShares);

// The measurements of a plane's blocks that are downloaded.
struct Report {
  noise::SigmaSearch::Counts counts;
  int usable;
  int change;                                 // greatest change of a gain; the bits of a float
  noise::FlattestBlocks shares[kMostShares];  // without the blocks of earlier shares
};

// The data of the blocks in device memory.
struct Workspace {
  noise::HalfDctMatrix dct_matrix;
  Censoring censoring;
  Report report;
  float mean[kMaxBlocks];
  float texture[kMaxBlocks];  // including its neighbors' part
  bool constant[kMaxBlocks];
  float gain[kMaxBlocks];
  float spectrum[kMaxBlocks][kNoiseCoefficients];
  float key[kMaxBlocks];  // sort key of blocks
  float sorted_key[kMaxBlocks];
  int number[kMaxBlocks];
  int order[kMaxBlocks];
  int levels[BrightnessHistogram().size()];
  int combed_blocks;
};

// Sets a block's gain and the sort key that follows from it.
__device__ void set_gain(Workspace* work, int number, float gain) {
  const bool usable = !work->constant[number] && gain >= noise::kLeastGain;
  work->gain[number] = gain;
  work->key[number] = usable ? work->texture[number] / gain : INFINITY;
  if (usable) {
    atomicAdd(&work->report.usable, 1);
  }
}

// Each thread analyzes one block, entirely in its registers (160). The four blocks of a cell are adjacent.
template <typename Sample>
__global__ void __launch_bounds__(kThreads)
    analyze_kernel(SamplePlane plane, float scale, float white, noise::BlockGrid grid, Workspace* work) {
  follow_stream();
  const int number = blockIdx.x * kThreads + threadIdx.x;
  if (number >= grid.blocks()) {
    return;
  }
  const int cell = number / kBlocksPerCell;
  const int x = cell % grid.columns * grid.spacing + number % 2 * kBlock;
  const int y = cell / grid.columns * grid.spacing + number % kBlocksPerCell / 2 * kBlock;
  noise::BlockSamples samples;
  for (int row = 0; row < kBlock; ++row) {
    const auto* from = reinterpret_cast<const Sample*>(plane.data + (y + row) * plane.stride) + x;
    for (int column = 0; column < kBlock; ++column) {
      samples[row][column] = usable_code_value(static_cast<float>(from[column]) * scale);
    }
  }
  const noise::Block block = noise::analyze(samples, work->dct_matrix);
  std::array<float, kBlocksPerCell> noise_of_cell{};
  const unsigned lanes_of_cell = 0xFU << (number % warpSize / kBlocksPerCell * kBlocksPerCell);
  for (int i = 0; i < kBlocksPerCell; ++i) {
    noise_of_cell[i] = __shfl_sync(lanes_of_cell, block.noise, i, kBlocksPerCell);
  }
  work->mean[number] = block.mean;
  work->texture[number] = noise::texture_with_neighbors(block.texture, block.noise, noise_of_cell);
  work->constant[number] = block.is_constant();
  work->number[number] = number;
  set_gain(work, number, 1);
  for (int i = 0; i < kNoiseCoefficients; ++i) {
    work->spectrum[number][i] = block.spectrum[i];
  }
  if (block.is_constant()) {
    atomicAdd(&work->report.counts.constant, 1);
  }
  if (block.least < 0 || block.greatest > white) {
    atomicAdd(&work->report.counts.out_of_range, 1);
  }
}

__global__ void __launch_bounds__(kThreads)
    gain_kernel(int blocks, float sigma, float white, Workspace* work) {
  follow_stream();
  const int number = blockIdx.x * kThreads + threadIdx.x;
  if (number < blocks) {
    const float gain = work->censoring.gain(work->mean[number], sigma, white);
    // Non-negative, so that its bits have the order of its values.
    atomicMax(&work->report.change, __float_as_int(fabsf(gain - work->gain[number])));
    set_gain(work, number, gain);
  }
}

constexpr int kColumns = kNoiseCoefficients + 1;  // the sums of the coefficients, and of the gains
constexpr int kParts = 27;

// A block of threads sums those of a share's blocks that the previous share does not have; each thread sums
// one column of every 27th block. The last shares, of about 2000 blocks, take longest.
__global__ void __launch_bounds__(kParts* kColumns) sum_kernel(Workspace* work) {
  follow_stream();
  noise::Shares sizes(work->report.usable);
  int begin = 0;
  int end = sizes.next();
  for (int share = 0; share < static_cast<int>(blockIdx.x); ++share) {
    begin = end;
    end = sizes.next();
  }
  const int column = threadIdx.x % kColumns;
  const int part = threadIdx.x / kColumns;
  double sum = 0;
  for (int i = begin + part; i < end; i += kParts) {
    const int number = work->order[i];
    sum += double{column < kNoiseCoefficients ? work->spectrum[number][column] : work->gain[number]};
  }
  __shared__ double sums[kParts][kColumns];
  sums[part][column] = sum;
  __syncthreads();
  if (part > 0) {
    return;
  }
  for (int i = 1; i < kParts; ++i) {
    sum += sums[i][column];
  }
  noise::FlattestBlocks& share = work->report.shares[blockIdx.x];
  share.blocks = end;
  (column < kNoiseCoefficients ? share.spectrum[column] : share.gain) = sum;
}

constexpr int kBrightnessThreads = kBrightnessCells * kBrightnessCells;  // one per cell

template <typename Sample>
__global__ void __launch_bounds__(kBrightnessThreads)
    brightness_kernel(Plane plane, int padding_bits, float scale, Workspace* work) {
  follow_stream();
  constexpr int kLevels = static_cast<int>(BrightnessHistogram().size());
  __shared__ int levels[kLevels];
  if (threadIdx.x < kLevels) {
    levels[threadIdx.x] = 0;
  }
  __syncthreads();
  const int width = min(plane.width, kBrightnessCellSide);
  const int height = min(plane.height, kBrightnessCellSide);
  const int left = brightness_cell(plane.width, width, static_cast<int>(threadIdx.x) % kBrightnessCells);
  const int top = brightness_cell(plane.height, height, static_cast<int>(threadIdx.x) / kBrightnessCells);
  float sum = 0;
  for (int y = top; y < top + height; ++y) {
    const auto* row = reinterpret_cast<const Sample*>(plane.data + y * plane.stride);
    for (int x = left; x < left + width; ++x) {
      const auto sample = static_cast<float>(
          without_padding(row[static_cast<std::ptrdiff_t>(x) * plane.sample_stride], padding_bits));
      sum += sample * scale;
    }
  }
  atomicAdd(&levels[brightness_level(sum / static_cast<float>(width * height))], 1);
  __syncthreads();
  if (threadIdx.x < kLevels) {
    work->levels[threadIdx.x] = levels[threadIdx.x];
  }
}

// The sum of a pair of columns' samples in a row.
template <typename Sample>
__device__ int comb_pair(const Plane& plane, int padding_bits, int x, int y) {
  const auto* row = reinterpret_cast<const Sample*>(plane.data + y * plane.stride);
  const auto sample = [&](std::ptrdiff_t column) {
    return comb_sample(without_padding(row[column * plane.sample_stride], padding_bits));
  };
  return sample(x) + sample(x + 1);
}

template <typename Sum>
__device__ Sum sum_of_comb_columns(Sum sum) {
  for (int other = kCombColumns / 2; other > 0; other /= 2) {
    sum += __shfl_xor_sync(~0U, sum, other);
  }
  return sum;
}

// Each thread processes a pair of columns of a block.
template <typename Sample>
__global__ void __launch_bounds__(kThreads)
    combing_kernel(Plane plane, Plane before, int padding_bits, std::int64_t code_value, Workspace* work) {
  follow_stream();
  const int columns = plane.width / kCombBlock;
  const int blocks = columns * (plane.height / kCombBlock);
  const int number = (blockIdx.x * kThreads + static_cast<int>(threadIdx.x)) / kCombColumns;
  const int block = min(number, blocks - 1);  // all threads of a warp take part in its sums
  const int x = block % columns * kCombBlock + 2 * (static_cast<int>(threadIdx.x) % kCombColumns);
  const int y = block / columns * kCombBlock;
  CombSums sums;
  int current = comb_pair<Sample>(plane, padding_bits, x, y);
  int next = comb_pair<Sample>(plane, padding_bits, x, y + 1);
  for (int row = 0; row < kCombRows; ++row) {
    const int after = comb_pair<Sample>(plane, padding_bits, x, y + row + 2);
    const std::int64_t to_next = current - next;
    const std::int64_t to_after = current - after;
    const std::int64_t change = current - comb_pair<Sample>(before, padding_bits, x, y + row);
    const std::int64_t whole = sum_of_comb_columns(current - next);
    sums.neighbors += to_next * to_next;
    sums.same_field += to_after * to_after;
    sums.change += change * change;
    sums.rows += whole * whole;
    current = next;
    next = after;
  }
  sums.neighbors = sum_of_comb_columns(sums.neighbors);
  sums.same_field = sum_of_comb_columns(sums.same_field);
  sums.change = sum_of_comb_columns(sums.change);
  if (number < blocks && threadIdx.x % kCombColumns == 0 && is_combed_block(sums, code_value)) {
    atomicAdd(&work->combed_blocks, 1);
  }
}

float scale_of(const FrameFormat& format) { return static_cast<float>(1.0 / format.code_value()); }

// Like cub: without memory, it only returns the required number of bytes.
std::size_t sort(Workspace* work, void* memory, std::size_t bytes, int blocks, cudaStream_t stream) {
  check(cub::DeviceRadixSort::SortPairs(memory, bytes, work->key, work->sorted_key, work->number, work->order,
                                        blocks, 0, std::numeric_limits<unsigned>::digits, stream));
  return bytes;
}

// A copy of `value` in pinned memory, once the work enqueued to `stream` is done.
template <typename Value>
Value* downloaded(const std::shared_ptr<std::byte>& to, const Value& value, cudaStream_t stream) {
  static_assert(sizeof(Value) <= sizeof(Report));
  check(cudaMemcpyAsync(to.get(), &value, sizeof value, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  return reinterpret_cast<Value*>(to.get());
}

std::vector<noise::FlattestBlocks> cumulated(const Report& report) {
  std::vector<noise::FlattestBlocks> shares;
  for (noise::FlattestBlocks share : report.shares) {
    if (share.blocks == 0) {
      break;
    }
    if (!shares.empty()) {
      for (std::size_t i = 0; i < share.spectrum.size(); ++i) {
        share.spectrum[i] += shares.back().spectrum[i];
      }
      share.gain += shares.back().gain;
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace

// The estimate of a plane in progress. New gains are always followed by the sums: if they are not needed,
// this costs the device less than it would cost the host to request them.
class NoiseEstimator::PlaneSearch {
 public:
  explicit PlaneSearch(const PlaneMemory& memory) : memory_(memory), work_(memory.work.as<Workspace>()) {}

  void begin(const FrameFormat& format, const SamplePlane& plane, int width, int height) {
    grid_ = noise::cell_grid(width, height);
    samples_ = static_cast<std::int64_t>(width) * height;
    white_ = noise::white_level(format);
    under_way_ = grid_.blocks() > 0;
    if (!under_way_) {
      return;
    }
    check(cudaMemsetAsync(&work_->report, 0, sizeof work_->report, stream()));
    visit_samples(format, [&]<typename Sample>(Sample) {
      launch(analyze_kernel<Sample>, blocks_for(grid_.blocks(), kThreads), kThreads, 0, stream(), plane,
             scale_of(format), white_, grid_, work_);
    });
    sum();
  }

  bool under_way() const { return under_way_; }

  // Waits for the device and starts the next round if there is one.
  void proceed() {
    Report& report = *downloaded(memory_.in_host, work_->report, stream());
    if (!search_) {
      report.counts.blocks = grid_.blocks();
      search_.emplace(report.counts, samples_);
    } else {
      search_->gains_changed_by(std::bit_cast<float>(report.change));
    }
    if (!search_->done()) {
      search_->refine(cumulated(report));
    }
    under_way_ = !search_->done();
    if (under_way_) {
      check(cudaMemsetAsync(&work_->report.usable, 0, sizeof report.usable, stream()));
      check(cudaMemsetAsync(&work_->report.change, 0, sizeof report.change, stream()));
      launch(gain_kernel, blocks_for(grid_.blocks(), kThreads), kThreads, 0, stream(), grid_.blocks(),
             search_->deviation(), white_, work_);
      sum();
    }
  }

  float sigma() const { return search_ ? search_->deviation() : 0; }

 private:
  cudaStream_t stream() const { return memory_.stream.get(); }

  void sum() {
    sort(work_, memory_.sorting.as(), memory_.sorting.bytes(), grid_.blocks(), stream());
    launch(sum_kernel, kMostShares, kParts * kColumns, 0, stream(), work_);
  }

  const PlaneMemory& memory_;
  Workspace* work_;
  noise::BlockGrid grid_;
  std::int64_t samples_ = 0;
  float white_ = 0;
  bool under_way_ = false;
  std::optional<noise::SigmaSearch> search_;
};

NoiseEstimator::PlaneMemory::PlaneMemory()
    : work(sizeof(Workspace)),
      sorting(sort(work.as<Workspace>(), nullptr, 0, kMaxBlocks, nullptr)),
      in_host(allocate_pinned_memory(sizeof(Report), "noise estimates")) {
  auto* workspace = work.as<Workspace>();
  // Bytes between a report's members are copied but never written.
  check(cudaMemset(&workspace->report, 0, sizeof workspace->report));
  const noise::HalfDctMatrix dct_matrix = noise::half_dct_matrix();
  const Censoring censoring;
  check(cudaMemcpy(&workspace->dct_matrix, &dct_matrix, sizeof dct_matrix, cudaMemcpyHostToDevice));
  check(cudaMemcpy(&workspace->censoring, &censoring, sizeof censoring, cudaMemcpyHostToDevice));
  check(cudaStreamSynchronize(nullptr));
}

NoiseModel NoiseEstimator::estimate(const FrameFormat& format,
                                    const std::array<SamplePlane, kMaxPlanes>& planes, bool interlaced,
                                    const Event& uploaded) {
  const PictureRows rows = pictures_of(interlaced).front();
  std::vector<PlaneSearch> searches;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const SamplePlane plane = {planes[p].data, planes[p].stride * rows.spacing};
    memory_[p].stream.wait(uploaded.get());
    searches.emplace_back(memory_[p])
        .begin(format, plane, format.plane_width(p), rows.count(format.plane_height(p)));
  }
  const auto under_way = [](const PlaneSearch& search) { return search.under_way(); };
  while (std::any_of(searches.begin(), searches.end(), under_way)) {
    for (PlaneSearch& search : searches) {
      if (search.under_way()) {
        search.proceed();
      }
    }
  }
  NoiseModel level;
  std::transform(searches.begin(), searches.end(), level.sigma.begin(),
                 [](const PlaneSearch& search) { return search.sigma(); });
  return level;
}

BrightnessHistogram NoiseEstimator::brightness_histogram(const FrameFormat& format, const Plane& plane,
                                                         int padding_bits, cudaEvent_t ready) {
  const PlaneMemory& memory = memory_[0];
  auto* work = memory.work.as<Workspace>();
  memory.stream.wait(ready);
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(brightness_kernel<Sample>, 1, kBrightnessThreads, 0, memory.stream.get(), plane, padding_bits,
           scale_of(format), work);
  });
  const auto& levels = *downloaded(memory.in_host, work->levels, memory.stream.get());
  BrightnessHistogram shares{};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = static_cast<float>(levels[i]) / kBrightnessThreads;
  }
  return shares;
}

float NoiseEstimator::combed_share(const FrameFormat& format, const Plane& plane, const Plane& before,
                                   int padding_bits, const std::array<cudaEvent_t, 2>& ready) {
  const int blocks = plane.width / kCombBlock * (plane.height / kCombBlock);
  if (blocks == 0) {
    return 0;
  }
  const PlaneMemory& memory = memory_[0];
  auto* work = memory.work.as<Workspace>();
  for (cudaEvent_t event : ready) {
    memory.stream.wait(event);
  }
  check(cudaMemsetAsync(&work->combed_blocks, 0, sizeof work->combed_blocks, memory.stream.get()));
  visit_samples(format, [&]<typename Sample>(Sample) {
    launch(combing_kernel<Sample>, (blocks * kCombColumns + kThreads - 1) / kThreads, kThreads, 0,
           memory.stream.get(), plane, before, padding_bits, comb_code_value(format), work);
  });
  return share_of_combed_blocks(*downloaded(memory.in_host, work->combed_blocks, memory.stream.get()),
                                blocks);
}

// Two kernels per plane, bound by memory: one counts, and the other corrects samples, unless there is nothing
// to correct.

namespace {

constexpr int kRowsPerThread = 4;
constexpr int kPack = 4;
constexpr int kCorrectingThreads = 256;  // as in PlaneLaunch
constexpr int kDistances = ClippedEnd::kDistances;

struct Area {
  SamplePlane noisy;
  SamplePlane out;
  int width;
  int height;
  int greatest;
  int scale;
};

template <typename Element>
using Table = Element[2][kDistances];

// Tables of both ends, for look-ups by all threads at once.
template <typename Element>
__device__ void load_table(const ClippedEnd* ends, std::array<Element, kDistances> ClippedEnd::*member,
                           Table<Element>& table) {
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < 2 * kDistances;
       i += kCorrectingThreads) {
    table[i / kDistances][i % kDistances] = (ends[i / kDistances].*member)[i % kDistances];
  }
  __syncthreads();
}

// A vector load of samples. Rows of a DeviceFrame are aligned and padded.
template <typename Sample>
struct alignas(kPack * sizeof(Sample)) Pack {
  Sample samples[kPack];
};

// Calls function(noisy samples, estimates, number of them in the plane) for a thread's rows; it returns
// whether it has changed the estimates.
template <typename Sample, typename Function>
__device__ __forceinline__ void for_each_pack(const Area& area, const Function& function) {
  const int pack = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = min(area.width - pack * kPack, kPack);
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int y = (blockIdx.y * kRowsPerThread + i) * blockDim.y + threadIdx.y;
    if (count > 0 && y < area.height) {
      const auto* noisy = reinterpret_cast<const Pack<Sample>*>(area.noisy.data + y * area.noisy.stride);
      auto* out = reinterpret_cast<Pack<Sample>*>(area.out.data + y * area.out.stride);
      Pack<Sample> estimates = out[pack];
      if (function(noisy[pack], estimates, count)) {
        out[pack] = estimates;
      }
    }
  }
}

// False for samples after the row's end, and for illegal ones, which planes that pass through may contain.
__device__ __forceinline__ bool is_sample(const Area& area, int sample, int i, int count) {
  return i < count && sample <= area.greatest;
}

template <typename Sample>
__global__ void __launch_bounds__(kCorrectingThreads)
    count_kernel(Area area, const ClippedEnd* ends, ClippedCount* counts) {
  __shared__ Table<std::uint32_t> table;
  follow_stream();
  load_table(ends, &ClippedEnd::share, table);
  // 32 bits suffice: a thread has few samples.
  unsigned at_end[2] = {};
  unsigned sum[2] = {};
  for_each_pack<Sample>(area, [&](const Pack<Sample>& noisy, const Pack<Sample>& estimates, int count) {
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (!is_sample(area, estimates.samples[i], i, count)) {
        continue;
      }
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int sample = estimates.samples[i];
        const int distance = clipped_distance(e == 0 ? sample : area.greatest - sample, area.scale);
        const unsigned share = distance < kDistances ? table[e][distance] : 0;
        sum[e] += share;
        at_end[e] += share > 0 && noisy.samples[i] == (e == 0 ? 0 : area.greatest) ? 1 : 0;
      }
    }
    return false;
  });
#pragma unroll
  for (int e = 0; e < 2; ++e) {
    if (__syncthreads_or(static_cast<int>(sum[e] > 0)) == 0) {
      continue;
    }
    const unsigned warp_at_end = sum_over_warp(at_end[e]);
    const unsigned warp_sum = sum_over_warp(sum[e]);
    if (threadIdx.x % 32 == 0 && warp_sum > 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&counts[e].at_end), warp_at_end);
      atomicAdd(reinterpret_cast<unsigned long long*>(&counts[e].shares), warp_sum);
    }
  }
}

template <typename Sample>
__global__ void __launch_bounds__(kCorrectingThreads)
    move_kernel(Area area, const ClippedEnd* ends, const ClippedCount* counts) {
  __shared__ Table<float> table;
  follow_stream();
  const float low = clipped_weight(counts[0]);
  const float high = clipped_weight(counts[1]);
  if (low == 0 && high == 0) {
    return;
  }
  load_table(ends, &ClippedEnd::shift, table);
  for_each_pack<Sample>(area, [&](const Pack<Sample>& /*noisy*/, Pack<Sample>& estimates, int count) {
    bool changed = false;
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      if (!is_sample(area, estimates.samples[i], i, count)) {
        continue;
      }
      const int sample = estimates.samples[i];
      const int moved = without_clipping(sample, area.greatest, area.scale, table[0], low, table[1], high);
      if (moved != sample) {
        estimates.samples[i] = static_cast<Sample>(moved);
        changed = true;
      }
    }
    return changed;
  });
}

}  // namespace

ClippingCorrection::ClippingCorrection(const FrameFormat& format)
    : format_(format), device_ends_(3 * sizeof(ClippedEnds)), counts_(3 * 2 * sizeof(ClippedCount)) {}

void ClippingCorrection::enqueue(const SamplePlanes& noisy, const NoiseModel& noise, const SamplePlanes& out,
                                 cudaStream_t stream) {
  check(cudaMemsetAsync(counts_.as(), 0, counts_.bytes(), stream));
  for (int p = 0; p < format_.color_plane_count(); ++p) {
    const PlaneNoise of_plane = noise.plane(p);
    ClippedEnd* const device_ends = device_ends_.as<ClippedEnd>() + 2 * p;
    if (ends_noise_[p] != of_plane) {
      ends_noise_[p] = of_plane;
      ends_[p] = clipped_ends(format_, p, of_plane);
      if (ends_[p]) {
        check(cudaMemcpyAsync(device_ends, &*ends_[p], sizeof(ClippedEnds), cudaMemcpyHostToDevice, stream));
      }
    }
    if (!ends_[p]) {
      continue;
    }
    ClippedCount* const counts = counts_.as<ClippedCount>() + 2 * p;
    const Area area{noisy[p],
                    out[p],
                    format_.plane_width(p),
                    format_.plane_height(p),
                    (1 << format_.bit_depth) - 1,
                    static_cast<int>(format_.code_value())};
    const PlaneLaunch size(blocks_for(area.width, kPack), area.height, kRowsPerThread);
    const bool bytes = format_.sample_type == SampleType::kUint8;
    launch(bytes ? &count_kernel<std::uint8_t> : &count_kernel<std::uint16_t>, size.grid, size.block, 0,
           stream, area, device_ends, counts);
    launch(bytes ? &move_kernel<std::uint8_t> : &move_kernel<std::uint16_t>, size.grid, size.block, 0, stream,
           area, device_ends, counts);
  }
}

}  // namespace limpid::cuda
