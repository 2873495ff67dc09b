// SPDX-License-Identifier: MIT
// Following a reference patch from picture to picture (core/vbm4d/trajectories.h). Compiled once per SIMD
// target.
#if defined(LIMPID_CPU_FOLLOWED_PATCHES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_FOLLOWED_PATCHES_INL_H_
#undef LIMPID_CPU_FOLLOWED_PATCHES_INL_H_
#else
#define LIMPID_CPU_FOLLOWED_PATCHES_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/motion/motion_field.h"
#include "core/vbm4d/trajectories.h"
#include "cpu/bm3d/group_filter-inl.h"
#include "cpu/runtime/products-inl.h"
#include "cpu/vbm4d/trajectory_tile.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using GuideTag = hn::CappedTag<std::int16_t, vbm4d::kPatch>;
using GuideVector = hn::Vec<GuideTag>;
static_assert(hn::MaxLanes(GuideTag()) == vbm4d::kPatch);

// A row of a patch's guide. `kSamples`: the guide consists of samples (TrajectoryJob).
template <bool kSamples>
HWY_INLINE GuideVector load_guide(const std::uint8_t* bytes) {
  const hn::RebindToUnsigned<GuideTag> unsigned16;
  const hn::Rebind<std::uint8_t, GuideTag> d8;
  auto row = hn::LoadU(d8, bytes);
  if constexpr (kSamples) {
    row = hn::Max(row, hn::Set(d8, kLeastGuideByte));
  }
  return hn::BitCast(GuideTag(), hn::PromoteTo(unsigned16, row));
}

// The brightness of the patch in the current picture's guide.
inline float brightness_in_guide(const TrajectoryJob& job, Position reference) {
  const PictureSamples& guide = job.pictures[job.current].guide;
  int sum = 0;
  for (int y = 0; y < vbm4d::kPatch; ++y) {
    const auto* row =
        reinterpret_cast<const std::uint8_t*>(guide.data) + (reference.y + y) * guide.stride + reference.x;
    for (int x = 0; x < vbm4d::kPatch; ++x) {
      sum += std::max<int>(row[x], kLeastGuideByte) - 128;
    }
  }
  return brightness_of(sum, vbm4d::kPatch * vbm4d::kPatch, vbm4d::kGuideScale.scale);
}

using PatchProduct = ProductSum<GuideTag>;

// A sum of squared differences.
class PatchDistance : public PatchProduct {
 public:
  HWY_INLINE void add(GuideVector a, GuideVector b) {
    const GuideVector difference = hn::Sub(a, b);
    PatchProduct::add(difference, difference);
  }
};

HWY_INLINE const std::uint8_t* guide_at(const PictureSamples& guide, Position place) {
  return reinterpret_cast<const std::uint8_t*>(guide.data) + place.y * guide.stride + place.x;
}

// A patch's matching values.
struct GuidePatch {
  GuideVector rows[vbm4d::kPatch];
};

template <bool kSamples>
HWY_INLINE GuidePatch load_guide_patch(const PictureSamples& guide, Position place) {
  GuidePatch patch;
  const std::uint8_t* row = guide_at(guide, place);
  for (GuideVector& each : patch.rows) {
    each = load_guide<kSamples>(row);
    row += guide.stride;
  }
  return patch;
}

template <bool kSamples>
HWY_INLINE std::int32_t patch_distance(const PictureSamples& guide, const GuidePatch& reference,
                                       Position place) {
  PatchDistance distance;
  distance.clear();
  const std::uint8_t* row = guide_at(guide, place);
  for (const GuideVector& own : reference.rows) {
    distance.add(own, load_guide<kSamples>(row));
    row += guide.stride;
  }
  return distance.get();
}

// Selects the cheapest candidate without branches, which would be hard to predict.
struct CandidateChoice {
  std::int32_t cost = INT32_MAX;
  std::int32_t distance = 0;
  int number = 0;

  HWY_INLINE void consider(int i, std::int32_t its_distance, const vbm4d::TrajectoryBounds& bounds) {
    const std::int32_t its_cost = its_distance + vbm4d::candidate_cost(i, bounds);
    const bool better = its_cost < cost;
    number = better ? i : number;
    distance = better ? its_distance : distance;
    cost = better ? its_cost : cost;
  }
};

