// SPDX-License-Identifier: MIT
#include "cpu/vbm4d/trajectory_tile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <type_traits>

#include "core/bm3d/transforms.h"

#ifndef LIMPID_CPU_VBM4D_TIME_TRANSFORMS
#define LIMPID_CPU_VBM4D_TIME_TRANSFORMS
namespace limpid::cpu {
namespace {

// The transform over time for trajectories of this length, [coefficient][picture], row-major.
const float* time_transform(int frames) {
  static const auto transforms = [] {
    std::array<std::vector<float>, vbm4d::kMostFrames + 1> all;
    for (int length = 1; length <= vbm4d::kMostFrames; ++length) {
      const std::vector<double> matrix = transform_matrices(Transform2d::kDct, length).forward;
      all[length].assign(matrix.begin(), matrix.end());
    }
    return all;
  }();
  return transforms[frames].data();
}

}  // namespace
}  // namespace limpid::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/vbm4d/trajectory_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/bm3d/group_filter-inl.h"
#include "cpu/bm3d/matching-inl.h"
#include "cpu/vbm4d/followed_patches-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

// ---------------------------------------------------------------------------------------------------------------------
// Groups

// Maximum number of trajectories in a group.
int members_wanted(const TrajectoryJob& job, const TrajectoryGroup& group) {
  return vbm4d::members_of(group.frames, group.lost, job.bounds, job.similar.tables->step.max_group_size);
}

// Adds the trajectories of the patches at `similar` (the first is the reference patch's) up to the group's
// number, which is a power of two.
HWY_ATTR void join(const TrajectoryJob& job, const Position* similar, int count, TrajectoryGroup& group) {
  const Position reference = similar[0];
  group.members =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(count, members_wanted(job, group)))));
  // From the last position on, because the first positions hold the reference's trajectory.
  for (int f = group.frames - 1; f >= 0; --f) {
    const Position place = group.places[f];
    const std::int8_t picture = group.pictures[f];
    const std::uint8_t right = group.right[f];
    const std::uint8_t below = group.below[f];
    for (int m = group.members - 1; m >= 0; --m) {
      const int i = f * group.members + m;
      const Position its = {
          vbm4d::confined(similar[m].x + place.x - reference.x, job.width - vbm4d::kPatch),
          vbm4d::confined(similar[m].y + place.y - reference.y, job.height - vbm4d::kPatch)};
      const bool surrounded = vbm4d::is_surrounded(its.x, its.y, job.width, job.height);
      group.pictures[i] = picture;
      group.places[i] = its;
      group.right[i] = surrounded ? right : 0;
      group.below[i] = surrounded ? below : 0;
    }
  }
}

