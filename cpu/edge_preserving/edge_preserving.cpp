// SPDX-License-Identifier: MIT
#include "cpu/edge_preserving/edge_preserving.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <variant>

#include "core/frame/frame.h"
#include "core/noise/noise_model.h"
#include "cpu/runtime/convert.h"
#include "cpu/runtime/denormals.h"
#include "cpu/runtime/frame_filter.h"
#include "cpu/runtime/planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/edge_preserving/edge_preserving.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/runtime/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using IntTag = hn::ScalableTag<std::int32_t>;
using IntVector = hn::Vec<IntTag>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(FloatTag()));

// 2^x for x <= 0, given x + kExp2Shift; the addition is free if x results from a sum. The relative error is
// under 2^-10.5. Below 2^-126 the result is 0 with DenormalsAreZero, below 2^-127 always.
//
// kExp2Shift is 2^9, so that a float's mantissa ends 14 bits after the binary point, plus 127, the bias of
// the exponent. Shifted up by 9, the remaining bits of the sum are the exponent and mantissa of 2^n (1 + f),
// n and f being the integer and fractional parts of x: linear interpolation between powers of two. A cubic
// polynomial in 1 + f with the least maximum relative error (Remez algorithm) turns it into 2^n 2^f.
//
// kBounded: the caller guarantees x >= -127.
template <bool kBounded = false>
HWY_INLINE FloatVector exp2_of_shifted(FloatVector shifted) {
  const FloatTag d;
  const IntTag di;
  if constexpr (!kBounded) {
    // 2^-127 and less becomes 0: all bits of 512 are shifted out.
    shifted = hn::Max(shifted, hn::Set(d, kExp2Shift - 127));
  }
  const IntVector bits = hn::ShiftLeft<9>(hn::BitCast(di, shifted));
  const FloatVector line = hn::BitCast(d, bits);
  const FloatVector mantissa = hn::BitCast(
      d, hn::OrAnd(hn::BitCast(di, hn::Set(d, 1.0F)), bits, hn::Set(di, (std::int32_t{1} << 23) - 1)));
  FloatVector factor = hn::MulAdd(mantissa, hn::Set(d, -0.106445699F), hn::Set(d, 0.707475827F));
  factor = hn::MulAdd(mantissa, factor, hn::Set(d, -1.37730759F));
  factor = hn::MulAdd(mantissa, factor, hn::Set(d, 1.77561472F));
  return hn::Mul(line, factor);
}

// Two vectors of samples at a time share the loads of exponents. The processor overlaps the exponentials of
// successive neighbors.
constexpr int kBilateralVectors = 2;

// Calls add(v, difference to the neighbor, weight exponent of the distance) for each neighbor of
// kBilateralVectors vectors of samples from `center` on, vector by vector.
template <class Add>
HWY_INLINE void for_each_neighbor(const BilateralJob& job, const float* center, const FloatVector* samples,
                                  const Add& add) {
  const FloatTag d;
  const int radius = job.weights.radius;
  const float* exponent = job.exponents.data();
  for (int dy = -radius; dy <= radius; ++dy) {
    const float* row = center + dy * job.pitch - radius;
    for (int dx = 0; dx <= 2 * radius; ++dx) {
      const FloatVector spatial = hn::Set(d, *exponent++);
      for (int v = 0; v < kBilateralVectors; ++v) {
        add(v, hn::Sub(hn::LoadU(d, row + dx + v * kLanes), samples[v]), spatial);
      }
    }
  }
}

HWY_INLINE void load_samples(const float* center, FloatVector* samples) {
  for (int v = 0; v < kBilateralVectors; ++v) {
    samples[v] = hn::LoadU(FloatTag(), center + v * kLanes);
  }
}

// The result for kBilateralVectors vectors from `center` on.
template <bool kBounded>
HWY_INLINE void plain_bilateral_vectors(const BilateralJob& job, const float* center,
                                        float* HWY_RESTRICT out) {
  const FloatTag d;
  FloatVector samples[kBilateralVectors];
  FloatVector sums[kBilateralVectors];
  FloatVector weights[kBilateralVectors];
  load_samples(center, samples);
  for (int v = 0; v < kBilateralVectors; ++v) {
    sums[v] = weights[v] = hn::Zero(d);
  }
  for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
    const FloatVector weight = exp2_of_shifted<kBounded>(hn::NegMulAdd(difference, difference, spatial));
    sums[v] = hn::MulAdd(weight, difference, sums[v]);
    weights[v] = hn::Add(weights[v], weight);
  });
  const FloatVector unscale = hn::Set(d, 1 / job.scale);
  for (int v = 0; v < kBilateralVectors; ++v) {
    const FloatVector mean = hn::Add(samples[v], hn::Div(sums[v], weights[v]));
    hn::StoreU(hn::Mul(mean, unscale), d, out + v * kLanes);
  }
}

