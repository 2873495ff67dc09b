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
      const auto take = [&](const Position* positions, int found)
                            HWY_ATTR { join(job, positions, found, group_at(gx++)); };
      if (region->bytes) {
        match_row<vbm4d::kPatch, kByteProducts>(similar, *region, xs, count, similar.grid_y[gy],
                                                scratch.matching, take);
      } else {
        match_row<vbm4d::kPatch, false>(similar, *region, xs, count, similar.grid_y[gy], scratch.matching,
                                        take);
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
constexpr int kPatchVectors = kPatchSamples / kPatchLanes;

// The beginning of patch i's coefficients in a group, and the distance between their vectors.
constexpr int patch_begin(int i) {
  return i / kPatchesPerBlock * kBlockFloats + i % kPatchesPerBlock * kPatchLanes;
}
constexpr int kPatchSpacing = kPatchLanes * kPatchesPerBlock;

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
      hn::Store(x[v], d, group + v * kLanes);
    }
    group += kBlockFloats;
  }
}

// Loads a group's patches and transforms each in 2D.
HWY_ATTR void load_patches(const PatchInMemory* patches, int size, const PatchSamples& kept, float* group) {
  switch (kept.type) {
    case PatchSamples::Type::kUint8:
      return load_patches_of<std::uint8_t>(patches, size, kept, group);
    case PatchSamples::Type::kUint16:
      return load_patches_of<std::uint16_t>(patches, size, kept, group);
    case PatchSamples::Type::kInt16:
      return load_patches_of<std::int16_t>(patches, size, kept, group);
    case PatchSamples::Type::kFloat:
      return load_patches_of<float>(patches, size, kept, group);
  }
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
  const auto weighted = [&](int quarters, const auto& value) HWY_ATTR {
    PatchVector sum = hn::Zero(d);
    HWY_UNROLL(6)
    for (int tap = 0; tap < vbm4d::kTaps; ++tap) {
      sum =
          hn::MulAdd(value(tap),
                     hn::Set(d, kUnit * static_cast<float>(vbm4d::interpolation_weight(quarters, tap))), sum);
    }
    return sum;
  };
  constexpr int kRows = vbm4d::kPatch + vbm4d::kTaps - 1;
  const int first = below == 0 ? vbm4d::kTapsBefore : 0;
  const int last = below == 0 ? first + vbm4d::kPatch : kRows;
  for (int part = 0; part < vbm4d::kPatch / kPatchLanes; ++part) {
    PatchVector rows[kRows];
    for (int i = first; i < last; ++i) {
      const auto* row =
          reinterpret_cast<const Sample*>(patch.data + (i - vbm4d::kTapsBefore) * patch.stride) +
          part * kPatchLanes;
      rows[i] = right == 0
                    ? load(row)
                    : weighted(right, [&](int tap) HWY_ATTR { return load(row + tap - vbm4d::kTapsBefore); });
    }
    for (int i = 0; i < vbm4d::kPatch; ++i) {
      const PatchVector value = below == 0 ? rows[i + vbm4d::kTapsBefore]
                                           : weighted(below, [&](int tap) HWY_ATTR { return rows[i + tap]; });
      hn::StoreU(hn::MulAdd(value, hn::Set(d, kept.unit), hn::Set(d, kept.zero)), d,
                 out + i * vbm4d::kPatch + part * kPatchLanes);
    }
  }
}

HWY_ATTR void interpolate(const PatchInMemory& patch, int right, int below, const PatchSamples& kept,
                          float* out) {
  switch (kept.type) {
    case PatchSamples::Type::kUint8:
      return interpolate_of<std::uint8_t>(patch, right, below, kept, out);
    case PatchSamples::Type::kUint16:
      return interpolate_of<std::uint16_t>(patch, right, below, kept, out);
    case PatchSamples::Type::kInt16:
      return interpolate_of<std::int16_t>(patch, right, below, kept, out);
    case PatchSamples::Type::kFloat:
      return interpolate_of<float>(patch, right, below, kept, out);
  }
}

// The transform across a group: over time, by sums and differences of coefficients at equal distances from
// both ends, which give the DCT's even and odd coefficients; and Haar's across members.
struct AcrossGroup {
  const float* over_time;
  int frames;
  int members;

