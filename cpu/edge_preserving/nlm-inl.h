// SPDX-License-Identifier: MIT
// Non-local means with or without bilateral weights. Compiled once for each SIMD target by Highway's
// foreach_target, hence the toggled include guard.
#if defined(LIMPID_CPU_NLM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LIMPID_CPU_NLM_INL_H_
#undef LIMPID_CPU_NLM_INL_H_
#else
#define LIMPID_CPU_NLM_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "cpu/edge_preserving/edge_preserving_kernels.h"
#include "cpu/edge_preserving/exp2-inl.h"
#include "cpu/runtime/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

// For one offset o = q - p at a time, the distances of all patches of the tile to those at o are computed
// together: sums of squared differences over the patch's height slide from row to row, and these are summed
// over its width. Each weight serves p and q, so only half of the window's offsets are visited. For that,
// weights are computed in the bounding rectangle of the tile and the tile moved by -o, unless the two are so
// far apart that separate visits cost less.

// Sums over a part of the offsets, which keep the precision of small weights. Sums outside the tile are
// discarded.
struct LocalSums {
  int x0 = 0;  // position of the first sample in the plane
  int y0 = 0;
  std::ptrdiff_t pitch = 0;
  float* differences = nullptr;
  float* weights = nullptr;

  std::ptrdiff_t index(int x, int y) const { return (y - y0) * pitch + (x - x0); }
};

// An offset and the samples p for which it is visited.
struct Visit {
  int offset_x = 0;
  int offset_y = 0;  // >= 0
  PatchTile area;    // p and p + o lie in the plane
  int valid_x0 = 0;  // columns in which both x and x + offset_x lie in the plane
  int valid_x1 = 0;
};

// The results to which the weight w(p, q) is added: those of both samples, of p, or of q.
enum class Use { kBoth, kForP, kForQ };

HWY_INLINE int overlap(int center, int radius, int first, int end) {
  return std::min(center + radius + 1, end) - std::max(center - radius, first);
}

// Updates columns[x - first] by the rows that enter and leave the columns, for x from first to end - 1.
// `keep` has ones for the members of each pair that lie in the plane.
HWY_INLINE void slide_columns(const std::int16_t* HWY_RESTRICT p, const std::int16_t* HWY_RESTRICT q,
                              int count, std::int32_t keep, std::int32_t* HWY_RESTRICT columns) {
  const IntTag d;
  const hn::RepartitionToNarrow<IntTag> d16;
  const IntVector kept = hn::Set(d, keep);
  const IntVector high = hn::Set(d, static_cast<std::int32_t>(0xFFFF0000U));
  const auto change = [&](int i) HWY_ATTR {
    const auto difference = hn::Sub(hn::LoadU(d16, p + 2 * i), hn::LoadU(d16, q + 2 * i));
    // (enter, leave) (enter, -leave): the squares of both, the second subtracted.
    const auto negated = hn::Sub(hn::Xor(difference, hn::BitCast(d16, high)), hn::BitCast(d16, high));
    const IntVector factor = hn::And(hn::BitCast(d, negated), kept);
    return add_products_of_pairs(hn::Zero(d), hn::BitCast(d, difference), factor);
  };
  int i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, columns + i), change(i)), d, columns + i);
  }
  if (i < count) {
    const IntVector gain = hn::IfThenElseZero(hn::FirstN(d, count - i), change(i));
    hn::StoreU(hn::Add(hn::LoadU(d, columns + i), gain), d, columns + i);
  }
}

