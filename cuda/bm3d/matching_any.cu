// SPDX-License-Identifier: MIT
#include <algorithm>
#include <climits>

#include "cuda/bm3d/matching.h"
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"

// Any parameters. Distances (in this file: deviations from the expected distance) of a reference patch's
// candidates are written to shared memory. A warp finds the greatest distance of the group by bisection, and
// ranks the group's candidates by (distance, position).
//
// Shared memory: an int per candidate of each reference in progress. Bound by arithmetic, about three
// instructions per sample of each candidate.

namespace limpid::cuda {
namespace {

constexpr int kMaxWarps = 8;

__device__ int round_down_to_power_of_two(int value) { return 1 << (31 - __clz(value)); }

struct AnyArguments {
  MatchingPlane plane;
  ReferenceGrid grid;
  Groups groups;
  int radius;
  MatchingDistances distances;
  int wanted;
};

constexpr int kMaxGroup = 64;
constexpr std::size_t kStaticBytes = kMaxWarps * kMaxGroup * sizeof(unsigned long long);

__device__ int patch_distance(const std::int16_t* a, const std::int16_t* b, int pitch, int patch) {
  int distance = 0;
  for (int row = 0; row < patch; ++row) {
#pragma unroll 8
    for (int column = 0; column < patch; ++column) {
      const int difference = a[row * pitch + column] - b[row * pitch + column];
      distance += difference * difference;
    }
  }
  return distance;
}

// A reference patch and its candidates, in raster order.
struct Search {
  int rx;
  int ry;
  int x0;
  int y0;
  int columns;
  int candidates;

  __device__ Search(const AnyArguments& arguments, int number) {
    const ReferenceGrid& grid = arguments.grid;
    rx = grid.x(number % grid.columns);
    ry = grid.y(arguments.groups.first_row + number / grid.columns);
    x0 = max(rx - arguments.radius, 0);
    y0 = max(ry - arguments.radius, 0);
    columns = min(rx + arguments.radius, grid.width - grid.patch) - x0 + 1;
    candidates = columns * (min(ry + arguments.radius, grid.height - grid.patch) - y0 + 1);
  }
};

// Computes the distances of every `stride`-th candidate from `first` on.
__device__ void find_distances(const AnyArguments& arguments, const Search& search, int first, int stride,
                               int* distances) {
  const int pitch = arguments.plane.pitch;
  const std::int16_t* samples = arguments.plane.samples +
                                static_cast<std::ptrdiff_t>(MatchingPlane::kMargin) * pitch +
                                MatchingPlane::kMargin;
  const std::int16_t* reference = samples + static_cast<std::ptrdiff_t>(search.ry) * pitch + search.rx;
  for (int i = first; i < search.candidates; i += stride) {
    const int x = search.x0 + i % search.columns;
    const int y = search.y0 + i / search.columns;
    const std::int16_t* candidate = samples + static_cast<std::ptrdiff_t>(y) * pitch + x;
    distances[i] = candidate == reference
                       ? INT_MAX
                       : abs(patch_distance(reference, candidate, pitch, arguments.grid.patch) -
                             arguments.distances.expected);
  }
}

// The number of distances within a bound.
__device__ int count_within(const Search& search, const int* distances, int bound) {
  int count = 0;
  for (int i = threadIdx.x % kWarp; i < search.candidates; i += kWarp) {
    count += distances[i] <= bound ? 1 : 0;
  }
  for (int i = kWarp / 2; i > 0; i /= 2) {
    count += __shfl_xor_sync(kAllLanes, count, i);
  }
  return count;
}

// The distance of the last of the `wanted` closest candidates, or the limit if there are fewer.
__device__ int find_bound(const AnyArguments& arguments, const Search& search, const int* distances,
                          int wanted) {
  int least = INT_MAX;
  for (int i = threadIdx.x % kWarp; i < search.candidates; i += kWarp) {
    least = min(least, distances[i]);
  }
  for (int i = kWarp / 2; i > 0; i /= 2) {
    least = min(least, __shfl_xor_sync(kAllLanes, least, i));
  }
  int bound = arguments.distances.greatest;
  if (least < bound && count_within(search, distances, bound) > wanted) {
    int low = least - 1;  // fewer than `wanted` distances within it, unless all of them are at `least`
    if (count_within(search, distances, least) >= wanted) {
      bound = least;
    } else {
      while (bound - low > 1) {
        const int middle = low + (bound - low) / 2;
        (count_within(search, distances, middle) >= wanted ? bound : low) = middle;
      }
    }
  }
  return bound;
}

// Collects the candidates nearer than `bound` and the first ones at it, up to `wanted`, as distances and
// positions. Two passes in raster order, so that the first ones of equal distances are selected.
__device__ int collect(const Search& search, const int* distances, int bound, int wanted,
                       unsigned long long* closest) {
  const int lane = threadIdx.x % kWarp;
  int found = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int base = 0; base < search.candidates && found < wanted; base += kWarp) {
      const int i = base + lane;
      const int distance = i < search.candidates ? distances[i] : INT_MAX;
      const bool take = pass == 0 ? distance < bound : distance == bound;
      const unsigned takers = __ballot_sync(kAllLanes, take);
      const int place = found + __popc(takers & ((1U << lane) - 1));
      if (take && place < wanted) {
        closest[place] = static_cast<unsigned long long>(distance) << 32 | static_cast<unsigned>(i);
      }
      found = min(found + __popc(takers), wanted);
    }
  }
  __syncwarp();
  return found;
}

