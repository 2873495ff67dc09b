#include "core/cpu/motion/motion_kernels.h"

#include <algorithm>
#include <array>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/cpu/motion/motion_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace limpid::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using motion::kBlock;

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

// The differences of rows of windows: a 64-bit lane has those of eight columns, which are a cell's. There is
// a lane more than cells.
constexpr int kWindowBytes = 32;
#if HWY_MAX_BYTES >= 32
using WindowTag = hn::FixedTag<std::uint8_t, 32>;
#else
using WindowTag = hn::FixedTag<std::uint8_t, 16>;
#endif
using ColumnsTag = hn::Repartition<std::uint64_t, WindowTag>;
constexpr int kWindowLanes = static_cast<int>(hn::MaxLanes(WindowTag()));
constexpr int kWindowVectors = kWindowBytes / kWindowLanes;

HWY_INLINE HWY_ATTR hn::Vec<ColumnsTag> sums_of_differences(hn::Vec<WindowTag> a, hn::Vec<WindowTag> b) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 32
  return hn::Vec<ColumnsTag>{_mm256_sad_epu8(a.raw, b.raw)};
#elif HWY_ARCH_X86
  return hn::Vec<ColumnsTag>{_mm_sad_epu8(a.raw, b.raw)};
#else
  return hn::SumsOf8(hn::Or(hn::SaturatedSub(a, b), hn::SaturatedSub(b, a)));
#endif
}

// The window around one block of the current picture, in registers as far as there are enough.
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
    hn::Vec<ColumnsTag> sums[kWindowVectors];
    for (auto& sum : sums) {
      sum = hn::Zero(ColumnsTag());
    }
    HWY_UNROLL(16)
    for (int row = 0; row < motion::kWindowRows; ++row) {
      for (int i = 0; i < kWindowVectors; ++i) {
        sums[i] = hn::Add(sums[i], sums_of_differences(samples_[row * kWindowVectors + i], other(row, i)));
      }
    }
    static_assert(motion::kColumnWeights == std::array{1, 2, 1});
    alignas(kWindowBytes) std::array<std::uint64_t, kWindowBytes / kBlock> columns;
    for (int i = 0; i < kWindowVectors; ++i) {
      hn::Store(sums[i], ColumnsTag(), columns.data() + i * (kWindowLanes / kBlock));
    }
    return static_cast<std::int32_t>(columns[0] + 2 * columns[1] + columns[2]);
  }

  std::ptrdiff_t stride_;
  std::ptrdiff_t offset_;  // of the window's row beside the block's first
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

template <std::size_t kCount>
using Vectors = std::array<MotionVector, kCount>;

// A bit for each of the vectors, set if it differs from `tried` and from those before it: only these need be
// tried.
template <std::size_t kCount>
HWY_INLINE HWY_ATTR unsigned untried(const Vectors<kCount>& vectors, const MotionVector& tried) {
  const auto bits = [](const MotionVector& vector) { return std::bit_cast<std::uint32_t>(vector); };
  unsigned untried = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    auto same = static_cast<unsigned>(bits(vectors[i]) == bits(tried));
    for (std::size_t before = 0; before < i; ++before) {
      same |= static_cast<unsigned>(bits(vectors[before]) == bits(vectors[i]));
    }
    untried |= (same ^ 1U) << i;
  }
  return untried;
}

HWY_INLINE HWY_ATTR motion::Choice search_near_predictions(const MotionLevel& level, const Window& window,
                                                           int column, int row) {
  Vectors<motion::kPredictions> predictions;
  HWY_UNROLL(8)
  for (int i = 0; i < motion::kPredictions; ++i) {
    predictions[i] = motion::prediction(i, column, row, level.coarser_shape, level.coarser);
  }
  motion::Choice best;
  const auto predict = [&](const MotionVector& prediction) HWY_ATTR {
    const MotionVector vector = motion::limited(level.shape, column, row, prediction.x, prediction.y);
    const std::int32_t difference = window.difference(vector);
    best.consider(vector, difference, motion::prediction_cost(vector, difference));
  };
  predict(predictions[0]);
  for (unsigned left = untried(predictions, predictions[0]); left != 0; left &= left - 1) {
    predict(predictions[std::countr_zero(left)]);
  }
  const MotionVector centre = best.vector;
  for (int i = 0; i < motion::kNeighbours; ++i) {
    const MotionVector vector = motion::limited(level.shape, column, row, centre.x + motion::neighbour_x(i),
                                                centre.y + motion::neighbour_y(i));
    const std::int32_t difference = window.difference(vector);
    best.consider(vector, difference, motion::refinement_cost(vector, difference));
  }
  return best;
}

