// SPDX-License-Identifier: MIT
#include "cpu/motion/motion_estimation.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/motion/motion_estimation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using motion::kBlock;

// Plain loops that compilers vectorize.
template <typename Sample>
HWY_ATTR void guide_row_of(const FrameFormat& format, const Plane* planes, int y,
                           std::uint8_t* HWY_RESTRICT out) {
  const int depth = format.bit_depth;
  const int width = planes[0].width;
  const Sample* first = planes[0].row<const Sample>(y);
  if (format.color_model != ColorModel::kRgb) {
    for (int x = 0; x < width; ++x) {
      out[x] = static_cast<std::uint8_t>(motion::guide_value(first[x], depth));
    }
    return;
  }
  const Sample* green = planes[1].row<const Sample>(y);
  const Sample* blue = planes[2].row<const Sample>(y);
  for (int x = 0; x < width; ++x) {
    out[x] = static_cast<std::uint8_t>(motion::guide_value_of_rgb(motion::guide_value(first[x], depth),
                                                                  motion::guide_value(green[x], depth),
                                                                  motion::guide_value(blue[x], depth)));
  }
}

// Writes the unsmoothed guide's values of row y to `out`.
HWY_ATTR void guide_row_of_samples(const FrameFormat& format, const Plane* planes, int y, std::uint8_t* out) {
  visit_samples(format,
                [&]<typename Sample>(Sample) HWY_ATTR { guide_row_of<Sample>(format, planes, y, out); });
}

// Smooths a row along both axes, from the row and the two beside it. `scratch` has room for width +
// kGuideSlack values, `out` for width + motion::kMarginColumns.
HWY_ATTR void smooth_row_of_guide(const std::uint8_t* HWY_RESTRICT above,
                                  const std::uint8_t* HWY_RESTRICT row,
                                  const std::uint8_t* HWY_RESTRICT below, int width,
                                  std::uint16_t* HWY_RESTRICT scratch, std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::ScalableTag<std::int16_t> signed16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d16));
  static_assert(kLanes <= motion::kMarginColumns && kLanes + 2 <= kGuideSlack);
  std::uint16_t* sums = scratch + 1;
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    const auto middle = hn::PromoteTo(d16, hn::LoadU(d8, row + x));
    const auto outer =
        hn::Add(hn::PromoteTo(d16, hn::LoadU(d8, above + x)), hn::PromoteTo(d16, hn::LoadU(d8, below + x)));
    hn::StoreU(hn::Add(outer, hn::Add(middle, middle)), d16, sums + x);
  }
  for (; x < width; ++x) {
    sums[x] = static_cast<std::uint16_t>(motion::smoothed(above[x], row[x], below[x]));
  }
  sums[-1] = sums[0];
  std::fill_n(sums + width, kGuideSlack - 1, sums[width - 1]);
  for (x = 0; x < width; x += kLanes) {
    const auto middle = hn::LoadU(d16, sums + x);
    const auto outer = hn::Add(hn::LoadU(d16, sums + x - 1), hn::LoadU(d16, sums + x + 1));
    const auto sum = hn::Add(outer, hn::Add(middle, middle));
    const auto rounded = hn::ShiftRight<4>(hn::Add(sum, hn::Set(d16, 8)));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(signed16, rounded)), d8, out + x);
  }
}

// Makes a row of the next level from two rows of a level; `width` is the width of the result.
HWY_ATTR void halve_row_of_guide(const std::uint8_t* HWY_RESTRICT above,
                                 const std::uint8_t* HWY_RESTRICT below, int width,
                                 std::uint8_t* HWY_RESTRICT out) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::ScalableTag<std::int16_t> signed16;
  const hn::Repartition<std::uint8_t, decltype(d16)> pairs;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d16));
  const auto sums_of_pairs = [&](const std::uint8_t* in) HWY_ATTR {
    const auto words = hn::BitCast(d16, hn::LoadU(pairs, in));
    return hn::Add(hn::And(words, hn::Set(d16, 0xFF)), hn::ShiftRight<8>(words));
  };
  int x = 0;
  for (; x + kLanes <= width; x += kLanes) {
    const auto sum = hn::Add(sums_of_pairs(above + 2 * x), sums_of_pairs(below + 2 * x));
    const auto mean = hn::ShiftRight<2>(hn::Add(sum, hn::Set(d16, 2)));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(signed16, mean)), d8, out + x);
  }
  for (; x < width; ++x) {
    out[x] = static_cast<std::uint8_t>(
        motion::halved(above[2 * x], above[2 * x + 1], below[2 * x], below[2 * x + 1]));
  }
}

