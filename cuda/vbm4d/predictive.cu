// SPDX-License-Identifier: MIT
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/groups.h"
#include "cuda/vbm4d/guide_patch.h"

// V-BM3D's groups (core/vbm4d/predictive_search.h). A warp searches for one reference patch, and each lane
// compares one candidate at a time. The lanes keep the best candidates of a picture in order, and the best of
// all. Bound by instruction issue.

namespace limpid::cuda {
namespace {

using Key = std::uint64_t;
constexpr Key kNoKey = ~Key{0};
constexpr int kSearchWarps = 8;  // of a block, for adjacent references

// The least of the keys offered by the lanes, in order: number i is in lane i.
struct LeastKeys {
  Key key = kNoKey;

  // Each lane offers one key or none. Keys beyond the `size` least ones are undefined.
  __device__ __forceinline__ void take(Key offered, int size) {
    unsigned better = __ballot_sync(kAllLanes, offered < __shfl_sync(kAllLanes, key, size - 1));
    while (better != 0) {
      const Key its = __shfl_sync(kAllLanes, offered, __ffs(static_cast<int>(better)) - 1);
      better &= better - 1;
      const Key before = __shfl_up_sync(kAllLanes, key, 1);
      if (key > its) {
        key = threadIdx.x == 0 || before < its ? its : before;
      }
    }
  }
};

// The search windows of a picture.
struct Squares {
  int x[limpid::vbm4d::kMostBest];
  int y[limpid::vbm4d::kMostBest];
  int count;
  int radius;

  // Places the windows around the least keys.
  __device__ __forceinline__ void place(const LeastKeys& least, int most, int its_radius) {
    count = 0;
    radius = its_radius;
#pragma unroll
    for (int i = 0; i < limpid::vbm4d::kMostBest; ++i) {
      const Key key = __shfl_sync(kAllLanes, least.key, i);
      x[i] = limpid::vbm4d::x_of(key);
      y[i] = limpid::vbm4d::y_of(key);
      count += i < most && key != kNoKey ? 1 : 0;
    }
  }
};

struct Searched {
  const TrajectoryJob& job;
  int pitch;
  int x;  // the reference patch
  int y;
  int lane;
  int kept;  // number of keys of a picture that are kept
  PatchWords patch;
  int its_squares;

  __device__ __forceinline__ Searched(const TrajectoryJob& its_job, int reference_x, int reference_y)
      : job(its_job),
        pitch(TrajectoryGuide::pitch_of(its_job.grid.width)),
        x(reference_x),
        y(reference_y),
        lane(static_cast<int>(threadIdx.x)),
        // One of them may be too different, except at the reference patch's position.
        kept(max(its_job.search.best, its_job.out.capacity + 1)) {
    load_patch(sample_of(job.guides[job.own], pitch, {x, y}), pitch, patch);
    its_squares = squares(patch);
  }

  // The key of the patch at (its_x, its_y) of a picture, if it is in window i and in no earlier one.
  __device__ __forceinline__ Key key_of(const Squares& squares, int i, int picture, int its_x,
                                        int its_y) const {
    if (its_x < 0 || its_y < 0 || its_x > job.grid.width - kPatch || its_y > job.grid.height - kPatch) {
      return kNoKey;
    }
#pragma unroll
    for (int j = 0; j < limpid::vbm4d::kMostBest; ++j) {
      if (j < i && abs(its_x - squares.x[j]) <= squares.radius &&
          abs(its_y - squares.y[j]) <= squares.radius) {
        return kNoKey;
      }
    }
    const bool in_place = its_x == x && its_y == y;
    if (in_place && picture == job.own) {
      return limpid::vbm4d::reference_key(picture, x, y);
    }
    return limpid::vbm4d::candidate_key(
        distance_of(patch, its_squares, sample_of(job.guides[picture], pitch, {its_x, its_y}), pitch),
        in_place ? 0 : job.bounds.position_bonus, picture, its_x, its_y);
  }