  HWY_INLINE void forward(PatchVector* x) const {
    const PatchTag d;
    for (int half = 1; half < members; half *= 2) {
      butterflies(x, half);
    }
    if (frames == 1) {
      return;
    }
    const int pairs = frames / 2;
    const bool odd = frames % 2 != 0;
    for (int m = 0; m < members; ++m) {
      PatchVector sums[vbm4d::kMostFrames];
      PatchVector differences[vbm4d::kMostFrames];
      for (int f = 0; f < pairs; ++f) {
        const PatchVector a = x[f * members + m];
        const PatchVector b = x[(frames - 1 - f) * members + m];
        sums[f] = hn::Add(a, b);
        differences[f] = hn::Sub(a, b);
      }
      const PatchVector middle = odd ? x[pairs * members + m] : hn::Zero(d);
      for (int k = 0; k < frames; ++k) {
        const float* factors = over_time + k * frames;
        const PatchVector* in = k % 2 == 0 ? sums : differences;
        PatchVector sum = hn::Mul(middle, hn::Set(d, odd ? factors[pairs] : 0.0F));
        for (int f = 0; f < pairs; ++f) {
          sum = hn::MulAdd(in[f], hn::Set(d, factors[f]), sum);
        }
        x[k * members + m] = sum;
      }
    }
  }

  HWY_INLINE void inverse(PatchVector* x) const {
    const PatchTag d;
    if (frames > 1) {
      for (int m = 0; m < members; ++m) {
        PatchVector in[vbm4d::kMostFrames];
        for (int k = 0; k < frames; ++k) {
          in[k] = x[k * members + m];
        }
        for (int f = 0; f < (frames + 1) / 2; ++f) {
          PatchVector even = hn::Zero(d);
          PatchVector odd = hn::Zero(d);
          for (int k = 0; k < frames; k += 2) {
            even = hn::MulAdd(in[k], hn::Set(d, over_time[k * frames + f]), even);
          }
          for (int k = 1; k < frames; k += 2) {
            odd = hn::MulAdd(in[k], hn::Set(d, over_time[k * frames + f]), odd);
          }
          x[f * members + m] = hn::Add(even, odd);
          x[(frames - 1 - f) * members + m] = hn::Sub(even, odd);
        }
      }
    }
    for (int half = members / 2; half >= 1; half /= 2) {
      butterflies(x, half);
    }
  }

 private:
  HWY_INLINE void butterflies(PatchVector* x, int half) const {
    const auto scale = hn::Set(PatchTag(), kHalfSqrt);
    for (int f = 0; f < frames; ++f) {
      for (int m = 0; m < members; m += 2 * half) {
        PatchVector& a = x[f * members + m];
        PatchVector& b = x[f * members + m + half];
        const PatchVector sum = hn::Mul(hn::Add(a, b), scale);
        b = hn::Mul(hn::Sub(a, b), scale);
        a = sum;
      }
    }
  }
};

// Shrinks a group's coefficients as hard_threshold() and wiener() of group_filter-inl.h do. Returns the
// group's weight.
template <bool kWiener>
HWY_ATTR float shrink(const AcrossGroup& across, float* noisy, const float* basic,
                      const CoefficientNoise& noise, const vbm4d::NoiseOverTime& over_time, float deviation) {
  const PatchTag d;
  const int size = across.frames * across.members;
  const auto of_constant = hn::Set(d, over_time.of(0, across.frames, size));
  const auto of_changing = hn::Set(d, over_time.of(size - 1, across.frames, size));
  const auto gain = hn::Set(d, kWiener ? deviation * deviation : deviation);
  auto left = hn::Zero(d);
  PatchVector x[vbm4d::kMostPatches];
  PatchVector factors[kWiener ? vbm4d::kMostPatches : 1];
  for (int v = 0; v < kPatchVectors; ++v) {
    const auto bound = hn::Mul(hn::LoadU(d, noise.bounds.data() + v * kPatchLanes), gain);
    const PatchVector bounds[2] = {hn::Mul(bound, of_constant), hn::Mul(bound, of_changing)};
    const auto variance = hn::LoadU(d, noise.variances.data() + v * kPatchLanes);
    const std::ptrdiff_t offset = std::ptrdiff_t{v} * kPatchSpacing;
    if constexpr (kWiener) {
      for (int i = 0; i < size; ++i) {
        factors[i] = hn::Load(d, basic + patch_begin(i) + offset);
      }
      across.forward(factors);
      for (int i = 0; i < size; ++i) {
        const auto signal = hn::Mul(factors[i], factors[i]);
        factors[i] = hn::Div(signal, hn::Add(signal, bounds[i < across.members ? 0 : 1]));
        left = hn::MulAdd(hn::Mul(factors[i], variance), factors[i], left);
      }
    }
    for (int i = 0; i < size; ++i) {
      x[i] = hn::Load(d, noisy + patch_begin(i) + offset);
    }
    across.forward(x);
    for (int i = 0; i < size; ++i) {
      if constexpr (kWiener) {
        x[i] = hn::Mul(x[i], factors[i]);
      } else {
        auto keep = hn::Gt(hn::Abs(x[i]), bounds[i < across.members ? 0 : 1]);
        if (v == 0 && i == 0) {
          keep = hn::Or(keep, hn::FirstN(d, 1));
        }
        left = hn::Add(left, hn::IfThenElseZero(keep, variance));
        x[i] = hn::IfThenElseZero(keep, x[i]);
      }
    }
    across.inverse(x);
    for (int i = 0; i < size; ++i) {
      hn::Store(x[i], d, noisy + patch_begin(i) + offset);
    }
  }
  return weight_factor(noise.least_deviation, deviation) /
         std::max(1.0F, hn::GetLane(hn::SumOfLanes(d, left)));
}