HWY_ATTR void plain_bilateral_row(const BilateralJob& job, int y, float* HWY_RESTRICT out) {
  const int radius = job.weights.radius;
  const bool inner_row = job.bounded && y >= radius && y < job.height - radius;
  constexpr int kPixels = kBilateralVectors * kLanes;
  for (int x = 0; x < job.width; x += kPixels) {
    const float* center = job.row(y) + x;
    if (inner_row && x >= radius && x + kPixels + radius <= job.width) {
      plain_bilateral_vectors<true>(job, center, out + x);
    } else {
      plain_bilateral_vectors<false>(job, center, out + x);
    }
  }
}

HWY_ATTR void adaptive_bilateral_row(const BilateralJob& job, int y, float* HWY_RESTRICT out) {
  const FloatTag d;
  for (int x = 0; x < job.width; x += kBilateralVectors * kLanes) {
    const float* center = job.row(y) + x;
    FloatVector samples[kBilateralVectors];
    FloatVector sums[kBilateralVectors];
    FloatVector weights[kBilateralVectors];
    FloatVector range[kBilateralVectors];
    load_samples(center, samples);
    for (int v = 0; v < kBilateralVectors; ++v) {
      sums[v] = weights[v] = hn::Zero(d);
    }
    const FloatVector first_range = hn::Set(d, job.weights.range);
    for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
      const FloatVector square = hn::Mul(difference, difference);
      const FloatVector weight = exp2_of_shifted(hn::NegMulAdd(square, first_range, spatial));
      sums[v] = hn::MulAdd(weight, square, sums[v]);
      weights[v] = hn::Add(weights[v], weight);
    });
    for (int v = 0; v < kBilateralVectors; ++v) {
      const FloatVector variance = hn::Div(sums[v], weights[v]);
      range[v] = hn::Div(hn::Set(d, job.adapted_range), hn::Add(variance, hn::Set(d, job.epsilon)));
      sums[v] = weights[v] = hn::Zero(d);
    }
    for_each_neighbor(job, center, samples, [&](int v, FloatVector difference, FloatVector spatial) HWY_ATTR {
      const FloatVector scaled = hn::Mul(difference, range[v]);
      const FloatVector weight = exp2_of_shifted(hn::NegMulAdd(scaled, difference, spatial));
      sums[v] = hn::MulAdd(weight, difference, sums[v]);
      weights[v] = hn::Add(weights[v], weight);
    });
    for (int v = 0; v < kBilateralVectors; ++v) {
      hn::StoreU(hn::Add(samples[v], hn::Div(sums[v], weights[v])), d, out + x + v * kLanes);
    }
  }
}

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