  // The best candidates of a picture.
  __device__ __forceinline__ LeastKeys search(const Squares& squares, int picture) const {
    LeastKeys least;
    const int side = 2 * squares.radius + 1;
#pragma unroll
    for (int i = 0; i < limpid::vbm4d::kMostBest; ++i) {
      if (i < squares.count) {
        for (int first = 0; first < side * side; first += kWarp) {
          const int number = first + lane;
          const Key key = number < side * side
                              ? key_of(squares, i, picture, squares.x[i] - squares.radius + number % side,
                                       squares.y[i] - squares.radius + number / side)
                              : kNoKey;
          least.take(key, kept);
        }
      }
    }
    return least;
  }

  // The candidates of a picture that may be in the group.
  __device__ __forceinline__ Key like(const LeastKeys& least) const {
    const bool is =
        lane < kept && least.key != kNoKey &&
        limpid::vbm4d::distance_of(least.key, job.bounds.position_bonus, x, y) <= job.bounds.greatest;
    return is ? least.key : kNoKey;
  }

  __device__ __forceinline__ void search_one_way(int direction, const LeastKeys& own, LeastKeys& all) const {
    Squares squares;
    squares.place(own, job.search.best, job.search.predictive_window / 2);
    for (int picture = job.own; direction > 0 ? picture + 1 < job.out.pictures : picture > 0;) {
      const FollowedField& field = direction > 0 ? job.ahead[picture] : job.back[picture];
      if (limpid::vbm4d::is_cut(*field.lost, job.columns * job.rows)) {
        return;
      }
      picture += direction;
      const LeastKeys least = search(squares, picture);
      all.take(like(least), job.out.capacity);
      squares.place(least, job.search.best, squares.radius);
    }
  }
};

// Block (32, references).
__global__ void __launch_bounds__(kWarp* kSearchWarps)
    predictive_kernel(const __grid_constant__ TrajectoryJob job) {
  follow_stream();
  const int column = blockIdx.x * kSearchWarps + threadIdx.y;
  const int row = job.out.first_row + blockIdx.y;
  if (column >= job.grid.columns) {
    return;
  }
  const Searched searched(job, job.grid.x(column), job.grid.y(row));
  Squares around;
  around.x[0] = searched.x;
  around.y[0] = searched.y;
  around.count = 1;
  around.radius = job.search.window / 2;
  const LeastKeys own = searched.search(around, job.own);
  LeastKeys all;
  all.take(searched.like(own), job.out.capacity);
  searched.search_one_way(-1, own, all);
  searched.search_one_way(1, own, all);

  const int found = __popc(__ballot_sync(kAllLanes, all.key != kNoKey));
  const int size = 1 << (31 - __clz(min(found, job.out.capacity)));
  // The patches ordered by position.
  const Key place = limpid::vbm4d::place_of(all.key);
  int number = 0;
  for (int i = 0; i < size; ++i) {
    number += __shfl_sync(kAllLanes, place, i) < place ? 1 : 0;
  }
  const std::ptrdiff_t group =
      static_cast<std::ptrdiff_t>(row - job.out.first_row) * job.grid.columns + column;
  if (searched.lane < size) {
    job.out.places[group * job.out.slots + number] =
        limpid::vbm4d::x_of(all.key) + (static_cast<unsigned>(limpid::vbm4d::y_of(all.key)) << 16);
    job.out.members[group * job.out.capacity + number] =
        static_cast<std::int16_t>(limpid::vbm4d::picture_of(all.key));
  }
  if (searched.lane == 0) {
    job.out.shapes[group] = size;
  }
}

}  // namespace

void search_predictively(const TrajectoryJob& job, cudaStream_t stream) {
  const int rows = job.out.last_row - job.out.first_row;
  launch(predictive_kernel, dim3(blocks_for(job.grid.columns, kSearchWarps), rows), dim3(kWarp, kSearchWarps),
         0, stream, job);
}

}  // namespace limpid::cuda
