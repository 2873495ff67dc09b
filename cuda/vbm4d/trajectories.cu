#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/groups.h"

// A warp follows a reference patch at a time. Lane 4 r + q has samples 2 q and 2 q + 1 of row r of the
// patch; of the nine candidates around a prediction it reads the three rows of four samples that it needs,
// and the warp adds up nine distances. Where similar patches are to join, a lane treats a candidate at a
// time, in raster order, and lane i knows the one that is i-th best so far. A block's warps share a tile of
// references, so that most of what they read is in the first-level cache. Bound by instruction issue, and by
// latency, since each step of a trajectory waits for the last one.

namespace limpid::cuda {
namespace {

using limpid::vbm4d::kPatch;

constexpr int kFollowWarps = 8;

struct Place {
  int x;
  int y;
};

// A reference patch and the plane that it is in.
struct Followed {
  const TrajectoryJob& job;
  int lane;
  int pitch;
  Place reference;
  int samples[2];  // the lane's

  __device__ __forceinline__ Followed(const TrajectoryJob& its_job, int x, int y)
      : job(its_job),
        lane(threadIdx.x % kWarp),
        pitch(TrajectoryGuide::pitch_of(its_job.grid.width)),
        reference{x, y} {
    const std::int16_t* at = job.guides[job.own] + offset_of(x, y);
    samples[0] = at[0];
    samples[1] = at[1];
  }

  __device__ __forceinline__ int greatest_x() const { return job.grid.width - kPatch; }
  __device__ __forceinline__ int greatest_y() const { return job.grid.height - kPatch; }

  // Of the lane's first sample in the patch at (x, y).
  __device__ __forceinline__ std::ptrdiff_t offset_of(int x, int y) const {
    return static_cast<std::ptrdiff_t>(y + lane / 4) * pitch + x + lane % 4 * 2;
  }

  // Where the patch at `place` goes along the vector of its block.
  __device__ __forceinline__ Place predicted(const MotionVector* vectors, const Place& place) const {
    const MotionVector vector = vectors[limpid::vbm4d::predicting_block(place.x, place.y, job.shift_x,
                                                                        job.shift_y, job.columns, job.rows)];
    return {limpid::vbm4d::confined(place.x + limpid::vbm4d::scaled(vector.x, job.shift_x), greatest_x()),
            limpid::vbm4d::confined(place.y + limpid::vbm4d::scaled(vector.y, job.shift_y), greatest_y())};
  }

  // Moves `place`, the prediction, to the best candidate around it, and says whether that is like the
  // reference.
  __device__ __forceinline__ bool refine(const std::int16_t* guide, Place& place) const {
    const std::int16_t* at = guide + offset_of(place.x - 1, place.y - 1);
    int around[3][4];
#pragma unroll
    for (int y = 0; y < 3; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        around[y][x] = at[y * pitch + x];
      }
    }
    int least = 0x7FFFFFFF;
    int its_distance = 0;
    int best = 0;
#pragma unroll
    for (int i = 0; i < limpid::vbm4d::kCandidates; ++i) {
      const int x = limpid::vbm4d::candidate_x(i);
      const int y = limpid::vbm4d::candidate_y(i);
      const int first = around[y + 1][x + 1] - samples[0];
      const int second = around[y + 1][x + 2] - samples[1];
      const int distance = sum_over_warp(first * first + second * second);
      const int cost = distance + limpid::vbm4d::candidate_cost(i, job.bounds);
      const bool inside =
          place.x + x >= 0 && place.x + x <= greatest_x() && place.y + y >= 0 && place.y + y <= greatest_y();
      if (inside && cost < least) {
        least = cost;
        its_distance = distance;
        best = i;
      }
    }
    place.x += best % 3 - 1;
    place.y += best / 3 - 1;
    return its_distance <= job.bounds.greatest;
  }