// Filters one tile of at most kPatchTileWidth x kPatchTileHeight into `out`, in code values. Row y of the
// plane is at out + y * pitch, with the pitch of the job's samples. Thread-safe for different tiles and
// scratches.
HWY_ATTR void filter_tile(const PatchJob& job, const PatchTile& tile, PatchScratch& scratch, float* out) {
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
      const bool is_near = std::abs(ox) <= kMarginX && oy <= kMarginY &&
                           (around.x1 - around.x0) * (around.y1 - around.y0) < 2 * width * height;
      if (is_near) {
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

HWY_ATTR void powers(const float* x, int count, float* out) {
  const FloatTag d;
  for (int i = 0; i < count; i += kLanes) {
    hn::StoreU(exp2_of_shifted(hn::Add(hn::LoadU(d, x + i), hn::Set(d, kExp2Shift))), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(plain_bilateral_row);
HWY_EXPORT(adaptive_bilateral_row);
HWY_EXPORT(filter_tile);
HWY_EXPORT(powers);

void BilateralJob::prepare(const BilateralWeights& new_weights, const FrameFormat& format, int new_width,
                           int new_height) {
  weights = new_weights;
  adaptive = false;
  // Only bytes are certain to be within the range.
  constexpr float kMost = 126;
  const float farthest = 2.0F * static_cast<float>(weights.radius * weights.radius);
  bounded = format.sample_type == SampleType::kUint8 &&
            weights.range * 255 * 255 + weights.spatial * farthest < kMost;
  scale = std::sqrt(weights.range);
  lay_out(new_width, new_height);
}

void BilateralJob::prepare(const AdaptiveBilateralWeights& new_weights, int new_width, int new_height) {
  weights = new_weights.first;
  adaptive = true;
  bounded = false;
  adapted_range = new_weights.adapted_range;
  epsilon = new_weights.epsilon;
  scale = 1;
  lay_out(new_width, new_height);
}

void BilateralJob::lay_out(int new_width, int new_height) {
  width = new_width;
  height = new_height;
  pitch = width + 2 * weights.radius + kRowSlack;
  samples.resize(static_cast<std::size_t>(height + 2 * weights.radius) * pitch);
  exponents.clear();
  for (int dy = -weights.radius; dy <= weights.radius; ++dy) {
    for (int dx = -weights.radius; dx <= weights.radius; ++dx) {
      exponents.push_back(kExp2Shift - weights.spatial * static_cast<float>(dx * dx + dy * dy));
    }
  }
}

float* BilateralJob::begin_row(int y) {
  float* begin = samples.data() + (y + weights.radius) * pitch;
  if (y < 0 || y >= height) {
    std::fill_n(begin, pitch, kOutside);
  } else {
    std::fill_n(begin, weights.radius, kOutside);
    std::fill(begin + weights.radius + width, begin + pitch, kOutside);
  }
  return begin + weights.radius;
}

void PatchJob::prepare(const PatchWeights& new_weights, int new_width, int new_height) {
  weights = new_weights;
  width = new_width;
  height = new_height;
  pitch = width + kRowSlack;
  samples.resize(static_cast<std::size_t>(height) * pitch);
  pairs.resize(2 * static_cast<std::size_t>(height + weights.patch_radius) * pitch);
}

void PatchJob::set_matching_row(int y, const std::int16_t* values) {
  const auto set = [&](int pair_row, int place) {
    if (pair_row < height) {
      std::int16_t* out = pairs.data() + 2 * (pair_row + weights.patch_radius) * pitch + place;
      for (int x = 0; x < width; ++x) {
        out[2 * x] = values[x];
      }
    }
  };
  set(y - weights.patch_radius, 0);
  set(y + weights.patch_radius + 1, 1);
}

void exp2_row(const float* x, int count, float* out) {
  const DenormalsAreZero zero;
  HWY_DYNAMIC_DISPATCH(powers)(x, count, out);
}

/// The edge-preserving filters of whole frames: plane by plane, each divided into bands of rows or tiles that
/// run as oneTBB tasks.
class EdgePreserving final : public SpatialFilter {
 public:
  /// Throws UsageError for illegal parameters, and Error for invalid formats.
  EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format);
  ~EdgePreserving() override;

  void filter(const Frame& in, const NoiseModel& noise, Frame& out) override;

 private:
  struct Workspace;

  void filter_plane(const Plane& in, float sigma, const Plane& out);

  EdgePreservingFilter filter_;
  FrameFormat format_;
  std::unique_ptr<Workspace> workspace_;
};

namespace {

// Filters row y, in code values; `out` has room for width + kRowSlack.
void bilateral_row(const BilateralJob& job, int y, float* out) {
  const DenormalsAreZero zero;
  if (job.adaptive) {
    HWY_DYNAMIC_DISPATCH(adaptive_bilateral_row)(job, y, out);
  } else {
    HWY_DYNAMIC_DISPATCH(plain_bilateral_row)(job, y, out);
  }
}

// Divides `size` samples into parts of at most `most` that are whole vectors and as equal as possible.
std::vector<int> cut(int size, int most) {
  constexpr int kVector = 16;
  const int parts = (size + most - 1) / most;
  const int part = ((size + parts - 1) / parts + kVector - 1) / kVector * kVector;
  std::vector<int> ends = {0};
  while (ends.back() < size) {
    ends.push_back(std::min(ends.back() + part, size));
  }
  return ends;
}

}  // namespace

struct EdgePreserving::Workspace {
  struct Thread {
    AlignedVector<float> row;
    AlignedVector<std::int16_t> matching;
    PatchScratch patches;
  };

  BilateralJob bilateral;
  PatchJob patches;
  AlignedVector<float> out;
  tbb::enumerable_thread_specific<Thread> threads;

  void filter_bilateral(const FrameFormat& format, const Plane& in, const Plane& out_plane) {
    const int radius = bilateral.weights.radius;
    for_each_row(in.height + 2 * radius, [&](int i) {
      const int y = i - radius;
      float* row = bilateral.begin_row(y);
      if (y >= 0 && y < in.height) {
        load_row(format, in.row<std::byte>(y), in.width, row);
        std::for_each_n(row, in.width, [&](float& sample) { sample *= bilateral.scale; });
      }
    });
    for_each_row(in.height, [&](int y) {
      AlignedVector<float>& row = threads.local().row;
      row.resize(in.width + kRowSlack);
      bilateral_row(bilateral, y, row.data());
      store_row(format, row.data(), in.width, out_plane.row<std::byte>(y));
    });
  }

  void filter_patches(const FrameFormat& format, const MatchingScale& scale, const Plane& in,
                      const Plane& out_plane) {
    out.resize(patches.samples.size());
    for_each_row(in.height, [&](int y) {
      AlignedVector<std::int16_t>& matching = threads.local().matching;
      matching.resize(in.width);
      load_row(format, in.row<std::byte>(y), in.width, patches.sample_row(y));
      matching_row(scale, patches.sample_row(y), in.width, matching.data());
      patches.set_matching_row(y, matching.data());
    });
    const std::vector<int> xs = cut(in.width, kPatchTileWidth);
    const std::vector<int> ys = cut(in.height, kPatchTileHeight);
    const int columns = static_cast<int>(xs.size()) - 1;
    const int rows = static_cast<int>(ys.size()) - 1;
    for_each_index(columns * rows, 1, [&](int i) {
      const int x = i % columns;
      const int y = i / columns;
      const DenormalsAreZero zero;
      HWY_DYNAMIC_DISPATCH(filter_tile)
      (patches, {xs[x], ys[y], xs[x + 1], ys[y + 1]}, threads.local().patches, out.data());
    });
    for_each_row(in.height, [&](int y) {
      store_row(format, out.data() + y * patches.pitch, in.width, out_plane.row<std::byte>(y));
    });
  }
};

EdgePreserving::EdgePreserving(const EdgePreservingFilter& filter, const FrameFormat& format)
    : filter_(filter), format_(format), workspace_(std::make_unique<Workspace>()) {
  std::visit([](const auto& parameters) { parameters.validate(); }, filter);
  format.validate("frame");
}

EdgePreserving::~EdgePreserving() = default;

void EdgePreserving::filter(const Frame& in, const NoiseModel& noise, Frame& out) {
  for (const PictureRows& rows : pictures_of(in.interlaced)) {
    const auto in_planes = picture_of(format_, in.planes, rows);
    const auto out_planes = picture_of(format_, out.planes, rows);
    for (int p = 0; p < format_.plane_count(); ++p) {
      const bool filtered = p < format_.color_plane_count() && noise.sigma[p] > 0 && in_planes[p].height > 0;
      if (filtered) {
        filter_plane(in_planes[p], noise.sigma[p], out_planes[p]);
      } else {
        copy_plane(format_, in_planes[p], out_planes[p]);
      }
    }
  }
}

void EdgePreserving::filter_plane(const Plane& in, float sigma, const Plane& out) {
  std::visit(
      [&](const auto& parameters) {
        using Parameters = std::decay_t<decltype(parameters)>;
        if constexpr (std::is_same_v<Parameters, BilateralParameters>) {
          workspace_->bilateral.prepare(make_weights(parameters, sigma), format_, in.width, in.height);
          workspace_->filter_bilateral(format_, in, out);
        } else if constexpr (std::is_same_v<Parameters, AdaptiveBilateralParameters>) {
          workspace_->bilateral.prepare(make_weights(parameters, sigma), in.width, in.height);
          workspace_->filter_bilateral(format_, in, out);
        } else {
          const MatchingScale scale = patch_scale(format_);
          workspace_->patches.prepare(make_weights(parameters, sigma, scale, in.width, in.height), in.width,
                                      in.height);
          workspace_->filter_patches(format_, scale, in, out);
        }
      },
      filter_);
}

std::unique_ptr<FrameFilter> make_frame_filter(const EdgePreservingFilter& filter,
                                               const FrameFormat& format) {
  return std::make_unique<EdgePreserving>(filter, format);
}

}  // namespace limpid::cpu
#endif
