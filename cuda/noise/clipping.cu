// SPDX-License-Identifier: MIT
#include <array>
#include <cstdint>
#include <optional>

#include "cuda/noise/clipping.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Two kernels per plane, bound by memory: one counts, and the other corrects samples, unless there is nothing
// to correct.

namespace limpid::cuda {
namespace {

constexpr int kRowsPerThread = 4;
constexpr int kPack = 4;
constexpr int kThreads = 256;  // as in PlaneLaunch
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
  for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < 2 * kDistances; i += kThreads) {
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
__global__ void __launch_bounds__(kThreads)
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
__global__ void __launch_bounds__(kThreads)
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
    const std::optional<ClippedEnds>& ends = ends_.of(format_, p, of_plane);
    if (!ends) {
      continue;
    }
    ClippedEnd* const device_ends = device_ends_.as<ClippedEnd>() + 2 * p;
    if (ends_noise_[p] != of_plane) {
      check(cudaMemcpyAsync(device_ends, ends->data(), sizeof(ClippedEnds), cudaMemcpyHostToDevice, stream));
      ends_noise_[p] = of_plane;
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