  // Whether a patch repeats the other one, noise and all. One of a single value has no noise.
  __device__ __forceinline__ bool repeats(int picture, const Place& place, int other_picture,
                                          const Place& other_place) const {
    const std::int16_t* at = job.noisy_guides[picture] + offset_of(place.x, place.y);
    const std::int16_t* other = job.noisy_guides[other_picture] + offset_of(other_place.x, other_place.y);
    const int first = at[0];
    const int second = at[1];
    const int value = __shfl_sync(kAllLanes, first, 0);
    const bool same = __all_sync(kAllLanes, first == other[0] && second == other[1]) != 0;
    const bool flat = __all_sync(kAllLanes, first == value && second == value) != 0;
    return same && !flat;
  }
};

// Finds the patches most like the reference patch, at most `wanted` - 1, and writes their offsets. `patch` is
// the warp's, in shared memory. Returns how many members the group has with them.
__device__ int find_similar(const Followed& followed, int wanted, std::int16_t* patch, std::int16_t* out) {
  const TrajectoryJob& job = followed.job;
  const int lane = followed.lane;
  const Place& reference = followed.reference;
  reinterpret_cast<short2*>(patch)[lane] =
      make_short2(static_cast<short>(followed.samples[0]), static_cast<short>(followed.samples[1]));
  __syncwarp();
  const int radius = job.search_window / 2;
  const int first_x = max(reference.x - radius, 0);
  const int first_y = max(reference.y - radius, 0);
  const int columns = min(reference.x + radius, followed.greatest_x()) - first_x + 1;
  const int rows = min(reference.y + radius, followed.greatest_y()) - first_y + 1;
  const std::int16_t* guide = job.guides[job.own];
  const int expected = job.bounds.similar.expected;
  const int greatest = job.bounds.similar.greatest;
  int key = 0x7FFFFFFF;  // of the lane's in the list
  int offset = 0;
  int found = 0;
  for (int begin = 0; begin < columns * rows; begin += kWarp) {
    const int number = begin + lane;
    const bool exists = number < columns * rows;
    const int x = first_x + (exists ? number % columns : 0);
    const int y = first_y + (exists ? number / columns : 0);
    const std::int16_t* at = guide + static_cast<std::ptrdiff_t>(y) * followed.pitch + x;
    int distance = 0;
#pragma unroll
    for (int r = 0; r < kPatch; ++r) {
      const int4 row = reinterpret_cast<const int4*>(patch)[r];
      const int words[4] = {row.x, row.y, row.z, row.w};
#pragma unroll
      for (int c = 0; c < kPatch; ++c) {
        const int own = static_cast<std::int16_t>(words[c / 2] >> c % 2 * 16);
        const int difference = own - at[r * followed.pitch + c];
        distance += difference * difference;
      }
    }
    const int off = abs(distance - expected);
    const bool matches = exists && off <= greatest && (x != reference.x || y != reference.y);
    const int own_offset = pack_offset(x - reference.x, y - reference.y);
    // Of the list's last, if it is full.
    const int worst = __shfl_sync(kAllLanes, key, wanted - 2);
    unsigned better = __ballot_sync(kAllLanes, matches && off < worst);
    while (better != 0) {
      const int next = __ffs(static_cast<int>(better)) - 1;
      better &= better - 1;
      const int its_key = __shfl_sync(kAllLanes, off, next);
      const int its_offset = __shfl_sync(kAllLanes, own_offset, next);
      // Behind all that are as good, which come earlier.
      const int rank = __popc(__ballot_sync(kAllLanes, key <= its_key));
      const int moved_key = __shfl_up_sync(kAllLanes, key, 1);
      const int moved_offset = __shfl_up_sync(kAllLanes, offset, 1);
      if (lane == rank) {
        key = its_key;
        offset = its_offset;
      } else if (lane > rank) {
        key = moved_key;
        offset = moved_offset;
      }
      ++found;
    }
  }
  found = min(found, wanted - 1);
  int members = 1;
  while (2 * members <= wanted && 2 * members <= found + 1) {
    members *= 2;
  }
  if (lane + 1 < members) {
    out[lane + 1] = static_cast<std::int16_t>(offset);
  }
  return members;
}

__global__ void __launch_bounds__(kWarp* kFollowWarps) follow_kernel(TrajectoryJob job) {
  follow_stream();
  __shared__ alignas(16) std::int16_t patches[kFollowWarps][kPatch * kPatch];
  const int warp = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const int column = blockIdx.x * kGroupTile + warp;
  if (column >= job.grid.columns) {
    return;
  }
  const int begin = job.out.first_row + blockIdx.y * kGroupTile;
  for (int row = begin; row < min(begin + kGroupTile, job.out.last_row); ++row) {
    const Followed followed(job, job.grid.x(column), job.grid.y(row));
    unsigned mine = followed.reference.x + (static_cast<unsigned>(followed.reference.y) << 16);
    unsigned pictures = 1U << job.own;
#pragma unroll 1
    for (int i = 0; i < 2; ++i) {
      const int direction = i == 0 ? -1 : 1;
      Place place = followed.reference;
      int picture = job.own;
      Place last_place = place;  // of the trajectory
      int last_picture = picture;
      while (picture + direction >= 0 && picture + direction < job.out.pictures) {
        place = followed.predicted(direction < 0 ? job.back[picture] : job.ahead[picture], place);
        if (!followed.refine(job.guides[picture + direction], place)) {
          break;
        }
        picture += direction;
        if (followed.repeats(picture, place, last_picture, last_place)) {
          continue;
        }
        last_place = place;
        last_picture = picture;
        pictures |= 1U << picture;
        if (lane == picture) {
          mine = place.x + (static_cast<unsigned>(place.y) << 16);
        }
      }
    }
    const std::ptrdiff_t number =
        static_cast<std::ptrdiff_t>(row - job.out.first_row) * job.grid.columns + column;
    const int wanted = limpid::vbm4d::members_of(__popc(pictures), job.max_group_size);
    int members = 1;
    if (wanted > 1) {
      __syncwarp();
      members = find_similar(followed, wanted, patches[warp], job.out.members + number * job.out.capacity);
    }
    if (lane < job.out.pictures) {
      job.out.places[number * job.out.pictures + lane] = mine;
    }
    if (lane == 0) {
      job.out.shapes[number] = pictures + (static_cast<unsigned>(members) << Trajectories::kMembersShift);
    }
  }
}

}  // namespace

void follow_trajectories(const TrajectoryJob& job, cudaStream_t stream) {
  const dim3 grid(blocks_for(job.grid.columns, kGroupTile),
                  blocks_for(job.out.last_row - job.out.first_row, kGroupTile));
  static_assert(kFollowWarps == kGroupTile);
  launch(follow_kernel, grid, kWarp * kFollowWarps, 0, stream, job);
}

}  // namespace limpid::cuda