// Tries all candidates around `center`, which lie inside the plane. Each row is loaded once for the three
// candidates, one above the other, that share it.
template <bool kSamples>
HWY_INLINE CandidateChoice try_all_candidates(const PictureSamples& guide, const GuidePatch& reference,
                                              Position center, const vbm4d::TrajectoryBounds& bounds) {
  constexpr int kAcross = 3;
  PatchDistance distances[vbm4d::kCandidates];
  for (PatchDistance& each : distances) {
    each.clear();
  }
  const std::uint8_t* row = guide_at(guide, {center.x - 1, center.y - 1});
  HWY_UNROLL(10)
  for (int y = 0; y < vbm4d::kPatch + kAcross - 1; ++y) {
    HWY_UNROLL(3)
    for (int x = 0; x < kAcross; ++x) {
      const GuideVector values = load_guide<kSamples>(row + x);
      HWY_UNROLL(3)
      for (int down = 0; down < kAcross; ++down) {
        if (y >= down && y - down < vbm4d::kPatch) {
          distances[down * kAcross + x].add(reference.rows[y - down], values);
        }
      }
    }
    row += guide.stride;
  }
  CandidateChoice choice;
  HWY_UNROLL(9)
  for (int i = 0; i < vbm4d::kCandidates; ++i) {
    choice.consider(i, distances[i].get(), bounds);
  }
  return choice;
}

// A reference patch's gradient.
struct GuideGradient {
  GuideVector x[vbm4d::kPatch];
  GuideVector y[vbm4d::kPatch];
  vbm4d::GradientProducts products;
};

HWY_ATTR inline GuideGradient gradient_of(const GuidePatch& patch) {
  const GuideTag d;
  constexpr int kLast = vbm4d::kPatch - 1;
  const auto limit = hn::Set(d, std::int16_t{vbm4d::kGreatestGradient});
  const auto of = [&](GuideVector before, GuideVector after) HWY_ATTR {
    const GuideVector whole = hn::Sub(after, before);
    return hn::ShiftRight<1>(hn::Sub(whole, hn::ShiftRight<15>(whole)));  // toward 0
  };
  const auto of_border = [&](GuideVector before, GuideVector after) HWY_ATTR {
    return hn::Max(hn::Min(hn::Sub(after, before), limit), hn::Neg(limit));
  };
  const auto first = hn::FirstN(d, 1);
  const auto inner = hn::FirstN(d, kLast);
  PatchProduct xx;
  PatchProduct xy;
  PatchProduct yy;
  xx.clear();
  xy.clear();
  yy.clear();
  GuideGradient gradient;
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    const GuideVector row = patch.rows[i];
    const GuideVector left = hn::ShiftLeftLanes<1>(d, row);
    const GuideVector right = hn::ShiftRightLanes<1>(d, row);
    gradient.x[i] = hn::IfThenElse(first, of_border(row, right),
                                   hn::IfThenElse(inner, of(left, right), of_border(left, row)));
    gradient.y[i] = i == 0       ? of_border(row, patch.rows[1])
                    : i == kLast ? of_border(patch.rows[i - 1], row)
                                 : of(patch.rows[i - 1], patch.rows[i + 1]);
    xx.add(gradient.x[i], gradient.x[i]);
    xy.add(gradient.x[i], gradient.y[i]);
    yy.add(gradient.y[i], gradient.y[i]);
  }
  gradient.products = {xx.get(), xy.get(), yy.get()};
  return gradient;
}

// Distance of the reference patch from the patch that lies the given quarters after `place`.
HWY_ATTR inline std::int32_t distance_between_samples(const PictureSamples& guide,
                                                      const GuidePatch& reference, Position place, int right,
                                                      int below) {
  const GuideTag d;
  const auto weighted = [&](int quarters, const auto& value) HWY_ATTR {
    GuideVector sum = hn::Set(d, std::int16_t{1 << vbm4d::kWeightBits >> 1});
    HWY_UNROLL(6)
    for (int tap = 0; tap < vbm4d::kTaps; ++tap) {
      const auto weight = static_cast<std::int16_t>(vbm4d::interpolation_weight(quarters, tap));
      sum = hn::Add(sum, hn::Mul(value(tap), hn::Set(d, weight)));
    }
    return hn::ShiftRight<vbm4d::kWeightBits>(sum);
  };
  // 16 bits suffice: bytes are 0 to 255, weights add up to 64, and their magnitudes to 100.
  GuideVector rows[vbm4d::kPatch + vbm4d::kTaps - 1];
  const std::uint8_t* row = guide_at(guide, {place.x - vbm4d::kTapsBefore, place.y - vbm4d::kTapsBefore});
  for (GuideVector& each : rows) {
    each = right == 0 ? load_guide<false>(row + vbm4d::kTapsBefore)
                      : weighted(right, [&](int tap) HWY_ATTR { return load_guide<false>(row + tap); });
    row += guide.stride;
  }
  PatchDistance distance;
  distance.clear();
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    distance.add(reference.rows[i], below == 0
                                        ? rows[i + vbm4d::kTapsBefore]
                                        : weighted(below, [&](int tap) HWY_ATTR { return rows[i + tap]; }));
  }
  return distance.get();
}

