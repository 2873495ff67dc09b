// SPDX-License-Identifier: MIT
#include "cuda/runtime/launch.h"
#include "cuda/runtime/warp.h"
#include "cuda/vbm4d/groups.h"
#include "cuda/vbm4d/guide_patch.h"

// Each thread follows a reference patch in one direction. Distances are computed from products of four bytes
// at a time: |a - b|^2 = |a|^2 + |b|^2 - 2 a b, where rows of b serve up to three of the nine candidates. The
// patches of a warp's threads are adjacent, and so are their reads. All threads are at the same picture, so
// the picture's data is in constant memory. Bound by instruction issue.
//
// BM3D's matching finds the similar patches, only for references whose groups have room for them.

namespace limpid::cuda {
namespace {

constexpr int kFollowRows = 4;  // rows of references in a block
constexpr int kReferences = kFollowRows * kWarp;

// A reference patch in its plane. `kQuarters`: positions have an accuracy of quarters of a sample.
template <bool kQuarters>
struct Followed {
  const TrajectoryJob& job;
  int pitch;
  PatchWords patch;
  int its_squares;
  PatchGradient<kReferences> gradient;  // if found to quarters

  __device__ __forceinline__ Followed(const TrajectoryJob& its_job, const Place& reference)
      : job(its_job), pitch(TrajectoryGuide::pitch_of(its_job.grid.width)) {
    load_patch(sample_of(job.guides[job.own], pitch, reference), pitch, patch);
    its_squares = squares(patch);
  }

  // Moves `place` along the vector of its block. False at a scene cut.
  __device__ __forceinline__ bool predict(const FollowedField& field, Place& place) const {
    if (limpid::vbm4d::is_cut(*field.lost, job.columns * job.rows)) {
      return false;
    }
    const MotionVector vector = field.vectors[limpid::vbm4d::predicting_block(
        place.x, place.y, job.shift_x, job.shift_y, job.columns, job.rows)];
    place = {limpid::vbm4d::confined(place.x + limpid::vbm4d::scaled(vector.x, job.shift_x),
                                     job.grid.width - kPatch),
             limpid::vbm4d::confined(place.y + limpid::vbm4d::scaled(vector.y, job.shift_y),
                                     job.grid.height - kPatch)};
    return true;
  }

  // Moves `place`, the prediction, to the best candidate around it, and returns whether that is similar to
  // the reference. `beside` is the displacement of the reference from it.
  __device__ __forceinline__ bool refine(const std::int8_t* guide, Place& place,
                                         limpid::vbm4d::QuarterVector& beside) const {
    const std::int8_t* at = sample_of(guide, pitch, {place.x - 1, place.y - 1});
    int products[3][3] = {};
    int first[3][2];  // squares of rows 0 and 1
    int middle[3] = {};
    int last[3][2];  // and 8 and 9
#pragma unroll
    for (int row = 0; row < kPatch + 2; ++row) {
      const GuideRow from(at + static_cast<std::ptrdiff_t>(row) * pitch);
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = __ldg(from.words + i);
      }
      unsigned bytes[3];
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        bytes[i] = __funnelshift_r(words[i], words[i + 1], from.shift);
      }
#pragma unroll
      for (int x = 0; x < 3; ++x) {
        const int left = static_cast<int>(__funnelshift_r(bytes[0], bytes[1], 8 * x));
        const int right = static_cast<int>(__funnelshift_r(bytes[1], bytes[2], 8 * x));
        if (row < 2) {
          first[x][row] = __dp4a(right, right, __dp4a(left, left, 0));
        } else if (row < kPatch) {
          middle[x] = __dp4a(right, right, __dp4a(left, left, middle[x]));
        } else {
          last[x][row - kPatch] = __dp4a(right, right, __dp4a(left, left, 0));
        }
#pragma unroll
        for (int y = 0; y < 3; ++y) {
          if (const int own = row - y; own >= 0 && own < kPatch) {
            products[y][x] =
                __dp4a(patch.of_row[own][1], right, __dp4a(patch.of_row[own][0], left, products[y][x]));
          }
        }
      }
    }
    const bool inside_x[3] = {place.x > 0, true, place.x < job.grid.width - kPatch};
    const bool inside_y[3] = {place.y > 0, true, place.y < job.grid.height - kPatch};
    int least = 0x7FFFFFFF;
    int its_distance = 0;
    Place best = place;
#pragma unroll
    for (int i = 0; i < limpid::vbm4d::kCandidates; ++i) {
      const int x = limpid::vbm4d::candidate_x(i) + 1;
      const int y = limpid::vbm4d::candidate_y(i) + 1;
      const int its_own = middle[x] + (y < 2 ? first[x][1] : last[x][0]) +
                          (y == 0   ? first[x][0]
                           : y == 1 ? last[x][0]
                                    : last[x][1]);
      const int distance = its_squares + its_own - 2 * products[y][x];
      const int cost = distance + limpid::vbm4d::candidate_cost(i, job.bounds);
      if (inside_x[x] && inside_y[y] && cost < least) {
        least = cost;
        its_distance = distance;
        best = {place.x + x - 1, place.y + y - 1};
      }
    }
    place = best;
    if constexpr (kQuarters) {
      beside = find_beside(guide, place, its_distance);
    }
    return its_distance <= job.bounds.greatest;
  }