// The differences of rows of windows: a 64-bit lane holds those of eight columns, which form a cell. There is
// one lane more than cells.
constexpr int kWindowBytes = 32;
#if HWY_MAX_BYTES >= 32
using WindowTag = hn::FixedTag<std::uint8_t, 32>;
#else
using WindowTag = hn::FixedTag<std::uint8_t, 16>;
#endif
using ColumnsTag = hn::Repartition<std::uint64_t, WindowTag>;
constexpr int kWindowLanes = static_cast<int>(hn::MaxLanes(WindowTag()));
constexpr int kWindowVectors = kWindowBytes / kWindowLanes;

// Motion vectors, and the coordinates of eight of them.
using PackedTag = hn::FixedTag<std::uint32_t, 4>;
using LaneTag = hn::FixedTag<std::int16_t, 8>;

HWY_INLINE HWY_ATTR hn::Vec<ColumnsTag> sums_of_differences(hn::Vec<WindowTag> a, hn::Vec<WindowTag> b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 32
  return hn::Vec<ColumnsTag>{_mm256_sad_epu8(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return hn::Vec<ColumnsTag>{_mm_sad_epu8(a.raw, b.raw)};
#else
  return hn::SumsOf8(hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
#endif
}

// Sums of a window's differences in each of its columns of cells.
class Sums {
 public:
  HWY_INLINE HWY_ATTR void clear() {
    for (auto& vector : vectors_) {
      vector = hn::Zero(ColumnsTag());
    }
  }
  // For the i-th vector of a row.
  HWY_INLINE HWY_ATTR void add(int i, hn::Vec<WindowTag> a, hn::Vec<WindowTag> b) {
    vectors_[i] = hn::Add(vectors_[i], sums_of_differences(a, b));
  }
  // Makes GCC complete the additions so far before it continues. Otherwise it adds one sum after the other
  // and spills all rows that they share.
  HWY_INLINE HWY_ATTR void settle() {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86
    for (auto& vector : vectors_) {
      asm("" : "+v"(vector.raw));
    }
#endif
  }
  HWY_INLINE HWY_ATTR std::int32_t weighted() const {
    static_assert(motion::kColumnWeights == std::array{1, 2, 1});
    alignas(kWindowBytes) std::array<std::uint64_t, kWindowBytes / kBlock> columns;
    for (int i = 0; i < kWindowVectors; ++i) {
      hn::Store(vectors_[i], ColumnsTag(), columns.data() + i * (kWindowLanes / kBlock));
    }
    return static_cast<std::int32_t>(columns[0] + 2 * columns[1] + columns[2]);
  }

 private:
  hn::Vec<ColumnsTag> vectors_[kWindowVectors];
};

// The window around one block of the current picture, in registers if there are enough.
class Window {
 public:
  HWY_INLINE HWY_ATTR Window(const MotionLevel& level, int column, int row)
      : stride_(level.shape.stride),
        offset_(row * kBlock * stride_ + (column - 1) * kBlock),
        reference_(level.reference + offset_) {
    HWY_UNROLL(16)
    for (int row_of_window = 0; row_of_window < motion::kWindowRows; ++row_of_window) {
      for (int i = 0; i < kWindowVectors; ++i) {
        samples_[row_of_window * kWindowVectors + i] = load(level.current + offset_, row_of_window, i);
      }
    }
  }

  // The difference along a vector.
  HWY_INLINE HWY_ATTR std::int32_t difference(const MotionVector& vector) const {
    const std::uint8_t* from = reference_ + vector.y * stride_ + vector.x;
    return sum_of_differences([&](int row, int i) HWY_ATTR { return load(from, row, i); });
  }

  // The differences along the eight vectors around `center`, in the order of motion::neighbor_x(). Each row
  // of the reference is loaded once for all window rows that are compared with it.
  HWY_INLINE HWY_ATTR std::array<std::int32_t, motion::kNeighbors> differences_around(
      const MotionVector& center) const {
    Sums sums[motion::kNeighbors];
    for (Sums& sum : sums) {
      sum.clear();
    }
    constexpr int kAbove = motion::window_row(0) - 1;
    constexpr int kBelow = motion::window_row(motion::kWindowRows - 1) + 1;
    const std::uint8_t* from = reference_ + center.y * stride_ + center.x;
    const auto add_rows = [&]<int... kRows>(std::integer_sequence<int, kRows...>) HWY_ATTR {
      (add_reference_row<kAbove + kRows>(from, sums), ...);
    };
    add_rows(std::make_integer_sequence<int, kBelow - kAbove + 1>());
    std::array<std::int32_t, motion::kNeighbors> differences;
    for (int i = 0; i < motion::kNeighbors; ++i) {
      differences[i] = sums[i].weighted();
    }
    return differences;
  }

  // The difference of the window and its mean.
  HWY_INLINE HWY_ATTR std::int32_t texture() const {
    const auto zero = hn::Zero(WindowTag());
    const std::int32_t sum = sum_of_differences([&](int, int) HWY_ATTR { return zero; });
    const auto mean = hn::Set(WindowTag(), static_cast<std::uint8_t>(motion::mean_of_window(sum)));
    return sum_of_differences([&](int, int) HWY_ATTR { return mean; });
  }

 private:
  HWY_INLINE HWY_ATTR hn::Vec<WindowTag> load(const std::uint8_t* block, int row, int i) const {
    return hn::LoadU(WindowTag(), block + motion::window_row(row) * stride_ + i * kWindowLanes);
  }

  // The weighted sum of the window's differences from the samples of other(row, vector of the row).
  template <typename Other>
  HWY_INLINE HWY_ATTR std::int32_t sum_of_differences(const Other& other) const {
    Sums sums;
    sums.clear();
    HWY_UNROLL(16)
    for (int row = 0; row < motion::kWindowRows; ++row) {
      for (int i = 0; i < kWindowVectors; ++i) {
        sums.add(i, samples_[row * kWindowVectors + i], other(row, i));
      }
    }
    return sums.weighted();
  }

  // Adds the contribution of one row of the reference to the differences around a vector that leads to
  // `from`.
  template <int kY>
  HWY_INLINE HWY_ATTR void add_reference_row(const std::uint8_t* from, Sums* sums) const {
    add_reference_row<kY, -1>(from, sums);
    add_reference_row<kY, 0>(from, sums);
    add_reference_row<kY, 1>(from, sums);
    for (int i = 0; i < motion::kNeighbors; ++i) {
      sums[i].settle();
    }
  }
  template <int kY, int kX>
  HWY_INLINE HWY_ATTR void add_reference_row(const std::uint8_t* from, Sums* sums) const {
    for (int i = 0; i < kWindowVectors; ++i) {
      const auto samples = hn::LoadU(WindowTag(), from + kY * stride_ + kX + i * kWindowLanes);
      add_neighbors_row<kY + 1, kX, -1>(samples, i, sums);
      add_neighbors_row<kY, kX, 0>(samples, i, sums);
      add_neighbors_row<kY - 1, kX, 1>(samples, i, sums);
    }
  }
  template <int kOfWindow, int kX, int kY>
  HWY_INLINE HWY_ATTR void add_neighbors_row(hn::Vec<WindowTag> samples, int i, Sums* sums) const {
    constexpr int kRow = number_of_row(kOfWindow);
    if constexpr (kRow >= 0 && (kX != 0 || kY != 0)) {
      constexpr int kNeighbor = number_of_neighbor(kX, kY);
      sums[kNeighbor].add(i, samples_[kRow * kWindowVectors + i], samples);
    }
  }

  // The i for which motion::window_row(i) is `row`; -1 if there is none.
  static constexpr int number_of_row(int row) {
    int i = motion::kWindowRows - 1;
    while (i >= 0 && motion::window_row(i) != row) {
      --i;
    }
    return i;
  }
  static constexpr int number_of_neighbor(int x, int y) {
    int i = 0;
    while (motion::neighbor_x(i) != x || motion::neighbor_y(i) != y) {
      ++i;
    }
    return i;
  }

  std::ptrdiff_t stride_;
  std::ptrdiff_t offset_;  // from the beginning of the window's row to the block's first sample
  const std::uint8_t* reference_;
  hn::Vec<WindowTag> samples_[motion::kWindowRows * kWindowVectors];
};

HWY_INLINE HWY_ATTR motion::Choice search_everywhere(const MotionLevel& level, const Window& window,
                                                     int column, int row) {
  motion::Choice best;
  const auto consider = [&](int x, int y) HWY_ATTR {
    const MotionVector vector = motion::limited(level.shape, column, row, x, y);
    const std::int32_t difference = window.difference(vector);
    best.consider(vector, difference, motion::coarsest_cost(vector, difference));
  };
  consider(0, 0);
  for (int y = -motion::kRadius; y <= motion::kRadius; ++y) {
    for (int x = -motion::kRadius; x <= motion::kRadius; ++x) {
      consider(x, y);
    }
  }
  return best;
}

// Eight vectors, possibly with repetitions: candidates, or a block's neighbors.
class Vectors {
 public:
  HWY_INLINE HWY_ATTR Vectors(hn::Vec<PackedTag> first, hn::Vec<PackedTag> second)
      : x_(hn::ConcatEven(LaneTag(), hn::BitCast(LaneTag(), second), hn::BitCast(LaneTag(), first))),
        y_(hn::ConcatOdd(LaneTag(), hn::BitCast(LaneTag(), second), hn::BitCast(LaneTag(), first))) {
    hn::Store(first, PackedTag(), packed_.data());
    hn::Store(second, PackedTag(), packed_.data() + kCount / 2);
  }

  HWY_INLINE HWY_ATTR MotionVector operator[](int i) const { return std::bit_cast<MotionVector>(packed_[i]); }

  // A bit for each vector that differs from `vector`.
  HWY_INLINE HWY_ATTR unsigned others_than(const MotionVector& vector) const {
    std::array<std::uint8_t, 8> bits;  // only the first is written
    hn::StoreMaskBits(
        LaneTag(),
        hn::And(hn::Eq(x_, hn::Set(LaneTag(), vector.x)), hn::Eq(y_, hn::Set(LaneTag(), vector.y))),
        bits.data());
    return bits[0] ^ 0xFFU;
  }

  // Calls use(vector) for each vector that is neither `tried` nor equal to one before it.
  template <typename Use>
  HWY_INLINE HWY_ATTR void for_each_untried(const MotionVector& tried, const Use& use) const {
    for (unsigned left = others_than(tried); left != 0;) {
      const MotionVector vector = (*this)[std::countr_zero(left)];
      left &= others_than(vector);
      use(vector);
    }
  }

  // The sum of motion::disagreement() with `vector`.
  HWY_INLINE HWY_ATTR int disagreements(const MotionVector& vector) const {
    const hn::RebindToUnsigned<LaneTag> unsigned16;
    const auto most = hn::Set(unsigned16, motion::kGreatestDisagreement);
    const auto distance = [&](hn::Vec<LaneTag> own, std::int16_t other) HWY_ATTR {
      const auto others = hn::Set(LaneTag(), other);
      return hn::Min(hn::BitCast(unsigned16, hn::Sub(hn::Max(own, others), hn::Min(own, others))), most);
    };
    const auto sum = hn::Min(hn::Add(distance(x_, vector.x), distance(y_, vector.y)), most);
    const hn::Repartition<std::uint64_t, LaneTag> halves;
    const auto sums = hn::SumsOf8(hn::BitCast(hn::Repartition<std::uint8_t, LaneTag>(), sum));
    return static_cast<int>(hn::GetLane(hn::SumOfLanes(halves, sums)));
  }

 private:
  static constexpr int kCount = 8;
  hn::Vec<LaneTag> x_;
  hn::Vec<LaneTag> y_;
  alignas(16) std::array<std::uint32_t, kCount> packed_;
};

// motion::neighbor() for each of the eight neighbors, around `vector` of a field with a margin.
HWY_INLINE HWY_ATTR Vectors neighbors_of(const MotionVector* vector, int stride) {
  const PackedTag d;
  const auto load = [&](int row) HWY_ATTR {  // three vectors and an unused one
    return hn::LoadU(d, reinterpret_cast<const std::uint32_t*>(vector + row * stride - 1));
  };
  const auto beside = load(0);
  const auto last = hn::Eq(hn::Iota(d, 0), hn::Set(d, 3));
  return {hn::IfThenElse(last, hn::Broadcast<0>(beside), load(-1)),
          hn::CombineShiftRightBytes<12>(d, load(1), hn::Broadcast<2>(beside))};
}

// motion::prediction() for all predictions, with the first one repeated as the eighth.
HWY_INLINE HWY_ATTR Vectors predictions_of(const MotionLevel& level, int column, int row) {
  static_assert(motion::kPredictions == 7);
  const MotionVector* over = level.coarser + (row / 2) * level.coarser_stride + column / 2;
  const int across = column % 2 == 0 ? -1 : 1;
  const int along = row % 2 == 0 ? -level.coarser_stride : level.coarser_stride;
  alignas(16) std::array<MotionVector, 8> vectors = {
      over[0], over[across], over[along], over[along + across], over[-across], over[-along], {}, over[0]};
  const PackedTag d;
  const auto doubled = [&](int i) HWY_ATTR {
    const auto vector = hn::Load(LaneTag(), reinterpret_cast<const std::int16_t*>(vectors.data() + i));
    return hn::BitCast(d, hn::Add(vector, vector));
  };
  return {doubled(0), doubled(4)};
}

// Selects among the vectors tried for a block, as motion::Choice does, but without branches, which would be
// hard to predict.
class Tried {
 public:
  HWY_INLINE void add(const MotionVector& vector, std::int32_t difference, int cost) {
    vectors_[count_] = vector;
    differences_[count_] = difference;
    best_ = std::min(best_, static_cast<std::uint64_t>(cost) << 32 | count_);
    ++count_;
  }
  HWY_INLINE MotionVector vector() const { return vectors_[best_ & 0xFFFFFFFFU]; }
  HWY_INLINE std::int32_t difference() const { return differences_[best_ & 0xFFFFFFFFU]; }

 private:
  static constexpr int kMost = motion::kPredictions + motion::kNeighbors;
  std::array<MotionVector, kMost> vectors_;
  std::array<std::int32_t, kMost> differences_;
  unsigned count_ = 0;
  std::uint64_t best_ = ~std::uint64_t{0};  // cost and number
};

HWY_INLINE HWY_ATTR Tried search_near_predictions(const MotionLevel& level, const Window& window, int column,
                                                  int row) {
  const Vectors predictions = predictions_of(level, column, row);
  Tried tried;
  const auto predict = [&](const MotionVector& prediction) HWY_ATTR {
    const MotionVector vector = motion::limited(level.shape, column, row, prediction.x, prediction.y);
    const std::int32_t difference = window.difference(vector);
    tried.add(vector, difference, motion::prediction_cost(vector, difference));
  };
  predict(predictions[0]);
  predictions.for_each_untried(predictions[0], predict);
  const MotionVector center = tried.vector();
  const auto limited = [&](int x, int y) {
    return motion::limited(level.shape, column, row, center.x + x, center.y + y);
  };
  const auto refine = [&](const MotionVector& vector, std::int32_t difference) HWY_ATTR {
    tried.add(vector, difference, motion::refinement_cost(vector, difference));
  };
  const auto beside = [&](int i) {
    return MotionVector{static_cast<std::int16_t>(center.x + motion::neighbor_x(i)),
                        static_cast<std::int16_t>(center.y + motion::neighbor_y(i))};
  };
  if (limited(-1, -1) == beside(0) && limited(1, 1) == beside(motion::kNeighbors - 1)) {
    const std::array<std::int32_t, motion::kNeighbors> differences = window.differences_around(center);
    HWY_UNROLL(8)
    for (int i = 0; i < motion::kNeighbors; ++i) {
      refine(beside(i), differences[i]);
    }
  } else {
    for (int i = 0; i < motion::kNeighbors; ++i) {
      const MotionVector vector = limited(motion::neighbor_x(i), motion::neighbor_y(i));
      refine(vector, window.difference(vector));
    }
  }
  return tried;
}

// Searches the vectors of one row of blocks. Also writes the differences along them and, if `textures` is
// not null, the blocks' textures. All arrays have room for a row.
HWY_ATTR void search_row_of_blocks(const MotionLevel& level, int row, MotionVector* vectors,
                                   std::int32_t* differences, std::int32_t* textures) {
  for (int column = 0; column < level.shape.columns; ++column) {
    const Window window(level, column, row);
    if (level.coarser == nullptr) {
      const motion::Choice best = search_everywhere(level, window, column, row);
      vectors[column] = best.vector;
      differences[column] = best.difference;
    } else {
      const Tried tried = search_near_predictions(level, window, column, row);
      vectors[column] = tried.vector();
      differences[column] = tried.difference();
    }
    if (textures != nullptr) {
      textures[column] = window.texture();
    }
  }
}

// Selects new vectors for one row of blocks from their own vectors and those of their neighbors. Blocks are
// skipped if neither they nor their neighbors changed in the previous sweep, because the result would not
// change.
HWY_ATTR void sweep_row_of_blocks(const MotionLevel& level, int row, const MotionSweep& sweep) {
  const int stride = sweep.stride;
  const auto changed_around = [&](int block) {
    std::uint32_t changed = 0;
    for (const int y : {-1, 0, 1}) {
      std::uint32_t three_and_one;
      std::memcpy(&three_and_one, sweep.changed_before + block + y * stride - 1, sizeof(three_and_one));
      changed |= three_and_one;
    }
    return (changed & 0xFFFFFFU) != 0;
  };
  for (int column = 0; column < level.shape.columns; ++column) {
    const int block = row * stride + column;
    const MotionVector own = sweep.before[block];
    sweep.after[block] = own;
    sweep.changed[block] = 0;
    if (sweep.changed_before != nullptr && !changed_around(block)) {
      continue;
    }
    const Vectors neighbors = neighbors_of(sweep.before + block, stride);
    if (neighbors.others_than(own) == 0) {
      continue;
    }
    const Window window(level, column, row);
    std::int32_t& difference = sweep.differences[row * level.shape.columns + column];
    const std::int32_t own_difference = difference;
    Tried tried;
    const auto consider = [&](const MotionVector& vector, std::int32_t its_difference) HWY_ATTR {
      tried.add(vector, its_difference,
                motion::sweep_cost(vector, its_difference, own_difference, neighbors.disagreements(vector)));
    };
    consider(own, own_difference);
    neighbors.for_each_untried(own, [&](const MotionVector& neighbor) HWY_ATTR {
      const MotionVector vector = motion::limited(level.shape, column, row, neighbor.x, neighbor.y);
      consider(vector, window.difference(vector));
    });
    sweep.after[block] = tried.vector();
    sweep.changed[block] = tried.vector() == own ? 0 : 1;
    difference = tried.difference();
  }
}

// Computes the quarter samples of a row of blocks of the finest level. All pointers point to that row.
HWY_ATTR void quarter_row_of_blocks(const MotionLevel& level, int row, const MotionVector* vectors,
                                    const std::int32_t* differences, QuarterSamples* quarters) {
  for (int column = 0; column < level.shape.columns; ++column) {
    const Window window(level, column, row);
    const MotionVector& vector = vectors[column];
    const auto along = [&](int x, int y) HWY_ATTR {
      const MotionVector before = motion::limited(level.shape, column, row, vector.x - x, vector.y - y);
      const MotionVector after = motion::limited(level.shape, column, row, vector.x + x, vector.y + y);
      return before == vector || after == vector
                 ? 0
                 : motion::quarters_to_least(window.difference(before), differences[column],
                                             window.difference(after));
    };
    quarters[column] = {static_cast<std::int8_t>(along(1, 0)), static_cast<std::int8_t>(along(0, 1))};
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace limpid::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace limpid::cpu {

HWY_EXPORT(guide_row_of_samples);
HWY_EXPORT(smooth_row_of_guide);
HWY_EXPORT(halve_row_of_guide);
HWY_EXPORT(search_row_of_blocks);
HWY_EXPORT(sweep_row_of_blocks);
HWY_EXPORT(quarter_row_of_blocks);

namespace {

constexpr int kPyramidBandRows = 16;

int pyramid_bands(int rows) { return (rows + kPyramidBandRows - 1) / kPyramidBandRows; }

// Repeats the border of a row in the margin beside it, and the border rows in the margin above and below.
void fill_margin(const motion::Level& level, std::uint8_t* first, int y) {
  std::uint8_t* row = first + static_cast<std::ptrdiff_t>(y) * level.stride;
  std::memset(row - motion::kMarginColumns, row[0], motion::kMarginColumns);
  std::memset(row + level.width, row[level.width - 1],
              static_cast<std::size_t>(level.stride - motion::kMarginColumns - level.width));
  const auto repeat = [&](int toward) {
    for (int i = 1; i <= motion::kMarginRows; ++i) {
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(i) * toward * level.stride;
      std::memcpy(row - motion::kMarginColumns + offset, row - motion::kMarginColumns,
                  static_cast<std::size_t>(level.stride));
    }
  };
  if (y == 0) {
    repeat(-1);
  }
  if (y == level.height - 1) {
    repeat(1);
  }
}

// A level's vectors in memory.
struct VectorRows {
  int stride = 0;
  std::size_t origin = 0;  // of block (0, 0)
  std::size_t size = 0;
};

VectorRows vector_rows(const motion::Level& level) {
  VectorRows rows;
  rows.stride = kVectorMarginLeft + level.columns + kVectorMarginRight;
  rows.origin = static_cast<std::size_t>(rows.stride) + kVectorMarginLeft;
  rows.size = static_cast<std::size_t>(rows.stride) * (level.rows + 2);
  return rows;
}

// Repeats the border of a row of vectors in the margin beside it, and the border rows in the margin above and
// below.
void fill_vector_margin(const motion::Level& level, int stride, int row, MotionVector* vectors) {
  MotionVector* const first = vectors + static_cast<std::ptrdiff_t>(row) * stride;
  std::fill_n(first - kVectorMarginLeft, kVectorMarginLeft, first[0]);
  std::fill_n(first + level.columns, kVectorMarginRight, first[level.columns - 1]);
  if (row == 0) {
    std::copy_n(first - kVectorMarginLeft, stride, first - kVectorMarginLeft - stride);
  }
  if (row == level.rows - 1) {
    std::copy_n(first - kVectorMarginLeft, stride, first - kVectorMarginLeft + stride);
  }
}

}  // namespace

void MotionPyramid::build(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture) {
  if (picture[0].width != width_ || picture[0].height != height_) {
    width_ = picture[0].width;
    height_ = picture[0].height;
    layout_ = motion::pyramid_of(width_, height_);
    memory_.resize(layout_.bytes);
  }
  if (layout_.count > 0) {
    smooth(format, picture);
  }
  for (int level = 1; level < layout_.count; ++level) {
    halve(level);
  }
}

void MotionPyramid::smooth(const FrameFormat& format, const std::array<Plane, kMaxPlanes>& picture) {
  const motion::Level& level = layout_.levels[0];
  std::uint8_t* first = memory_.data() + level.origin;
  const bool as_it_is = format.sample_type == SampleType::kUint8 && format.color_model != ColorModel::kRgb;
  for_each_index(pyramid_bands(height_), 1, [&](int band) {
    AlignedVector<std::uint16_t> sums(static_cast<std::size_t>(width_) + kGuideSlack);
    AlignedVector<std::uint8_t> guide;  // rows of the band, and one row on each side
    const int begin = band * kPyramidBandRows;
    const int end = std::min(begin + kPyramidBandRows, height_);
    const int first_read = std::max(begin - 1, 0);
    if (!as_it_is) {
      guide.resize(static_cast<std::size_t>(kPyramidBandRows + 2) * width_);
      for (int y = first_read; y < std::min(end + 1, height_); ++y) {
        HWY_DYNAMIC_DISPATCH(guide_row_of_samples)
        (format, picture.data(), y, guide.data() + static_cast<std::ptrdiff_t>(y - first_read) * width_);
      }
    }
    const auto row_of = [&](int y) {
      const int read = std::min(std::max(y, 0), height_ - 1);
      return as_it_is ? picture[0].row<const std::uint8_t>(read)
                      : guide.data() + static_cast<std::ptrdiff_t>(read - first_read) * width_;
    };
    for (int y = begin; y < end; ++y) {
      HWY_DYNAMIC_DISPATCH(smooth_row_of_guide)
      (row_of(y - 1), row_of(y), row_of(y + 1), width_, sums.data(),
       first + static_cast<std::ptrdiff_t>(y) * level.stride);
      fill_margin(level, first, y);
    }
  });
}

void MotionPyramid::halve(int number) {
  const motion::Level& level = layout_.levels[number];
  const motion::Level& finer = layout_.levels[number - 1];
  std::uint8_t* first = memory_.data() + level.origin;
  const std::uint8_t* finer_first = samples(number - 1);
  for_each_index(pyramid_bands(level.height), 1, [&](int band) {
    for (int y = band * kPyramidBandRows; y < std::min((band + 1) * kPyramidBandRows, level.height); ++y) {
      // Below the last row is the margin.
      const std::uint8_t* above = finer_first + std::ptrdiff_t{2} * y * finer.stride;
      HWY_DYNAMIC_DISPATCH(halve_row_of_guide)
      (above, above + finer.stride, level.width, first + static_cast<std::ptrdiff_t>(y) * level.stride);
      fill_margin(level, first, y);
    }
  });
}

void MotionEstimator::estimate(const MotionPyramid& reference, const MotionPyramid& current,
                               MotionField& field, const MotionParameters& parameters) {
  if (reference.width() != current.width() || reference.height() != current.height()) {
    throw Error("motion is sought between pictures of different sizes");
  }
  const motion::Pyramid& layout = current.layout();
  field.columns = layout.levels[0].columns;
  field.rows = layout.levels[0].rows;
  const std::size_t blocks = static_cast<std::size_t>(field.columns) * field.rows;
  field.vectors.resize(blocks);
  field.differences.resize(blocks);
  field.textures.resize(blocks);
  field.quarters.resize(parameters.quarters ? blocks : 0);
  if (blocks == 0) {
    return;
  }
  const std::size_t size = vector_rows(layout.levels[0]).size;
  vectors_.resize(size);
  before_.resize(size);
  changed_.resize(size);
  changed_before_.resize(size);

  MotionLevel level;
  for (int number = layout.count - 1; number >= 0; --number) {
    level.shape = layout.levels[number];
    level.current = current.samples(number);
    level.reference = reference.samples(number);
    search(level, field);
    sweep(level, field);
    if (number > 0) {
      const VectorRows rows = vector_rows(level.shape);
      vectors_.swap(before_);
      level.coarser = before_.data() + rows.origin;
      level.coarser_stride = rows.stride;
    }
  }
  const VectorRows rows = vector_rows(level.shape);
  for_each_index(field.rows, 1, [&](int row) {
    const std::size_t first = static_cast<std::size_t>(row) * field.columns;
    std::copy_n(vectors_.data() + rows.origin + static_cast<std::ptrdiff_t>(row) * rows.stride, field.columns,
                field.vectors.data() + first);
    if (parameters.quarters) {
      HWY_DYNAMIC_DISPATCH(quarter_row_of_blocks)
      (level, row, field.vectors.data() + first, field.differences.data() + first,
       field.quarters.data() + first);
    }
  });
}

// Searches each block of a level by itself.
void MotionEstimator::search(const MotionLevel& level, MotionField& field) {
  const VectorRows rows = vector_rows(level.shape);
  for_each_index(level.shape.rows, 1, [&](int row) {
    const std::size_t first = static_cast<std::size_t>(row) * level.shape.columns;
    MotionVector* const vectors = vectors_.data() + rows.origin;
    HWY_DYNAMIC_DISPATCH(search_row_of_blocks)
    (level, row, vectors + static_cast<std::ptrdiff_t>(row) * rows.stride, field.differences.data() + first,
     level.shape.finest ? field.textures.data() + first : nullptr);
    fill_vector_margin(level.shape, rows.stride, row, vectors);
  });
}

// Tries the vectors of neighbors.
void MotionEstimator::sweep(const MotionLevel& level, MotionField& field) {
  const VectorRows rows = vector_rows(level.shape);
  std::fill_n(changed_.begin(), rows.size, std::uint8_t{0});
  std::fill_n(changed_before_.begin(), rows.size, std::uint8_t{0});
  for (int i = 0; i < motion::kSweeps; ++i) {
    vectors_.swap(before_);
    changed_.swap(changed_before_);
    const MotionSweep sweep = {.stride = rows.stride,
                               .before = before_.data() + rows.origin,
                               .after = vectors_.data() + rows.origin,
                               .changed_before = i == 0 ? nullptr : changed_before_.data() + rows.origin,
                               .changed = changed_.data() + rows.origin,
                               .differences = field.differences.data()};
    for_each_index(level.shape.rows, 1, [&](int row) {
      HWY_DYNAMIC_DISPATCH(sweep_row_of_blocks)(level, row, sweep);
      fill_vector_margin(level.shape, rows.stride, row, sweep.after);
    });
  }
}

}  // namespace limpid::cpu
#endif