// Finds the groups of a tile, row by row. Neighbors with short trajectories are matched together.
HWY_ATTR void find_groups(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch) {
  const StepJob& similar = job.similar;
  std::optional<MatchingRegion> region;
  scratch.groups.clear();
  for (int gy = tile.first_y; gy < tile.last_y; ++gy) {
    const std::size_t row = scratch.groups.size();
    for (int gx = tile.first_x; gx < tile.last_x; ++gx) {
      follow_both_ways(job, {similar.grid_x[gx], similar.grid_y[gy]}, scratch.groups.emplace_back());
    }
    const auto group_at = [&](int gx) -> TrajectoryGroup& { return scratch.groups[row + gx - tile.first_x]; };
    const auto is_short = [&](int gx) { return members_wanted(job, group_at(gx)) > 1; };
    for (int gx = tile.first_x; gx < tile.last_x; ++gx) {
      if (!is_short(gx)) {
        continue;
      }
      int end = gx + 1;
      while (end < tile.last_x && is_short(end)) {
        ++end;
      }
      if (!region) {
        const Area reach = tile_reach(similar, tile);
        region = prepare_region(similar, reach.x0, reach.y0, reach.x1, reach.y1, scratch.matching);
      }
      const int* xs = similar.grid_x.data() + gx;
      const int count = end - gx;
      const auto most_of = [&, first = gx](int i) { return members_wanted(job, group_at(first + i)); };
      const auto take = [&](const Position* positions, int found)
                            HWY_ATTR { join(job, positions, found, group_at(gx++)); };
      if (region->bytes) {
        match_row<vbm4d::kPatch, kByteProducts>(similar, *region, xs, count, similar.grid_y[gy],
                                                scratch.matching, most_of, take);
      } else {
        match_row<vbm4d::kPatch, false>(similar, *region, xs, count, similar.grid_y[gy], scratch.matching,
                                        most_of, take);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Filtering. Patches are transformed in blocks (transforms-inl.h); across the group, a vector holds
// coefficients of one patch only.

using PatchTag = hn::CappedTag<float, 8>;
using PatchVector = hn::Vec<PatchTag>;
constexpr int kPatchLanes = static_cast<int>(hn::MaxLanes(PatchTag()));
constexpr int kPatchSamples = vbm4d::kPatch * vbm4d::kPatch;

// Loads a row of two patches, of one or of a part of one (transforms-inl.h), as code values.
HWY_INLINE FloatVector load_samples(const float* first, const float* second, const PatchSamples& /*kept*/) {
  return load_row(FloatTag(), first, second);
}
template <typename Sample>
HWY_INLINE FloatVector load_samples(const Sample* first, [[maybe_unused]] const Sample* second,
                                    const PatchSamples& kept) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> d32;
  const hn::Rebind<Sample, FloatTag> samples;
  FloatVector values;
  if constexpr (kPatchesPerBlock == 2) {
    const hn::Half<decltype(samples)> half;
    values = hn::ConvertTo(
        d, hn::PromoteTo(d32, hn::Combine(samples, hn::LoadU(half, second), hn::LoadU(half, first))));
  } else {
    values = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(samples, first)));
  }
  return sizeof(Sample) == 1 ? values : hn::MulAdd(values, hn::Set(d, kept.unit), hn::Set(d, kept.zero));
}

struct PatchInMemory {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;
};

// Calls function(sample) with a value of the type of the samples.
template <class Function>
HWY_INLINE void visit_type(PatchSamples::Type type, const Function& function) {
  if (type == PatchSamples::Type::kUint8) {
    return function(std::uint8_t());
  }
  if (type == PatchSamples::Type::kUint16) {
    return function(std::uint16_t());
  }
  if (type == PatchSamples::Type::kInt16) {
    return function(std::int16_t());
  }
  return function(float());
}

// Loads a group's patches and transforms each in 2D.
template <typename Sample>
HWY_ATTR void load_patches_of(const PatchInMemory* patches, int size, const PatchSamples& kept,
                              float* group) {
  const FloatTag d;
  for (int i = 0; i < size; i += kPatchesPerBlock) {
    const PatchInMemory& first = patches[i];
    const PatchInMemory& second = patches[std::min(i + kPatchesPerBlock - 1, size - 1)];
    FloatVector x[kBlockVectors];
    for (int row = 0; row < 8; ++row) {
      for (int part = 0; part < kParts; ++part) {
        x[row * kParts + part] = load_samples(
            reinterpret_cast<const Sample*>(first.data + row * first.stride) + part * kLanes,
            reinterpret_cast<const Sample*>(second.data + row * second.stride) + part * kLanes, kept);
      }
    }
    forward_2d<Dct8>(x);
    for (int v = 0; v < kBlockVectors; ++v) {
      if constexpr (kPatchesPerBlock == 2) {
        const hn::Half<FloatTag> half;
        hn::Store(hn::LowerHalf(half, x[v]), half, group + v * (kLanes / 2));
        hn::Store(hn::UpperHalf(half, x[v]), half, group + kPatchSamples + v * (kLanes / 2));
      } else {
        hn::Store(x[v], d, group + v * kLanes);
      }
    }
    group += kBlockFloats;
  }
}

// The mean of a group's samples, from its patches' transforms.
float mean_of(const float* group, int size) {
  float sum = 0;
  for (int i = 0; i < size; ++i) {
    sum += group[i * kPatchSamples];
  }
  return sum / static_cast<float>(vbm4d::kPatch * size);
}

// Loads a patch as code values, displaced by quarters of a sample to the right and down from its position in
// memory.
template <typename Sample>
HWY_ATTR void interpolate_of(const PatchInMemory& patch, int right, int below, const PatchSamples& kept,
                             float* out) {
  const PatchTag d;
  const hn::RebindToSigned<PatchTag> d32;
  const hn::Rebind<Sample, PatchTag> samples;
  constexpr float kUnit = 1.0F / (1 << vbm4d::kWeightBits);
  const auto load = [&](const Sample* at) HWY_ATTR {
    if constexpr (std::is_same_v<Sample, float>) {
      return hn::LoadU(d, at);
    } else {
      return hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(samples, at)));
    }
  };
  for (int part = 0; part < vbm4d::kPatch / kPatchLanes; ++part) {
    PatchVector values[vbm4d::kPatch];
    interpolate_rows(
        right, below, values,
        [&](int weight) HWY_ATTR { return hn::Set(d, kUnit * static_cast<float>(weight)); },
        [&](int x, int y) HWY_ATTR {
          return load(reinterpret_cast<const Sample*>(patch.data + y * patch.stride) + part * kPatchLanes +
                      x);
        },
        [&](const auto& weights, const auto& value) HWY_ATTR {
          PatchVector sum = hn::Zero(d);
          HWY_UNROLL(6)
          for (int tap = 0; tap < vbm4d::kTaps; ++tap) {
            sum = hn::MulAdd(value(tap), weights[tap], sum);
          }
          return sum;
        });
    for (int i = 0; i < vbm4d::kPatch; ++i) {
      hn::StoreU(hn::MulAdd(values[i], hn::Set(d, kept.unit), hn::Set(d, kept.zero)), d,
                 out + i * vbm4d::kPatch + part * kPatchLanes);
    }
  }
}

