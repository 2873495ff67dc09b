// SPDX-License-Identifier: MIT
#include "core/noise/changing_area.h"

#include <algorithm>
#include <cstddef>

namespace limpid::noise {
namespace {

constexpr int kSide = 16;
constexpr int kLeastBlocks = 64 / kSide;  // along each side of the area
constexpr double kMostShare = 0.6;        // of the picture
constexpr double kLeastFilled = 0.9;      // share of the area's blocks that change
constexpr double kLeastOfLine = 0.75;     // share of each of its rows and columns at the border
constexpr double kMostOutside = 0.1;  // changing blocks outside, relative to those inside: a pointer, a clock

// True if more than a third of the block's samples change unlike their left neighbors. Noise changes more of
// them. Codecs change a few samples of what stands still, and windows that open change most samples alike.
// Every fourth row is compared.
bool is_changed(const Frame& a, const Frame& b, const Region& block) {
  constexpr int kRowStep = 4;
  int differing = 0;
  int compared = 0;
  visit_samples(a.format, [&]<typename Sample>(Sample) {
    for (int y = block.y; y < block.y + block.height; y += kRowStep) {
      const auto* const row = a.planes[0].row<const Sample>(y);
      const auto* const other = b.planes[0].row<const Sample>(y);
      auto last = row[block.x] - other[block.x];
      for (int x = block.x + 1; x < block.x + block.width; ++x) {
        const auto change = row[x] - other[x];
        differing += change != last ? 1 : 0;
        last = change;
      }
      compared += block.width;
    }
  });
  return 3 * differing > compared;
}

// From the first to the last of `lines` in which at least half of the blocks that `count` counts change.
struct Range {
  int first = 0;
  int size = 0;
};
template <typename Count>
Range busy_range(int lines, double least, const Count& count) {
  Range range;
  for (int i = 0; i < lines; ++i) {
    if (count(i) >= least) {
      range.first = range.size == 0 ? i : range.first;
      range.size = i + 1 - range.first;
    }
  }
  return range;
}

}  // namespace

void ChangingArea::add(const Frame& frame) {
  if (!last_) {
    columns_ = (frame.planes[0].width + kSide - 1) / kSide;
    rows_ = (frame.planes[0].height + kSide - 1) / kSide;
    changes_.assign(static_cast<std::size_t>(columns_) * rows_, 0);
  } else {
    for (int i = 0; i < columns_ * rows_; ++i) {
      const int x = i % columns_ * kSide;
      const int y = i / columns_ * kSide;
      const Region block{x, y, std::min(kSide, frame.planes[0].width - x),
                         std::min(kSide, frame.planes[0].height - y)};
      changes_[i] += is_changed(*last_, frame, block) ? 1 : 0;
    }
    ++pairs_;
  }
  last_ = frame;
}

std::optional<Region> ChangingArea::find() const {
  if (pairs_ == 0) {
    return std::nullopt;
  }
  // Noise changes in each frame. The picture in a recording of a screen may have a lower frame rate.
  const int least = std::max((pairs_ + 2) / 3, std::min(pairs_, 2));
  const auto count = [&](const Region& blocks) {
    int sum = 0;
    for (int y = blocks.y; y < blocks.y + blocks.height; ++y) {
      const auto row = changes_.begin() + std::ptrdiff_t{y} * columns_ + blocks.x;
      sum +=
          static_cast<int>(std::count_if(row, row + blocks.width, [&](int each) { return each >= least; }));
    }
    return sum;
  };
  const auto is_full_at_border = [&](const Region& blocks) {
    const auto is_full = [&](const Region& line) {
      return count(line) >= kLeastOfLine * line.width * line.height;
    };
    return is_full({blocks.x, blocks.y, blocks.width, 1}) &&
           is_full({blocks.x, blocks.y + blocks.height - 1, blocks.width, 1}) &&
           is_full({blocks.x, blocks.y, 1, blocks.height}) &&
           is_full({blocks.x + blocks.width - 1, blocks.y, 1, blocks.height});
  };
  int most = 0;
  for (int y = 0; y < rows_; ++y) {
    most = std::max(most, count({0, y, columns_, 1}));
  }
  // Half of the changes of the busiest row, then at least half of the area's own blocks.
  Range rows = busy_range(rows_, std::max(most / 2.0, 1.0), [&](int y) {
    return count({0, y, columns_, 1});
  });
  const Range columns = busy_range(columns_, std::max(rows.size / 2.0, 1.0), [&](int x) {
    return count({x, rows.first, 1, rows.size});
  });
  rows = busy_range(rows_, std::max(columns.size / 2.0, 1.0), [&](int y) {
    return count({columns.first, y, columns.size, 1});
  });
  const Region blocks{columns.first, rows.first, columns.size, rows.size};
  const double size = static_cast<double>(blocks.width) * blocks.height;
  const int inside = count(blocks);
  const int outside = count({0, 0, columns_, rows_}) - inside;
  if (blocks.width < kLeastBlocks || blocks.height < kLeastBlocks || size > kMostShare * columns_ * rows_ ||
      inside < kLeastFilled * size || outside > kMostOutside * inside || !is_full_at_border(blocks)) {
    return std::nullopt;
  }
  const Plane& plane = last_->planes[0];
  return Region{blocks.x * kSide, blocks.y * kSide,
                std::min(blocks.width * kSide, plane.width - blocks.x * kSide),
                std::min(blocks.height * kSide, plane.height - blocks.y * kSide)};
}

}  // namespace limpid::noise