 private:
  // `distance`: of the patch at `place` on input, of the patch found on output.
  __device__ __forceinline__ limpid::vbm4d::QuarterVector find_beside(const std::int8_t* guide,
                                                                      const Place& place,
                                                                      int& distance) const {
    using namespace limpid::vbm4d;
    const QuarterVector found = gradient.beside(sample_of(guide, pitch, place), pitch);
    const Place whole{place.x + whole_of(found.x), place.y + whole_of(found.y)};
    if (found == QuarterVector() || !is_surrounded(whole.x, whole.y, job.grid.width, job.grid.height)) {
      return {};
    }
    const int there = distance_between_samples(patch, its_squares, sample_of(guide, pitch, whole), pitch,
                                               rest_of(found.x), rest_of(found.y));
    if (there + job.bounds.sample_cost >= distance) {
      return {};
    }
    distance = there;
    return found;
  }
};

// Block (32, rows, 2): the directions are back and ahead. Each computes the gradient along one axis, for
// both.
template <bool kQuarters>
__global__ void __launch_bounds__(kReferences * 2, 3)
    follow_kernel(const __grid_constant__ TrajectoryJob job) {
  follow_stream();
  using Gradient = PatchGradient<kReferences>;
  __shared__ unsigned found_back[kFollowRows][kWarp];
  __shared__ int gradients[kQuarters ? 2 * Gradient::kAxisWords : 1][kFollowRows][kWarp];
  const int column = blockIdx.x * kWarp + threadIdx.x;
  const int row = job.out.first_row + blockIdx.y * kFollowRows + threadIdx.y;
  const bool exists = column < job.grid.columns && row < job.out.last_row;
  const std::ptrdiff_t number =
      static_cast<std::ptrdiff_t>(row - job.out.first_row) * job.grid.columns + column;
  const Place reference{job.grid.x(min(column, job.grid.columns - 1)),
                        job.grid.y(min(row, job.out.last_row - 1))};
  Followed<kQuarters> followed(job, reference);
  if constexpr (kQuarters) {
    const auto store = [&](int i, int word) {
      gradients[threadIdx.z * Gradient::kAxisWords + i][threadIdx.y][threadIdx.x] = word;
    };
    threadIdx.z == 0 ? for_gradient<true>(followed.patch, store) : for_gradient<false>(followed.patch, store);
    __syncthreads();
    followed.gradient = Gradient(followed.patch, &gradients[0][threadIdx.y][threadIdx.x]);
  }
  constexpr unsigned kLost = 1U << 31;
  unsigned found = 1U << job.own;  // its pictures, and whether it was lost
  static_assert(kMostPictures < 31);
  if (exists) {
    const auto note = [&](int picture, const Place& place, const limpid::vbm4d::QuarterVector& beside) {
      const std::ptrdiff_t slot = number * job.out.pictures + picture;
      const int x = place.x + limpid::vbm4d::whole_of(beside.x);
      const int y = place.y + limpid::vbm4d::whole_of(beside.y);
      job.out.places[slot] = x + (static_cast<unsigned>(y) << 16);
      if constexpr (kQuarters) {
        job.out.quarters[slot] = static_cast<std::uint8_t>(
            limpid::vbm4d::rest_of(beside.x) + limpid::vbm4d::kQuarters * limpid::vbm4d::rest_of(beside.y));
      }
    };
    const bool ahead = threadIdx.z == 1;
    if (ahead) {
      note(job.own, reference, {});
    }
    Place place = reference;
    // Last patch of the trajectory.
    const std::int8_t* last = sample_of(job.noisy_guides[job.own], followed.pitch, place);
    int picture = job.own;
    while (ahead ? picture + 1 < job.out.pictures : picture > 0) {
      if (!followed.predict(ahead ? job.ahead[picture] : job.back[picture], place)) {
        break;
      }
      picture += ahead ? 1 : -1;
      limpid::vbm4d::QuarterVector beside;
      if (!followed.refine(job.guides[picture], place, beside)) {
        found |= kLost;
        break;
      }
      const std::int8_t* noisy = sample_of(job.noisy_guides[picture], followed.pitch, place);
      if (!repeats(noisy, last, followed.pitch)) {
        last = noisy;
        found |= 1U << picture;
        note(picture, place, beside);
      }
    }
    if (!ahead) {
      found_back[threadIdx.y][threadIdx.x] = found;
    }
  }
  __syncthreads();
  if (exists && threadIdx.z == 1) {
    found |= found_back[threadIdx.y][threadIdx.x];
    const unsigned pictures = found & ~kLost;
    const int wanted = limpid::vbm4d::members_of(__popc(pictures), (found & kLost) != 0, job.bounds,
                                                 job.step.max_group_size);
    job.out.shapes[number] = pictures + (static_cast<unsigned>(wanted) << Trajectories::kWantedShift);
    job.out.members[number * job.out.capacity] = static_cast<std::int16_t>(wanted > 1 ? wanted : 0);
  }
}

}  // namespace

void follow_trajectories(const TrajectoryJob& job, cudaStream_t stream) {
  const int rows = job.out.last_row - job.out.first_row;
  launch(job.out.quarters != nullptr ? follow_kernel<true> : follow_kernel<false>,
         dim3(blocks_for(job.grid.columns, kWarp), blocks_for(rows, kFollowRows)),
         dim3(kWarp, kFollowRows, 2), 0, stream, job);
  if (job.out.capacity > 1) {
    prepare_matching(job.guides[job.own], job.similar, stream);
    job.matching->run(job.similar, job.grid, job.step, job.bounds.similar,
                      {job.out.members, job.out.capacity, job.out.first_row, job.out.last_row, true}, stream);
  }
}

}  // namespace limpid::cuda