HWY_ATTR void search_row_of_blocks(const MotionLevel& level, int row, MotionVector* vectors,
                                   std::int32_t* differences, std::int32_t* textures) {
  for (int column = 0; column < level.shape.columns; ++column) {
    const Window window(level, column, row);
    const motion::Choice best = level.coarser == nullptr
                                    ? search_everywhere(level, window, column, row)
                                    : search_near_predictions(level, window, column, row);
    vectors[column] = best.vector;
    differences[column] = best.difference;
    if (textures != nullptr) {
      textures[column] = window.texture();
    }
  }
}

HWY_ATTR void sweep_row_of_blocks(const MotionLevel& level, int row, const MotionSweep& sweep) {
  const int columns = level.shape.columns;
  const auto changed_around = [&](int column) {
    unsigned changed = 0;
    for (int y = std::max(row - 1, 0); y <= std::min(row + 1, level.shape.rows - 1); ++y) {
      for (int x = std::max(column - 1, 0); x <= std::min(column + 1, columns - 1); ++x) {
        changed |= sweep.changed_before[y * columns + x];
      }
    }
    return changed != 0;
  };
  for (int column = 0; column < columns; ++column) {
    const int block = row * columns + column;
    const MotionVector own = sweep.before[block];
    sweep.after[block] = own;
    sweep.changed[block] = 0;
    if (!changed_around(column)) {
      continue;
    }
    Vectors<motion::kNeighbours> neighbours;
    HWY_UNROLL(8)
    for (int i = 0; i < motion::kNeighbours; ++i) {
      neighbours[i] = motion::neighbour(i, level.shape, column, row, sweep.before);
    }
    unsigned left = untried(neighbours, own);
    if (left == 0) {
      continue;
    }
    const Window window(level, column, row);
    const std::int32_t own_difference = sweep.differences[block];
    motion::Choice best;
    const auto consider = [&](const MotionVector& vector, std::int32_t difference) HWY_ATTR {
      int disagreements = 0;
      for (const MotionVector& neighbour : neighbours) {
        disagreements += motion::disagreement(vector, neighbour);
      }
      best.consider(vector, difference,
                    motion::sweep_cost(vector, difference, own_difference, disagreements));
    };
    consider(own, own_difference);
    for (; left != 0; left &= left - 1) {
      const MotionVector& neighbour = neighbours[std::countr_zero(left)];
      const MotionVector vector = motion::limited(level.shape, column, row, neighbour.x, neighbour.y);
      consider(vector, window.difference(vector));
    }
    sweep.after[block] = best.vector;
    sweep.changed[block] = best.vector == own ? 0 : 1;
    sweep.differences[block] = best.difference;
  }
}

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

HWY_EXPORT(smooth_row_of_guide);
HWY_EXPORT(halve_row_of_guide);
HWY_EXPORT(search_row_of_blocks);
HWY_EXPORT(sweep_row_of_blocks);
HWY_EXPORT(quarter_row_of_blocks);

namespace {

template <typename Sample>
void guide_row_of(const FrameFormat& format, const Plane* planes, int y, std::uint8_t* out) {
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

}  // namespace

void guide_row(const FrameFormat& format, const Plane* planes, int y, std::uint8_t* out) {
  switch (format.sample_type) {
    case SampleType::kUint8:
      return guide_row_of<std::uint8_t>(format, planes, y, out);
    case SampleType::kUint16:
      return guide_row_of<std::uint16_t>(format, planes, y, out);
    case SampleType::kFloat32:
      return guide_row_of<float>(format, planes, y, out);
  }
}

void smooth_guide_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
                      int width, std::uint16_t* scratch, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(smooth_row_of_guide)(above, row, below, width, scratch, out);
}

void halve_guide_row(const std::uint8_t* above, const std::uint8_t* below, int width, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(halve_row_of_guide)(above, below, width, out);
}

void search_row(const MotionLevel& level, int row, MotionVector* vectors, std::int32_t* differences,
                std::int32_t* textures) {
  HWY_DYNAMIC_DISPATCH(search_row_of_blocks)(level, row, vectors, differences, textures);
}

void sweep_row(const MotionLevel& level, int row, const MotionSweep& sweep) {
  HWY_DYNAMIC_DISPATCH(sweep_row_of_blocks)(level, row, sweep);
}

void quarter_row(const MotionLevel& level, int row, const MotionVector* vectors,
                 const std::int32_t* differences, QuarterSamples* quarters) {
  HWY_DYNAMIC_DISPATCH(quarter_row_of_blocks)(level, row, vectors, differences, quarters);
}

}  // namespace limpid::cpu
#endif
