// SPDX-License-Identifier: MIT
#include <algorithm>

#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/guide_patch.h"
#include "cuda/vnlb/patch_groups.h"

// A warp finds a group. Each lane compares one candidate at a time. All distances are kept in shared memory,
// where the greatest distance of the group is found bit by bit. Candidates are then visited again in the same
// order, and the selected ones are written. Bound by instruction issue.

namespace limpid::cuda {
namespace {

using limpid::vnlb::kSlices;

constexpr int kSearchWarps = 4;
// Number of bits of the greatest distance.
constexpr int kDistanceBits = 23;
static_assert(kSlices * kPatch * kPatch * 255 * 255 < 1 << kDistanceBits);

struct SearchArguments {
  TrajectoryJob job;
  PatchSearch search;
  PatchGroups out;
  int most_candidates;
};

// True if a patch's second slice can be in the picture in that direction.
__device__ bool has_second_slice(const TrajectoryJob& job, int pitch, int picture, const Place& place,
                                 int direction) {
  const int second = picture + direction;
  if (second < 0 || second >= job.out.pictures) {
    return false;
  }
  const FollowedField& field = direction < 0 ? job.back[picture] : job.ahead[picture];
  return !limpid::vbm4d::is_cut(*field.lost, job.columns * job.rows) &&
         !repeats(sample_of(job.noisy_guides[second], pitch, place),
                  sample_of(job.noisy_guides[picture], pitch, place), pitch);
}

// The candidates of one picture: all patches of a rectangle except at most one, in rows.
struct Candidates {
  int x;
  int y;
  int columns;
  int count;
  int left_out;  // number of the reference patch; count if it is not here

  __device__ __forceinline__ Candidates(const Place& center, int radius, int last_x, int last_y, bool own) {
    x = max(center.x - radius, 0);
    y = max(center.y - radius, 0);
    columns = min(center.x + radius, last_x) - x + 1;
    count = columns * (min(center.y + radius, last_y) - y + 1);
    left_out = own ? (center.y - y) * columns + center.x - x : count;
  }
  __device__ __forceinline__ Place place(int number) const {
    return {x + number % columns, y + number / columns};
  }
  __device__ __forceinline__ int others() const { return left_out < count ? count - 1 : count; }
  // The rank among the candidates that are not left out.
  __device__ __forceinline__ int rank(int number) const { return number > left_out ? number - 1 : number; }
};

__device__ __forceinline__ Place place_of(unsigned packed) {
  return {static_cast<int>(packed & 0xFFFF), static_cast<int>(packed >> 16)};
}

// The n-th least of `count` distances.
__device__ int nth_least(const int* distances, int count, int n) {
  int least = 0;
  for (int bit = kDistanceBits - 1; bit >= 0; --bit) {
    const int bound = least | 1 << bit;
    int below = 0;
    for (int i = threadIdx.x; i < count; i += kWarp) {
      below += distances[i] < bound ? 1 : 0;
    }
    if (sum_over_warp(below) < n) {
      least = bound;
    }
  }
  return least;
}

// The search for the group of a reference patch by a warp.
struct GroupSearch {
  const SearchArguments& arguments;
  std::ptrdiff_t group;
  Place reference;
  int pitch;
  int* distances;  // of the candidates, in shared memory

  __device__ __forceinline__ int direction() const {
    const TrajectoryJob& job = arguments.job;
    return has_second_slice(job, pitch, job.own, reference, 1)    ? 1
           : has_second_slice(job, pitch, job.own, reference, -1) ? -1
                                                                  : 0;
  }
  __device__ __forceinline__ unsigned followed() const {
    return arguments.job.out.shapes[group] & ((1U << Trajectories::kWantedShift) - 1);
  }
  __device__ __forceinline__ Place center(int picture) const {
    return place_of(arguments.job.out.places[group * arguments.job.out.pictures + picture]);
  }
  __device__ __forceinline__ Candidates candidates_of(int picture, int own_window) const {
    const TrajectoryJob& job = arguments.job;
    const bool own = picture == job.own;
    return Candidates(center(picture), (own ? own_window : arguments.search.step.temporal_search_window) / 2,
                      job.grid.width - kPatch, job.grid.height - kPatch, own);
  }

  // Compares the candidates with the reference patch. Returns their number and sets a bit of `searched` for
  // each picture that has any.
  __device__ __forceinline__ int compare(int direction, int own_window, unsigned& searched) const {
    const TrajectoryJob& job = arguments.job;
    const int slices = direction == 0 ? 1 : kSlices;
    PatchWords patch[kSlices];
    int its_squares[kSlices];
#pragma unroll
    for (int s = 0; s < kSlices; ++s) {
      // A missing slice is never compared.
      load_patch(sample_of(job.guides[s < slices ? job.own + s * direction : job.own], pitch, reference),
                 pitch, patch[s]);
      its_squares[s] = squares(patch[s]);
    }
    int count = 1;
    if (threadIdx.x == 0) {
      distances[0] = 0;
    }
    for (unsigned left = followed(); left != 0; left &= left - 1) {
      const int picture = __ffs(static_cast<int>(left)) - 1;
      if (picture < job.own - arguments.search.before || picture > job.own + arguments.search.after) {
        continue;
      }
      if (picture != job.own && direction != 0 &&
          !has_second_slice(job, pitch, picture, center(picture), direction)) {
        continue;
      }
      searched |= 1U << picture;
      const Candidates candidates = candidates_of(picture, own_window);
      for (int i = static_cast<int>(threadIdx.x); i < candidates.count; i += kWarp) {
        if (i == candidates.left_out) {
          continue;
        }
        const Place place = candidates.place(i);
        int distance =
            distance_of(patch[0], its_squares[0], sample_of(job.guides[picture], pitch, place), pitch);
        if (slices > 1) {
          distance += distance_of(patch[1], its_squares[1],
                                  sample_of(job.guides[picture + direction], pitch, place), pitch);
        }
        distances[count + candidates.rank(i)] = distance;
      }
      count += candidates.others();
    }
    __syncwarp();
    return count;
  }