// Transforms the patches from `first_patch` on back and adds them, minus kSumsOffset, to the sums, one for
// each frame.
HWY_ATTR void aggregate_patches(float* coefficients, const TrajectoryGroup& group, int first_patch,
                                float weight, const float* window, const LocalNumerators* sums) {
  const FloatTag d;
  constexpr double kGain = Dct8::kForwardDc * Dct8::kInverseDc;
  const auto factor = hn::Set(d, static_cast<float>(double{weight} / (kGain * kGain)));
  const auto gray = hn::IfThenElseZero(
      first_coefficients(),
      hn::Set(d, static_cast<float>(double{kSumsOffset} * Dct8::kForwardDc * Dct8::kForwardDc)));
  FloatVector scale[kBlockVectors];
  for (int row = 0; row < 8; ++row) {
    for (int part = 0; part < kParts; ++part) {
      const float* in = window + row * 8 + part * kLanes;
      scale[row * kParts + part] = hn::Mul(factor, load_row(d, in, in));
    }
  }
  const int size = group.size();
  for (int i = first_patch / kPatchesPerBlock * kPatchesPerBlock; i < size; i += kPatchesPerBlock) {
    FloatVector x[kBlockVectors];
    const float* block = coefficients + i / kPatchesPerBlock * kBlockFloats;
    for (int v = 0; v < kBlockVectors; ++v) {
      x[v] = hn::Load(d, block + v * kLanes);
    }
    x[0] = hn::Sub(x[0], gray);
    inverse_2d<Dct8>(x);
    const auto add = [&](int patch, auto tag, auto part_of) HWY_ATTR {
      if (group.is_between_samples(patch)) {
        return;
      }
      const LocalNumerators& into = sums[group.pictures[patch]];
      const std::ptrdiff_t offset = into.offset(group.places[patch]);
      for (int row = 0; row < 8; ++row) {
        for (int part = 0; part < kParts; ++part) {
          float* out = into.samples + offset + static_cast<std::ptrdiff_t>(row) * into.pitch + part * kLanes;
          const int v = row * kParts + part;
          hn::StoreU(hn::Add(hn::LoadU(tag, out), part_of(hn::Mul(x[v], scale[v]))), tag, out);
        }
      }
    };
    if constexpr (kPatchesPerBlock == 2) {
      const hn::Half<FloatTag> half;
      if (i >= first_patch) {
        add(i, half, [&](FloatVector v) HWY_ATTR { return hn::LowerHalf(half, v); });
      }
      if (i + 1 < size) {
        add(i + 1, half, [&](FloatVector v) HWY_ATTR { return hn::UpperHalf(half, v); });
      }
    } else {
      add(i, d, [](FloatVector v) HWY_ATTR { return v; });
    }
  }
}