// Writes group `number` in the order of distance and position.
__device__ void write_group(const Groups& groups, const Search& search, int number,
                            const unsigned long long* closest, int found) {
  const int lane = threadIdx.x % kWarp;
  const int size = round_down_to_power_of_two(found + 1);
  std::int16_t* members = groups.members + static_cast<std::ptrdiff_t>(number) * groups.capacity;
  if (lane == 0) {
    members[0] = static_cast<std::int16_t>(size);
    for (int i = size; i < groups.capacity; ++i) {
      members[i] = 0;
    }
  }
  for (int i = lane; i < found; i += kWarp) {
    const unsigned long long own = closest[i];
    int rank = 1;
    for (int j = 0; j < found; ++j) {
      rank += closest[j] < own ? 1 : 0;
    }
    const int candidate = static_cast<int>(own & 0xFFFFFFFFU);
    if (rank < size) {
      members[rank] = pack_offset(search.x0 + candidate % search.columns - search.rx,
                                  search.y0 + candidate / search.columns - search.ry);
    }
  }
  __syncwarp();
}

// Makes group `number` from its distances, by one warp.
__device__ void select_group(const AnyArguments& arguments, const Search& search, int number,
                             const int* distances, unsigned long long* closest) {
  const int wanted = arguments.wanted - 1;  // in addition to the reference patch
  const int bound = find_bound(arguments, search, distances, wanted);
  const int found = collect(search, distances, bound, wanted, closest);
  write_group(arguments.groups, search, number, closest, found);
}

__global__ void match_any_kernel(AnyArguments arguments) {
  follow_stream();
  extern __shared__ int window_distances[];
  __shared__ unsigned long long closest[kMaxWarps][kMaxGroup];
  static_assert(sizeof(closest) == kStaticBytes);
  const auto references = static_cast<unsigned>(arguments.grid.columns *
                                                (arguments.groups.last_row - arguments.groups.first_row));
  const int warp = threadIdx.x / kWarp;
  const int warps = blockDim.x / kWarp;
  const int side = 2 * arguments.radius + 1;
  int* distances = window_distances + warp * side * side;
  for (unsigned i = blockIdx.x * warps + warp; i < references; i += gridDim.x * warps) {
    if (!arguments.groups.wants(i)) {
      continue;
    }
    const Search search(arguments, static_cast<int>(i));
    find_distances(arguments, search, threadIdx.x % kWarp, kWarp, distances);
    __syncwarp();
    select_group(arguments, search, static_cast<int>(i), distances, closest[warp]);
  }
}

}  // namespace

void match_any(const MatchingPlane& plane, const ReferenceGrid& grid, const Bm3dStep& step,
               const MatchingDistances& distances, const Groups& groups, cudaStream_t stream) {
  const AnyArguments arguments{plane, grid, groups, step.search_window / 2, distances, groups.capacity};
  const std::size_t bytes = static_cast<std::size_t>(step.search_window) * step.search_window * sizeof(int);
  constexpr int kBlocks = 8;  // per multiprocessor
  const DeviceLimits device = device_limits();
  const std::size_t shared = std::min<std::size_t>(64 * 1024, device.shared_memory - kStaticBytes);
  const int warps = static_cast<int>(std::clamp<std::size_t>(shared / bytes, 1, kMaxWarps));
  allow_shared_memory(match_any_kernel, warps * bytes);
  const int references = grid.columns * (groups.last_row - groups.first_row);
  launch(match_any_kernel, std::min(blocks_for(references, warps), kBlocks * device.multiprocessors),
         warps * kWarp, warps * bytes, stream, arguments);
}

}  // namespace limpid::cuda