  // Writes the `patches` candidates with the least of `count` distances.
  __device__ __forceinline__ void take(int patches, int count, int own_window, unsigned searched) const {
    const int lane = static_cast<int>(threadIdx.x);
    const int greatest = nth_least(distances, count, patches);
    int less = 0;
    for (int i = lane; i < count; i += kWarp) {
      less += distances[i] < greatest ? 1 : 0;
    }
    int room = patches - sum_over_warp(less);  // room for patches at the greatest distance
    unsigned* const places = arguments.out.places + group * arguments.out.capacity;
    std::int8_t* const pictures = arguments.out.pictures + group * arguments.out.capacity;
    // The reference patch's distance is 0: if that is the greatest distance, it takes the first position.
    if (lane == 0) {
      places[0] = reference.x + (static_cast<unsigned>(reference.y) << 16);
      pictures[0] = static_cast<std::int8_t>(arguments.job.own);
    }
    int taken = 1;
    room -= greatest == 0 ? 1 : 0;
    int first = 1;
    for (unsigned left = searched; left != 0; left &= left - 1) {
      const int picture = __ffs(static_cast<int>(left)) - 1;
      const Candidates candidates = candidates_of(picture, own_window);
      for (int begin = 0; begin < candidates.count; begin += kWarp) {
        const int i = begin + lane;
        const int distance = i < candidates.count && i != candidates.left_out
                                 ? distances[first + candidates.rank(i)]
                                 : 1 << kDistanceBits;
        const unsigned lower = (1U << lane) - 1;
        const unsigned as_far = __ballot_sync(kAllLanes, distance == greatest);
        const bool takes = distance < greatest || (distance == greatest && __popc(as_far & lower) < room);
        const unsigned all = __ballot_sync(kAllLanes, takes);
        if (takes) {
          const Place place = candidates.place(i);
          const int number = taken + __popc(all & lower);
          places[number] = place.x + (static_cast<unsigned>(place.y) << 16);
          pictures[number] = static_cast<std::int8_t>(picture);
        }
        taken += __popc(all);
        room = max(room - __popc(as_far), 0);
      }
      first += candidates.others();
    }
  }
};

// Block (32, adjacent references).
__global__ void __launch_bounds__(kWarp* kSearchWarps)
    search_kernel(const __grid_constant__ SearchArguments arguments) {
  extern __shared__ int all_distances[];
  follow_stream();
  const TrajectoryJob& job = arguments.job;
  const int column = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const int row = job.out.first_row + static_cast<int>(blockIdx.y);
  if (column >= job.grid.columns) {
    return;
  }
  const GroupSearch search{
      arguments, static_cast<std::ptrdiff_t>(row - job.out.first_row) * job.grid.columns + column,
      Place{job.grid.x(column), job.grid.y(row)}, TrajectoryGuide::pitch_of(job.grid.width),
      all_distances + static_cast<std::ptrdiff_t>(threadIdx.y) * arguments.most_candidates};
  const int direction = search.direction();
  const int own_window =
      limpid::vnlb::own_search_window(arguments.search.step.search_window, __popc(search.followed()));
  unsigned searched = 0;
  const int count = search.compare(direction, own_window, searched);
  const int patches = min(count, arguments.search.step.group_size);
  search.take(patches, count, own_window, searched);
  if (threadIdx.x == 0) {
    const int slices = direction == 0 ? 1 : kSlices;
    arguments.out.shapes[search.group] =
        patches + PatchGroups::kSlicesUnit * slices + PatchGroups::kDirectionUnit * (direction + 1);
  }
}

}  // namespace

void find_patch_groups(const TrajectoryJob& followed, const PatchSearch& search, const PatchGroups& out,
                       cudaStream_t stream) {
  const auto square = [](int side) { return side * side; };
  const int alone = square(limpid::vnlb::own_search_window(search.step.search_window, 1));
  const int along = square(limpid::vnlb::own_search_window(search.step.search_window, 2)) +
                    (followed.out.pictures - 1) * square(search.step.temporal_search_window);
  const int most_candidates = std::max(alone, along);
  const std::size_t bytes = most_candidates * sizeof(int);
  constexpr std::size_t kMostBytes = 48 * 1024;  // limit of shared memory for a block of several warps
  const int warps = bytes * kSearchWarps <= kMostBytes ? kSearchWarps : 1;
  allow_shared_memory(search_kernel, bytes * warps);
  launch(search_kernel,
         dim3(blocks_for(followed.grid.columns, warps), followed.out.last_row - followed.out.first_row),
         dim3(kWarp, warps), bytes * warps, stream, SearchArguments{followed, search, out, most_candidates});
}

}  // namespace limpid::cuda