HWY_ATTR void filter_group(const TrajectoryJob& job, int plane, const TrajectoryGroup& group, int first_patch,
                           TrajectoryScratch& scratch, const LocalNumerators* sums) {
  const int size = group.size();
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
    if (!between_samples) {
      return load_patches(patches.data(), size, kept, into);
    }
    for (int i = 0; i < size; ++i) {
      float* const samples = scratch.samples.data() + i * kPatchSamples;
      interpolate(patches[i], group.right[i], group.below[i], kept, samples);
      patches[i] = {reinterpret_cast<const std::byte*>(samples), vbm4d::kPatch * sizeof(float)};
    }
    load_patches_of<float>(patches.data(), size, PatchSamples(), into);
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
                                                  : group_mean(job.wiener ? basic : noisy, size);
  const float deviation = noise.deviation_of(brightness);
  const AcrossGroup across = {time_transform(group.frames), group.frames, group.members};
  const unsigned weight = PictureSums::weight_units(
      (job.wiener ? shrink<true> : shrink<false>)(across, noisy, basic, noise, job.noise_over_time[plane],
                                                  deviation));
  for (int i = first_patch; i < size; ++i) {
    if (group.is_between_samples(i)) {
      continue;
    }
    const Position& place = group.places[i];
    job.pictures[group.pictures[i]].planes[plane].sums->add_weight(place.x, place.y, weight);
  }
  aggregate_patches(noisy, group, first_patch,
                    std::ldexp(static_cast<float>(weight), -PictureSums::kWeightBits),
                    job.tables->window.data(), sums);
}

// ---------------------------------------------------------------------------------------------------------------------
// Tiles

// The first patch of a group whose picture still needs estimates.
inline int first_wanted(const TrajectoryJob& job, const TrajectoryGroup& group) {
  int patch = 0;
  while (job.pictures[group.pictures[patch]].planes[0].sums == nullptr) {
    ++patch;
  }
  return patch;
}

// Limit of the samples that a tile's groups reach; beyond it, they are filtered in two halves. Motion that
// varies within a tile makes groups reach far. The sums of a part then fit a core's second-level cache, or
// nearly so.
constexpr std::size_t kMostLocalSamples = std::size_t{1} << 18;

HWY_ATTR void filter_groups(const TrajectoryJob& job, std::span<const TrajectoryGroup> groups,
                            TrajectoryScratch& scratch) {
  std::array<Area, vbm4d::kMostFrames> areas;
  areas.fill({job.width, job.height, 0, 0});
  for (const TrajectoryGroup& group : groups) {
    for (int i = first_wanted(job, group); i < group.size(); ++i) {
      Area& area = areas[group.pictures[i]];
      const Position& place = group.places[i];
      area = {std::min(area.x0, place.x), std::min(area.y0, place.y),
              std::max(area.x1, place.x + vbm4d::kPatch), std::max(area.y1, place.y + vbm4d::kPatch)};
    }
  }
  std::size_t samples = 0;
  for (Area& area : areas) {
    area.x0 = area.x0 / PictureSums::kAlignment * PictureSums::kAlignment;
    area.x1 = PictureSums::aligned(area.x1);
    samples += static_cast<std::size_t>(std::max(area.x1 - area.x0, 0)) * std::max(area.y1 - area.y0, 0);
  }
  if (samples > kMostLocalSamples && groups.size() > 1) {
    const std::size_t half = groups.size() / 2;
    filter_groups(job, groups.first(half), scratch);
    return filter_groups(job, groups.subspan(half), scratch);
  }
  for (int plane = 0; plane < static_cast<int>(job.noise.size()); ++plane) {
    // All sums are 0 between tiles.
    scratch.sums.resize(std::max(scratch.sums.size(), samples));
    std::array<LocalNumerators, vbm4d::kMostFrames> sums;
    float* next = scratch.sums.data();
    for (std::size_t f = 0; f < sums.size(); ++f) {
      const Area& area = areas[f];
      sums[f] = {next, area.x0, area.y0, area.x1 - area.x0};
      next += static_cast<std::ptrdiff_t>(std::max(area.x1 - area.x0, 0)) * std::max(area.y1 - area.y0, 0);
    }
    for (const TrajectoryGroup& group : groups) {
      filter_group(job, plane, group, first_wanted(job, group), scratch, sums.data());
    }
    for (std::size_t f = 0; f < sums.size(); ++f) {
      if (areas[f].x1 > areas[f].x0) {
        add_to_picture(job, job.pictures[f], plane, sums[f], areas[f]);
      }
    }
  }
}

HWY_ATTR void process_tile_groups(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch) {
  constexpr std::size_t kGroupFloats =
      std::size_t{(vbm4d::kMostPatches + kPatchesPerBlock - 1) / kPatchesPerBlock} * kBlockFloats;
  scratch.noisy_group.resize(kGroupFloats);
  scratch.basic_group.resize(kGroupFloats);
  scratch.samples.resize(kPatchSamples * vbm4d::kMostPatches);
  find_groups(job, tile, scratch);
  filter_groups(job, scratch.groups, scratch);
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