// kPatch: the patch's side, or 0 for any.
template <int kPatch, bool kBilateral, Use kUse>
HWY_ATTR void visit(const PatchJob& job, const Visit& where, PatchScratch& scratch, const LocalSums& sums) {
  const FloatTag d;
  const IntTag di;
  const PatchWeights& weights = job.weights;
  const int radius = kPatch != 0 ? kPatch / 2 : weights.patch_radius;
  const int side = 2 * radius + 1;
  const PatchTile& area = where.area;
  const int width = area.x1 - area.x0;
  const int valid_y1 = job.height - where.offset_y;
  const std::ptrdiff_t to_q = where.offset_y * job.pitch + where.offset_x;

  // columns[i] belongs to column area.x0 - radius + i and stays 0 where it is not valid.
  std::int32_t* columns = scratch.columns.data();
  std::fill_n(columns, width + side + kRowSlack, 0);
  const int first = std::max(area.x0 - radius, where.valid_x0);
  const int count = std::min(area.x1 + radius, where.valid_x1) - first;
  std::int32_t* first_column = columns + (first - (area.x0 - radius));
  const auto slide_to = [&](int y, std::int32_t keep) HWY_ATTR {
    const std::int16_t* p = job.pair_row(y) + 2 * first;
    slide_columns(p, p + 2 * to_q, count, keep, first_column);
  };
  constexpr std::int32_t kComing = 0xFFFF;
  constexpr auto kLeaving = static_cast<std::int32_t>(0xFFFF0000U);
  for (int y = std::max(area.y0 - radius, 0); y < std::min(area.y0 + radius, valid_y1); ++y) {
    slide_to(y - radius, kComing);
  }

  float* scales = scratch.column_scales.data();
  for (int x = area.x0; x < area.x1; ++x) {
    scales[x - area.x0] =
        weights.patch / static_cast<float>(overlap(x, radius, where.valid_x0, where.valid_x1));
  }
  const FloatVector offset = hn::Set(d, weights.offset + kExp2Shift);
  const FloatVector range = hn::Set(d, weights.range);
  const int distance = where.offset_x * where.offset_x + where.offset_y * where.offset_y;
  const FloatVector spatial = hn::Set(d, -weights.spatial * static_cast<float>(distance));

  for (int y = area.y0; y < area.y1; ++y) {
    slide_to(y, (y + radius < valid_y1 ? kComing : 0) | (y > area.y0 && y > radius ? kLeaving : 0));
    const FloatVector row_scale = hn::Set(d, 1 / static_cast<float>(overlap(y, radius, 0, valid_y1)));
    const float* in_p = job.sample_row(y) + area.x0;
    const float* in_q = in_p + to_q;
    const std::ptrdiff_t sums_p = sums.index(area.x0, y);
    const std::ptrdiff_t sums_q = sums.index(area.x0 + where.offset_x, y + where.offset_y);
    const auto add = [&](int i, bool whole) HWY_ATTR {
      IntVector sum = hn::LoadU(di, columns + i);
      for (int t = 1; t < side; ++t) {
        sum = hn::Add(sum, hn::LoadU(di, columns + i + t));
      }
      const FloatVector scaled = hn::Mul(hn::ConvertTo(d, sum), hn::LoadU(d, scales + i));
      const FloatVector difference = hn::Sub(hn::LoadU(d, in_q + i), hn::LoadU(d, in_p + i));
      FloatVector exponent = hn::NegMulAdd(scaled, row_scale, offset);
      if constexpr (kBilateral) {
        exponent = hn::NegMulAdd(hn::Mul(difference, difference), range, hn::Add(exponent, spatial));
      } else {
        exponent = hn::Min(exponent, hn::Set(d, kExp2Shift));
      }
      FloatVector weight = exp2_of_shifted(exponent);
      if (!whole) {
        weight = hn::IfThenElseZero(hn::FirstN(d, width - i), weight);
      }
      const FloatVector product = hn::Mul(weight, difference);
      if constexpr (kUse != Use::kForQ) {
        float* out = sums.differences + sums_p + i;
        hn::StoreU(hn::Add(hn::LoadU(d, out), product), d, out);
        out = sums.weights + sums_p + i;
        hn::StoreU(hn::Add(hn::LoadU(d, out), weight), d, out);
      }
      if constexpr (kUse != Use::kForP) {
        float* out = sums.differences + sums_q + i;
        hn::StoreU(hn::Sub(hn::LoadU(d, out), product), d, out);
        out = sums.weights + sums_q + i;
        hn::StoreU(hn::Add(hn::LoadU(d, out), weight), d, out);
      }
    };
    int i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      add(i, true);
    }
    if (i < width) {
      add(i, false);
    }
  }
}

template <Use kUse, bool kBilateral>
HWY_ATTR void visit_patches(const PatchJob& job, const Visit& where, PatchScratch& scratch,
                            const LocalSums& sums) {
  switch (job.weights.patch_radius) {
    case 1:
      return visit<3, kBilateral, kUse>(job, where, scratch, sums);
    case 2:
      return visit<5, kBilateral, kUse>(job, where, scratch, sums);
    case 3:
      return visit<7, kBilateral, kUse>(job, where, scratch, sums);
    default:
      return visit<0, kBilateral, kUse>(job, where, scratch, sums);
  }
}