struct PlaceInTime {
  int picture = 0;
  Position place;
  vbm4d::QuarterVector beside = {};
};

// The displacement of the reference patch from `place` in picture `u`, where the patch differs from it by
// `distance`.
HWY_ATTR inline vbm4d::QuarterVector find_beside(const TrajectoryJob& job, const GuidePatch& reference,
                                                 const GuideGradient& gradient, int u, Position place,
                                                 std::int32_t& distance) {
  const PictureSamples& guide = job.pictures[u].guide;
  PatchProduct x;
  PatchProduct y;
  x.clear();
  y.clear();
  const std::uint8_t* row = guide_at(guide, place);
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    const GuideVector greater = hn::Sub(reference.rows[i], load_guide<false>(row));
    x.add(gradient.x[i], greater);
    y.add(gradient.y[i], greater);
    row += guide.stride;
  }
  const vbm4d::QuarterVector found = vbm4d::beside(gradient.products, x.get(), y.get());
  const Position whole = {place.x + vbm4d::whole_of(found.x), place.y + vbm4d::whole_of(found.y)};
  if (found == vbm4d::QuarterVector() || !vbm4d::is_surrounded(whole.x, whole.y, job.width, job.height)) {
    return {};
  }
  const std::int32_t there =
      distance_between_samples(guide, reference, whole, vbm4d::rest_of(found.x), vbm4d::rest_of(found.y));
  if (there + job.bounds.sample_cost >= distance) {
    return {};
  }
  distance = there;
  return found;
}

// The motion from a picture to the one before it (-1) or after it (1).
inline const MotionField& field_from(const TrajectoryJob& job, int picture, int direction) {
  return direction < 0 ? *job.pictures[picture].back : *job.pictures[picture].ahead;
}

inline bool is_cut(const MotionField& field) { return field.vectors[0] == vbm4d::kNowhere; }

// Finds the reference patch in picture `u`, given that it was at `now` in an adjacent picture. Returns false
// if it is lost. `gradient` is used if positions have an accuracy of quarters of a sample.
template <bool kSamples>
HWY_ATTR bool follow(const TrajectoryJob& job, const GuidePatch& reference, const GuideGradient& gradient,
                     const MotionField& field, int u, PlaceInTime& now) {
  Position& place = now.place;
  const MotionVector& vector = field.vectors[vbm4d::predicting_block(place.x, place.y, job.shift_x,
                                                                     job.shift_y, field.columns, field.rows)];
  const int most_x = job.width - vbm4d::kPatch;
  const int most_y = job.height - vbm4d::kPatch;
  const Position center = {vbm4d::confined(place.x + vbm4d::scaled(vector.x, job.shift_x), most_x),
                           vbm4d::confined(place.y + vbm4d::scaled(vector.y, job.shift_y), most_y)};
  const PictureSamples& guide = job.pictures[u].guide;
  const auto candidate = [&](int i) {
    return Position{center.x + vbm4d::candidate_x(i), center.y + vbm4d::candidate_y(i)};
  };
  CandidateChoice choice;
  if (center.x > 0 && center.y > 0 && center.x < most_x && center.y < most_y) {
    choice = try_all_candidates<kSamples>(guide, reference, center, job.bounds);
  } else {
    for (int i = 0; i < vbm4d::kCandidates; ++i) {
      const Position tried = candidate(i);
      if (tried.x >= 0 && tried.y >= 0 && tried.x <= most_x && tried.y <= most_y) {
        choice.consider(i, patch_distance<kSamples>(guide, reference, tried), job.bounds);
      }
    }
  }
  now = {u, candidate(choice.number), {}};
  if (job.bounds.quarters) {
    now.beside = find_beside(job, reference, gradient, u, place, choice.distance);
  }
  return choice.distance <= job.bounds.greatest;
}