// Calls function(0), ..., function(kCount - 1), whose arguments are constants, without a loop, so that arrays
// of vectors stay in registers.
template <std::size_t kCount, class Function>
HWY_INLINE void unrolled(const Function& function) {
  const auto call = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR
      __attribute__((always_inline)) {
    (function(std::integral_constant<int, static_cast<int>(kIndex)>()), ...);
  };
  call(std::make_index_sequence<kCount>());
}

// The transform over time by sums and differences of coefficients at equal distances from both ends, which
// give the DCT's even and odd coefficients.
template <int kFrames>
struct OverTime {
  static constexpr int kPairs = kFrames / 2;
  static constexpr bool kOdd = kFrames % 2 != 0;
  const float* factors = time_transform(kFrames);

  HWY_INLINE FloatVector factor(int coefficient, int frame) const {
    return hn::Set(FloatTag(), factors[coefficient * kFrames + frame]);
  }

  HWY_INLINE void forward(FloatVector* x) const {
    if constexpr (kFrames > 1) {
      FloatVector in[2][kPairs];
      unrolled<kPairs>([&](auto f) HWY_ATTR {
        in[0][f] = hn::Add(x[f], x[kFrames - 1 - f]);
        in[1][f] = hn::Sub(x[f], x[kFrames - 1 - f]);
      });
      const FloatVector middle = x[kPairs];
      unrolled<kFrames>([&](auto k) HWY_ATTR {
        FloatVector sum = hn::Mul(in[k % 2][0], factor(k, 0));
        if constexpr (kOdd && k % 2 == 0) {
          sum = hn::MulAdd(middle, factor(k, kPairs), sum);
        }
        unrolled<kPairs - 1>([&](auto f)
                                 HWY_ATTR { sum = hn::MulAdd(in[k % 2][f + 1], factor(k, f + 1), sum); });
        x[k] = sum;
      });
    }
  }

  HWY_INLINE void inverse(FloatVector* x) const {
    if constexpr (kFrames > 1) {
      FloatVector out[kFrames];
      unrolled<kPairs + (kOdd ? 1 : 0)>([&](auto f) HWY_ATTR {
        FloatVector sums[2] = {hn::Mul(x[0], factor(0, f)), hn::Mul(x[1], factor(1, f))};
        unrolled<kFrames - 2>(
            [&](auto k) HWY_ATTR { sums[k % 2] = hn::MulAdd(x[k + 2], factor(k + 2, f), sums[k % 2]); });
        out[kFrames - 1 - f] = hn::Sub(sums[0], sums[1]);
        out[f] = hn::Add(sums[0], sums[1]);
      });
      unrolled<kFrames>([&](auto f) HWY_ATTR { x[f] = out[f]; });
    }
  }
};

// Haar's transform across the members of each frame, or its inverse.
HWY_ATTR void across_members(const TrajectoryGroup& group, bool forward, float* coefficients) {
  for (int i = 0; i < group.size(); i += group.members) {
    transform_group(Transform1d::kHaar, forward, coefficients + i * kPatchSamples, group.members,
                    kPatchSamples);
  }
}

// Coefficients of a group of kFrames frames, and their noise.
struct GroupCoefficients {
  float* noisy;
  const float* basic;
  const float* bounds;
  const float* variances;
  int members;
  float of_constant;  // factors of the bounds
  float of_changing;
};

