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
#include <span>
#include <vector>

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

HWY_INLINE const std::uint8_t* guide_at(const PictureSamples& guide, Position place) {
  return reinterpret_cast<const std::uint8_t*>(guide.data) + place.y * guide.stride + place.x;
}

// Whole vectors of several rows of a patch.
using RowsTag = hn::ScalableTag<std::int16_t>;
using RowsVector = hn::Vec<RowsTag>;
constexpr int kRowsAtOnce = static_cast<int>(hn::MaxLanes(RowsTag())) / vbm4d::kPatch;
constexpr int kRowsVectors = vbm4d::kPatch / kRowsAtOnce;

template <int kRows>
HWY_INLINE auto load_bytes_of_rows(const std::uint8_t* bytes, std::ptrdiff_t stride) {
  const hn::CappedTag<std::uint8_t, kRows * vbm4d::kPatch> d;
  if constexpr (kRows == 1) {
    return hn::LoadU(d, bytes);
  } else {
    return hn::Combine(d, load_bytes_of_rows<kRows / 2>(bytes + kRows / 2 * stride, stride),
                       load_bytes_of_rows<kRows / 2>(bytes, stride));
  }
}

template <bool kSamples>
HWY_INLINE RowsVector load_rows(const std::uint8_t* bytes, std::ptrdiff_t stride) {
  auto rows = load_bytes_of_rows<kRowsAtOnce>(bytes, stride);
  if constexpr (kSamples) {
    rows = hn::Max(rows, hn::Set(hn::DFromV<decltype(rows)>(), kLeastGuideByte));
  }
  return hn::BitCast(RowsTag(), hn::PromoteTo(hn::RebindToUnsigned<RowsTag>(), rows));
}

// A sum of squared differences.
class PatchDistance : public ProductSum<RowsTag> {
 public:
  HWY_INLINE void add(RowsVector a, RowsVector b) {
    const RowsVector difference = hn::Sub(a, b);
    ProductSum::add(difference, difference);
  }
};

// A patch's matching values, row by row and as vectors of several rows.
struct GuidePatch {
  GuideVector rows[vbm4d::kPatch];
  RowsVector vectors[kRowsVectors];
};

template <bool kSamples>
HWY_INLINE GuidePatch load_guide_patch(const PictureSamples& guide, Position place) {
  GuidePatch patch;
  const std::uint8_t* const first = guide_at(guide, place);
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    patch.rows[i] = load_guide<kSamples>(first + i * guide.stride);
  }
  for (int i = 0; i < kRowsVectors; ++i) {
    patch.vectors[i] = load_rows<kSamples>(first + i * kRowsAtOnce * guide.stride, guide.stride);
  }
  return patch;
}

template <bool kSamples>
HWY_INLINE std::int32_t patch_distance(const PictureSamples& guide, const GuidePatch& reference,
                                       Position place) {
  PatchDistance distance;
  distance.clear();
  const std::uint8_t* const first = guide_at(guide, place);
  for (int i = 0; i < kRowsVectors; ++i) {
    distance.add(reference.vectors[i],
                 load_rows<kSamples>(first + i * kRowsAtOnce * guide.stride, guide.stride));
  }
  return distance.get();
}

// The cheapest of several candidates: its cost times kMostNumbers plus its number, so that the first of
// equally cheap ones is the least. Costs are below 2^25 (vbm4d::TrajectoryBounds).
struct CandidateChoice {
  static constexpr int kNumberBits = 4;
  std::int32_t least = INT32_MAX;

  int number() const { return least & ((1 << kNumberBits) - 1); }
  std::int32_t distance(const vbm4d::TrajectoryBounds& bounds) const {
    return (least >> kNumberBits) - vbm4d::candidate_cost(number(), bounds);
  }
  void consider(int i, std::int32_t distance, const vbm4d::TrajectoryBounds& bounds) {
    least = std::min(least, ((distance + vbm4d::candidate_cost(i, bounds)) << kNumberBits) + i);
  }
};