// True if the patch repeats the other one including its noise. A patch of a single value has no noise.
template <bool kSamples>
HWY_ATTR bool repeats(const TrajectoryJob& job, const PlaceInTime& patch, const PlaceInTime& other) {
  const GuideTag d;
  const PictureSamples& guide = job.pictures[patch.picture].noisy_guide;
  const PictureSamples& others = job.pictures[other.picture].noisy_guide;
  const std::uint8_t* a = guide_at(guide, patch.place);
  const std::uint8_t* b = guide_at(others, other.place);
  const auto first =
      hn::Set(d, static_cast<std::int16_t>(kSamples ? std::max<int>(*a, kLeastGuideByte) : *a));
  bool flat = true;
  for (int y = 0; y < vbm4d::kPatch; ++y) {
    const GuideVector row = load_guide<kSamples>(a);
    if (!hn::AllTrue(d, hn::Eq(row, load_guide<kSamples>(b)))) {
      return false;
    }
    flat = flat && hn::AllTrue(d, hn::Eq(row, first));
    a += guide.stride;
    b += others.stride;
  }
  return !flat;
}

// The trajectory of a reference patch. The parameters specify whether guides consist of samples.
template <bool kSamples, bool kNoisySamples>
HWY_ATTR void follow_both_ways_in(const TrajectoryJob& job, Position reference, TrajectoryGroup& group) {
  const GuidePatch patch = load_guide_patch<kSamples>(job.pictures[job.current].guide, reference);
  const GuideGradient gradient = job.bounds.quarters ? gradient_of(patch) : GuideGradient();
  std::array<PlaceInTime, 2 * vbm4d::kMostReach + 1> trajectory;
  constexpr int kCenter = vbm4d::kMostReach;
  trajectory[kCenter] = {job.current, reference};
  int first = kCenter;
  int last = kCenter;
  group.lost = false;
  const auto follow_one_way = [&](int direction, int& end) HWY_ATTR {
    PlaceInTime now = trajectory[kCenter];
    const int count = static_cast<int>(job.pictures.size());
    while (now.picture + direction >= 0 && now.picture + direction < count) {
      const MotionField& field = field_from(job, now.picture, direction);
      if (is_cut(field)) {
        break;
      }
      if (!follow<kSamples>(job, patch, gradient, field, now.picture + direction, now)) {
        group.lost = true;
        break;
      }
      if (!repeats<kNoisySamples>(job, now, trajectory[end])) {
        end += direction;
        trajectory[end] = now;
      }
    }
  };
  follow_one_way(-1, first);
  follow_one_way(1, last);
  group.reference = reference;
  group.frames = last - first + 1;
  group.members = 1;
  for (int f = 0; f < group.frames; ++f) {
    const auto& [picture, place, beside] = trajectory[first + f];
    group.pictures[f] = static_cast<std::int8_t>(picture);
    group.places[f] = {place.x + vbm4d::whole_of(beside.x), place.y + vbm4d::whole_of(beside.y)};
    group.right[f] = static_cast<std::uint8_t>(vbm4d::rest_of(beside.x));
    group.below[f] = static_cast<std::uint8_t>(vbm4d::rest_of(beside.y));
  }
}

inline HWY_ATTR void follow_both_ways(const TrajectoryJob& job, Position reference, TrajectoryGroup& group) {
  if (job.guide_is_samples) {
    follow_both_ways_in<true, true>(job, reference, group);
  } else if (job.noisy_guide_is_samples) {
    follow_both_ways_in<false, true>(job, reference, group);
  } else {
    follow_both_ways_in<false, false>(job, reference, group);
  }
}

// A tile's numerators of one plane of a picture: floats for the samples that its groups reach.
struct LocalNumerators {
  float* samples = nullptr;
  int x0 = 0;
  int y0 = 0;
  int pitch = 0;

  std::ptrdiff_t offset(Position position) const {
    return static_cast<std::ptrdiff_t>(position.y - y0) * pitch + position.x - x0;
  }
};

inline HWY_ATTR void add_to_picture(const TrajectoryJob& job, const FollowedPicture& picture, int plane,
                                    const LocalNumerators& sums, const Area& area) {
  PictureSums& out = *picture.planes[plane].sums;
  for_each_locked_row(job.width, area, *picture.locks, [&](int x, int y, int count) HWY_ATTR {
    out.take_numerators(x, y, sums.samples + sums.offset({x, y}), job.numerator_scale, count);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