// Shrinks coefficients as hard_threshold() and wiener() of group_filter-inl.h do. Returns the sum of the
// noise's variances that are left.
template <bool kWiener, int kFrames>
HWY_ATTR float shrink(const GroupCoefficients& group) {
  const FloatTag d;
  const OverTime<kFrames> over_time;
  const int distance = group.members * kPatchSamples;  // from one frame to the next
  auto left = hn::Zero(d);
  for (int v = 0; v < kPatchSamples; v += kLanes) {
    const auto bound = hn::LoadU(d, group.bounds + v);
    const FloatVector bounds[2] = {hn::Mul(bound, hn::Set(d, group.of_constant)),
                                   hn::Mul(bound, hn::Set(d, group.of_changing))};
    const auto variance = hn::LoadU(d, group.variances + v);
    for (int m = 0; m < group.members; ++m) {
      float* const noisy = group.noisy + m * kPatchSamples + v;
      FloatVector x[kFrames];
      if constexpr (kWiener) {
        const float* const basic = group.basic + m * kPatchSamples + v;
        FloatVector factors[kFrames];
        unrolled<kFrames>([&](auto f) HWY_ATTR { factors[f] = hn::Load(d, basic + f * distance); });
        over_time.forward(factors);
        unrolled<kFrames>([&](auto k) HWY_ATTR {
          const auto signal = hn::Mul(factors[k], factors[k]);
          factors[k] = hn::Div(signal, hn::Add(signal, bounds[k == 0 ? 0 : 1]));
          left = hn::MulAdd(hn::Mul(factors[k], variance), factors[k], left);
        });
        unrolled<kFrames>([&](auto f) HWY_ATTR { x[f] = hn::Load(d, noisy + f * distance); });
        over_time.forward(x);
        unrolled<kFrames>([&](auto k) HWY_ATTR { x[k] = hn::Mul(x[k], factors[k]); });
      } else {
        unrolled<kFrames>([&](auto f) HWY_ATTR { x[f] = hn::Load(d, noisy + f * distance); });
        over_time.forward(x);
        unrolled<kFrames>([&](auto k) HWY_ATTR {
          auto keep = hn::Gt(hn::Abs(x[k]), bounds[k == 0 ? 0 : 1]);
          if (k == 0 && v == 0 && m == 0) {
            keep = hn::Or(keep, hn::FirstN(d, 1));
          }
          left = hn::Add(left, hn::IfThenElseZero(keep, variance));
          x[k] = hn::IfThenElseZero(keep, x[k]);
        });
      }
      over_time.inverse(x);
      unrolled<kFrames>([&](auto f) HWY_ATTR { hn::Store(x[f], d, noisy + f * distance); });
    }
  }
  return hn::GetLane(hn::SumOfLanes(d, left));
}

// shrink() for each number of frames.
template <bool kWiener, std::size_t... kFrames>
HWY_ATTR float shrink_frames(const GroupCoefficients& group, int frames, std::index_sequence<kFrames...>) {
  static constexpr float (*kFunctions[])(const GroupCoefficients&) = {shrink<kWiener, kFrames + 1>...};
  return kFunctions[frames - 1](group);
}

// Shrinks the coefficients of a group. Returns the group's weight.
HWY_ATTR float shrink_group(const TrajectoryGroup& group, bool wiener, const CoefficientNoise& noise,
                            const vbm4d::NoiseOverTime& over_time, float deviation, float* noisy,
                            float* basic) {
  const float gain = wiener ? deviation * deviation : deviation;
  const GroupCoefficients coefficients = {noisy,
                                          basic,
                                          noise.bounds.data(),
                                          noise.variances.data(),
                                          group.members,
                                          gain * over_time.of(0, group.frames, group.size()),
                                          gain * over_time.of(group.size() - 1, group.frames, group.size())};
  across_members(group, true, noisy);
  if (wiener) {
    across_members(group, true, basic);
  }
  constexpr std::make_index_sequence<vbm4d::kMostFrames> kAll;
  const float left = wiener ? shrink_frames<true>(coefficients, group.frames, kAll)
                            : shrink_frames<false>(coefficients, group.frames, kAll);
  across_members(group, false, noisy);
  return weight_factor(noise.least_deviation, deviation) / std::max(1.0F, left);
}