// Tries all candidates around `center`, which lie inside the plane. Rows are loaded once for the candidates,
// one above the other, that share them.
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
  for (int y = 0; y <= vbm4d::kPatch - kRowsAtOnce + kAcross - 1; ++y) {
    if (y % kRowsAtOnce < kAcross) {
      HWY_UNROLL(3)
      for (int x = 0; x < kAcross; ++x) {
        const RowsVector values = load_rows<kSamples>(row + x, guide.stride);
        HWY_UNROLL(3)
        for (int down = 0; down < kAcross; ++down) {
          if (y >= down && (y - down) % kRowsAtOnce == 0 && y - down < vbm4d::kPatch) {
            distances[down * kAcross + x].add(reference.vectors[(y - down) / kRowsAtOnce], values);
          }
        }
      }
    }
    row += guide.stride;
  }
  const hn::CappedTag<std::int32_t, 4> d;
  const auto sums = [&](int i) HWY_ATTR {
    return sums_of_lanes(distances[i].lanes(), distances[i + 1].lanes(), distances[i + 2].lanes(),
                         distances[i + 3].lanes());
  };
  const auto numbered = [&](int i) HWY_ATTR {
    alignas(16) std::int32_t costs[4];
    for (int each = 0; each < 4; ++each) {
      costs[each] = (vbm4d::candidate_cost(i + each, bounds) << CandidateChoice::kNumberBits) + i + each;
    }
    return hn::Add(hn::ShiftLeft<CandidateChoice::kNumberBits>(sums(i)), hn::Load(d, costs));
  };
  static_assert(vbm4d::kCandidates == 9);
  CandidateChoice choice = {hn::GetLane(hn::MinOfLanes(d, hn::Min(numbered(0), numbered(4))))};
  choice.consider(8, distances[8].get(), bounds);
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

// The rows of a patch displaced by quarters of a sample to the right and down. load(x, y) loads samples at a
// distance from the patch's first ones, weight(w) makes a vector of an interpolation weight, and
// weighted(weights, value) is the sum of value(tap) by their weights.
template <class Vector, class Weight, class Load, class Weighted>
HWY_INLINE void interpolate_rows(int right, int below, Vector* out, const Weight& weight, const Load& load,
                                 const Weighted& weighted) {
  Vector across[vbm4d::kTaps];
  Vector down[vbm4d::kTaps];
  for (int tap = 0; tap < vbm4d::kTaps; ++tap) {
    across[tap] = weight(vbm4d::interpolation_weight(right, tap));
    down[tap] = weight(vbm4d::interpolation_weight(below, tap));
  }
  constexpr int kRows = vbm4d::kPatch + vbm4d::kTaps - 1;
  const int first = below == 0 ? vbm4d::kTapsBefore : 0;
  const int last = below == 0 ? first + vbm4d::kPatch : kRows;
  Vector rows[kRows];
  for (int i = first; i < last; ++i) {
    const int y = i - vbm4d::kTapsBefore;
    rows[i] = right == 0
                  ? load(0, y)
                  : weighted(across, [&](int tap) HWY_ATTR { return load(tap - vbm4d::kTapsBefore, y); });
  }
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    out[i] = below == 0 ? rows[i + vbm4d::kTapsBefore]
                        : weighted(down, [&](int tap) HWY_ATTR { return rows[i + tap]; });
  }
}