// Visits the samples p of `area` for which p and p + o lie in the plane.
template <Use kUse>
HWY_ATTR void visit_area(const PatchJob& job, int offset_x, int offset_y, const PatchTile& area,
                         PatchScratch& scratch, const LocalSums& sums) {
  Visit where;
  where.offset_x = offset_x;
  where.offset_y = offset_y;
  where.valid_x0 = std::max(0, -offset_x);
  where.valid_x1 = std::min(job.width, job.width - offset_x);
  where.area = {std::max(area.x0, where.valid_x0), std::max(area.y0, 0), std::min(area.x1, where.valid_x1),
                std::min(area.y1, job.height - offset_y)};
  if (where.area.x0 >= where.area.x1 || where.area.y0 >= where.area.y1) {
    return;
  }
  if (job.weights.range > 0 || job.weights.spatial > 0) {
    visit_patches<kUse, true>(job, where, scratch, sums);
  } else {
    visit_patches<kUse, false>(job, where, scratch, sums);
  }
}

// Maximum distance of p and q within one visit, so that the sums have room for both.
constexpr int kMarginX = kPatchTileWidth / 2;
constexpr int kMarginY = kPatchTileHeight / 2;

inline HWY_ATTR void filter_tile(const PatchJob& job, const PatchTile& tile, PatchScratch& scratch,
                                 float* out) {
  const int width = tile.x1 - tile.x0;
  const int height = tile.y1 - tile.y0;
  LocalSums sums;
  sums.pitch = kPatchTileWidth + 2 * kMarginX + kRowSlack;
  const std::ptrdiff_t size = (kPatchTileHeight + 2 * kMarginY) * sums.pitch;
  scratch.sums.assign(2 * size, 0.0F);
  scratch.totals.assign(2 * static_cast<std::size_t>(width) * height, 0.0);
  constexpr int kWidest = kPatchTileWidth + kMarginX;  // width of the area of one visit
  scratch.columns.resize(kWidest + 2 * job.weights.patch_radius + 1 + kRowSlack);
  scratch.column_scales.resize(kWidest + kRowSlack);
  sums.x0 = tile.x0 - kMarginX;
  sums.y0 = tile.y0 - kMarginY;
  sums.differences = scratch.sums.data();
  sums.weights = scratch.sums.data() + size;

  constexpr int kOffsetsAtOnce = 64;
  int visited = 0;
  const auto flush = [&]() HWY_ATTR {
    double* HWY_RESTRICT totals = scratch.totals.data();
    for (float* part : {sums.differences, sums.weights}) {
      for (int y = tile.y0; y < tile.y1; ++y) {
        float* HWY_RESTRICT row = part + sums.index(tile.x0, y);
        for (int x = 0; x < width; ++x) {
          totals[x] += static_cast<double>(row[x]);
          row[x] = 0;
        }
        totals += width;
      }
    }
    visited = 0;
  };
  const int radius_x = job.weights.search_radius_x;
  for (int oy = 0; oy <= job.weights.search_radius_y; ++oy) {
    for (int ox = oy == 0 ? 1 : -radius_x; ox <= radius_x; ++ox) {
      const PatchTile moved = {tile.x0 - ox, tile.y0 - oy, tile.x1 - ox, tile.y1 - oy};
      const PatchTile around = {std::min(tile.x0, moved.x0), moved.y0, std::max(tile.x1, moved.x1), tile.y1};
      const bool near = std::abs(ox) <= kMarginX && oy <= kMarginY &&
                        (around.x1 - around.x0) * (around.y1 - around.y0) < 2 * width * height;
      if (near) {
        visit_area<Use::kBoth>(job, ox, oy, around, scratch, sums);
      } else {
        visit_area<Use::kForP>(job, ox, oy, tile, scratch, sums);
        visit_area<Use::kForQ>(job, ox, oy, moved, scratch, sums);
      }
      if (++visited == kOffsetsAtOnce) {
        flush();
      }
    }
  }
  flush();

  const double* HWY_RESTRICT differences = scratch.totals.data();
  const double* HWY_RESTRICT weights = differences + static_cast<std::ptrdiff_t>(width) * height;
  for (int y = tile.y0; y < tile.y1; ++y) {
    const float* HWY_RESTRICT in = job.sample_row(y) + tile.x0;
    float* HWY_RESTRICT to = out + y * job.pitch + tile.x0;
    for (int x = 0; x < width; ++x) {
      // p's own weight is 1, and its difference from itself is 0.
      to[x] = in[x] + static_cast<float>(differences[x] / (weights[x] + 1));
    }
    differences += width;
    weights += width;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#endif