// The first patch of a group whose picture still needs estimates.
inline int first_wanted(const TrajectoryJob& job, const TrajectoryGroup& group) {
  int patch = 0;
  while (job.pictures[group.pictures[patch]].planes[0].sums == nullptr) {
    ++patch;
  }
  return patch;
}

HWY_ATTR void filter_group(const TrajectoryJob& job, int plane, const TrajectoryGroup& group,
                           TrajectoryScratch& scratch, const LocalNumerators* numerators,
                           std::vector<PictureSums::PatchWeight>* weights) {
  const int size = group.size();
  const int first_patch = first_wanted(job, group);
  bool between_samples = false;
  for (int i = 0; i < size; ++i) {
    between_samples = between_samples || group.is_between_samples(i);
  }
  std::array<PatchInMemory, vbm4d::kMostPatches> patches;
  const auto load = [&](bool of_basic, float* into) HWY_ATTR {
    const PatchSamples& kept = of_basic ? job.basic : job.noisy;
    for (int i = 0; i < size; ++i) {
      const FollowedPicture::Plane& its_plane = job.pictures[group.pictures[i]].planes[plane];
      const PictureSamples& from = of_basic ? its_plane.basic : its_plane.noisy;
      patches[i] = {from.data + group.places[i].y * from.stride + group.places[i].x * kept.bytes(),
                    from.stride};
    }
    visit_type(kept.type, [&]<typename Sample>(Sample) HWY_ATTR {
      if (!between_samples) {
        return load_patches_of<Sample>(patches.data(), size, kept, into);
      }
      for (int i = 0; i < size; ++i) {
        float* const samples = scratch.samples.data() + i * kPatchSamples;
        interpolate_of<Sample>(patches[i], group.right[i], group.below[i], kept, samples);
        patches[i] = {reinterpret_cast<const std::byte*>(samples), vbm4d::kPatch * sizeof(float)};
      }
      load_patches_of<float>(patches.data(), size, PatchSamples(), into);
    });
  };
  float* const noisy = scratch.noisy_group.data();
  float* const basic = scratch.basic_group.data();
  load(false, noisy);
  if (job.wiener) {
    load(true, basic);
  }
  const CoefficientNoise& noise = job.noise[plane];
  const float brightness = !noise.curve           ? 0
                           : noise.curve_by_guide ? brightness_in_guide(job, group.reference)
                                                  : mean_of(job.wiener ? basic : noisy, size);
  const float deviation = noise.deviation_of(brightness);
  const unsigned weight = PictureSums::weight_units(
      shrink_group(group, job.wiener, noise, job.noise_over_time[plane], deviation, noisy, basic));
  add_estimates<Dct8>(
      first_patch, size, std::ldexp(static_cast<float>(weight), -PictureSums::kWeightBits), 1,
      job.tables->window.data(),
      [&](int i, int v) HWY_ATTR {
        const float* in = noisy + i * kPatchSamples + v * (kLanes / kPatchesPerBlock);
        return load_row(FloatTag(), in, in + kPatchSamples);
      },
      [&](int i) {
        if (group.is_between_samples(i)) {
          return PatchTarget();
        }
        const Position& place = group.places[i];
        weights[group.pictures[i]].push_back({place.x, place.y, weight});
        const LocalNumerators& into = numerators[group.pictures[i]];
        return PatchTarget{into.samples + into.offset(place), into.pitch};
      });
}

HWY_ATTR void process_tile_groups(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch) {
  constexpr std::size_t kGroupFloats =
      std::size_t{(vbm4d::kMostPatches + kPatchesPerBlock - 1) / kPatchesPerBlock} * kBlockFloats;
  scratch.noisy_group.resize(kGroupFloats);
  scratch.basic_group.resize(kGroupFloats);
  scratch.samples.resize(kPatchSamples * vbm4d::kMostPatches);
  find_groups(job, tile, scratch);
  filter_into_pictures(
      job, std::span<const TrajectoryGroup>(scratch.groups), scratch.sums,
      [&](const TrajectoryGroup& group, const auto& add) {
        for (int i = first_wanted(job, group); i < group.size(); ++i) {
          add(group.pictures[i], group.places[i]);
        }
      },
      [&](int plane, const TrajectoryGroup& group, const LocalNumerators* numerators,
          std::vector<PictureSums::PatchWeight>* weights)
          HWY_ATTR { filter_group(job, plane, group, scratch, numerators, weights); });
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(process_tile_groups);

void process_trajectories(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(process_tile_groups)(job, tile, scratch);
}

}  // namespace limpid::cpu
#endif