// Distance of the reference patch from the patch that lies the given quarters after `place`.
HWY_ATTR inline std::int32_t distance_between_samples(const PictureSamples& guide,
                                                      const GuidePatch& reference, Position place, int right,
                                                      int below) {
  const GuideTag d;
  GuideVector rows[vbm4d::kPatch];
  // 16 bits suffice: bytes are 0 to 255, weights add up to 64, and their magnitudes to 100.
  interpolate_rows(
      right, below, rows, [&](int weight) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(weight)); },
      [&](int x, int y) HWY_ATTR {
        return load_guide<false>(guide_at(guide, {place.x + x, place.y + y}));
      },
      [&](const auto& weights, const auto& value) HWY_ATTR {
        GuideVector sum = hn::Set(d, std::int16_t{1 << vbm4d::kWeightBits >> 1});
        HWY_UNROLL(6)
        for (int tap = 0; tap < vbm4d::kTaps; ++tap) {
          sum = hn::Add(sum, hn::Mul(value(tap), weights[tap]));
        }
        return hn::ShiftRight<vbm4d::kWeightBits>(sum);
      });
  PatchProduct distance;
  distance.clear();
  for (int i = 0; i < vbm4d::kPatch; ++i) {
    const GuideVector difference = hn::Sub(reference.rows[i], rows[i]);
    distance.add(difference, difference);
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
  if (distance <= job.bounds.sample_cost) {
    return {};
  }
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
  now = {u, candidate(choice.number()), {}};
  std::int32_t distance = choice.distance(job.bounds);
  if (job.bounds.quarters) {
    now.beside = find_beside(job, reference, gradient, u, place, distance);
  }
  return distance <= job.bounds.greatest;
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
  group.lost = false;
  // Both ways in turn, so that the processor overlaps their steps, each of which waits for the one before.
  struct Way {
    int direction;
    PlaceInTime now;
    int end = kCenter;
    bool ended = false;
  };
  Way ways[] = {{-1, trajectory[kCenter]}, {1, trajectory[kCenter]}};
  const int count = static_cast<int>(job.pictures.size());
  while (!ways[0].ended || !ways[1].ended) {
    for (auto& [direction, now, end, ended] : ways) {
      const int next = now.picture + direction;
      ended = ended || next < 0 || next >= count || is_cut(field_from(job, now.picture, direction));
      if (ended) {
        continue;
      }
      if (!follow<kSamples>(job, patch, gradient, field_from(job, now.picture, direction), next, now)) {
        group.lost = true;
        ended = true;
      } else if (!repeats<kNoisySamples>(job, now, trajectory[end])) {
        end += direction;
        trajectory[end] = now;
      }
    }
  }
  const int first = ways[0].end;
  const int last = ways[1].end;
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

// Limit of the samples that a tile's groups reach; beyond it, they are filtered in two halves. Motion that
// varies within a tile makes groups reach far. The sums of a part then fit a core's second-level cache, or
// nearly so.
constexpr std::size_t kMostLocalSamples = std::size_t{1} << 18;

// Filters groups and adds their estimates to the sums of the pictures. `reached(group, add)` calls
// add(picture, place) for each patch of a group that gets an estimate. `filter(plane, group, numerators,
// weights)` filters a group and adds these estimates to the numerators and weights of each picture.
template <class Group, class Reached, class Filter>
HWY_ATTR void filter_into_pictures(const TrajectoryJob& job, std::span<const Group> groups, TileSums& sums,
                                   const Reached& reached, const Filter& filter) {
  std::array<Area, vbm4d::kMostFrames> areas;
  areas.fill({job.width, job.height, 0, 0});
  for (const Group& group : groups) {
    reached(group, [&](int picture, const Position& place) {
      Area& area = areas[picture];
      area = {std::min(area.x0, place.x), std::min(area.y0, place.y),
              std::max(area.x1, place.x + vbm4d::kPatch), std::max(area.y1, place.y + vbm4d::kPatch)};
    });
  }
  const auto size_of = [](const Area& area) {
    return static_cast<std::ptrdiff_t>(std::max(area.x1 - area.x0, 0)) * std::max(area.y1 - area.y0, 0);
  };
  std::size_t samples = 0;
  for (Area& area : areas) {
    area.x0 = area.x0 / PictureSums::kAlignment * PictureSums::kAlignment;
    area.x1 = PictureSums::aligned(area.x1);
    samples += size_of(area);
  }
  if (samples > kMostLocalSamples && groups.size() > 1) {
    const std::size_t half = groups.size() / 2;
    filter_into_pictures(job, groups.first(half), sums, reached, filter);
    return filter_into_pictures(job, groups.subspan(half), sums, reached, filter);
  }
  sums.numerators.resize(std::max(sums.numerators.size(), samples));
  std::array<LocalNumerators, vbm4d::kMostFrames> numerators;
  float* next = sums.numerators.data();
  for (std::size_t f = 0; f < areas.size(); ++f) {
    numerators[f] = {next, areas[f].x0, areas[f].y0, areas[f].x1 - areas[f].x0};
    next += size_of(areas[f]);
  }
  for (int plane = 0; plane < static_cast<int>(job.noise.size()); ++plane) {
    for (const Group& group : groups) {
      filter(plane, group, numerators.data(), sums.weights.data());
    }
    for (std::size_t f = 0; f < areas.size(); ++f) {
      const Area& area = areas[f];
      if (size_of(area) == 0) {
        continue;
      }
      const FollowedPicture& picture = job.pictures[f];
      PictureSums& out = *picture.planes[plane].sums;
      out.add_weights(sums.weights[f]);
      sums.weights[f].clear();
      for_each_locked_row(job.width, area, *picture.locks, [&](int x, int y, int count) HWY_ATTR {
        out.take_numerators(x, y, numerators[f].samples + numerators[f].offset({x, y}), job.numerator_scale,
                            count);
      });
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
