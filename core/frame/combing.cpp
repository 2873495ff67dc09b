// SPDX-License-Identifier: MIT
#include "core/frame/combing.h"

#include <array>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

namespace limpid {
namespace {

// `Pair` holds the sum of two samples, `Sum` a sum of squares over a block.
template <typename Sample, typename Pair, typename Sum>
class CombedBlocks {
 public:
  /// `before`: null if all blocks count as changed.
  CombedBlocks(const Plane& plane, const Plane* before, std::int64_t code_value)
      : plane_(plane),
        before_(before),
        code_value_(code_value),
        columns_(plane.width / kCombBlock),
        pairs_(std::size_t{kCombBlock} * columns_ * kCombColumns) {}

  float share() {
    const int lines = plane_.height / kCombBlock;
    int combed = 0;
    for (int line = 0; line < lines; ++line) {
      read(line * kCombBlock);
      for (int column = 0; column < columns_; ++column) {
        combed += is_combed(line, column) ? 1 : 0;
      }
    }
    return share_of_combed_blocks(combed, columns_ * lines);
  }

 private:
  void read(int top) {
    for (int y = 0; y < kCombBlock; ++y) {
      const auto* const from = plane_.row<const Sample>(top + y);
      Pair* const to = pairs(y, 0);
      for (int x = 0; x < columns_ * kCombColumns; ++x) {
        to[x] = static_cast<Pair>(comb_sample(from[2 * x]) + comb_sample(from[2 * x + 1]));
      }
    }
  }

  Pair* pairs(int y, int column) {
    return pairs_.data() + (std::ptrdiff_t{y} * columns_ + column) * kCombColumns;
  }

  bool is_combed(int line, int column) {
    Sum neighbors = 0;  // less than 2^25 for 8-bit samples
    Sum same_field = 0;
    std::array<std::int32_t, kCombBlock> rows{};
    for (int y = 0; y < kCombBlock; ++y) {
      const Pair* const row = pairs(y, column);
      rows[y] = std::accumulate(row, row + kCombColumns, 0);
    }
    for (int y = 0; y < kCombRows; ++y) {
      const Pair* const row = pairs(y, column);
      const Pair* const next = pairs(y + 1, column);
      const Pair* const after = pairs(y + 2, column);
      for (int x = 0; x < kCombColumns; ++x) {
        // 16-bit factors: SIMD multiplies them directly for 8-bit samples.
        const auto to_next = static_cast<Pair>(row[x] - next[x]);
        const auto to_after = static_cast<Pair>(row[x] - after[x]);
        neighbors += Sum{to_next} * to_next;
        same_field += Sum{to_after} * to_after;
      }
    }
    CombSums sums;
    for (int y = 0; y < kCombRows; ++y) {
      const std::int64_t whole = rows[y] - rows[y + 1];
      sums.rows += whole * whole;
    }
    sums.neighbors = neighbors;
    sums.same_field = same_field;
    if (!may_be_combed(sums, code_value_) || before_ == nullptr) {
      return may_be_combed(sums, code_value_);
    }
    add_change(line * kCombBlock, column, sums);
    return is_combed_block(sums, code_value_);
  }

  void add_change(int top, int column, CombSums& sums) {
    for (int y = 0; y < kCombRows; ++y) {
      const auto* const old = before_->row<const Sample>(top + y) + std::ptrdiff_t{column} * kCombBlock;
      const Pair* const row = pairs(y, column);
      for (int x = 0; x < kCombColumns; ++x) {
        const std::int64_t change = row[x] - comb_sample(old[2 * x]) - comb_sample(old[2 * x + 1]);
        sums.change += change * change;
      }
    }
  }

  const Plane& plane_;
  const Plane* before_;
  std::int64_t code_value_;
  int columns_;
  std::vector<Pair> pairs_;  // column pairs of a row of blocks
};

float share_of(const Frame& frame, const Frame* before) {
  const int plane = comb_plane(frame.format);
  const Plane& now = frame.planes[plane];
  const Plane* const old = before == nullptr ? nullptr : &before->planes[plane];
  const std::int64_t code_value = comb_code_value(frame.format);
  return visit_samples(frame.format, [&]<typename Sample>(Sample) {
    using Pair = std::conditional_t<sizeof(Sample) == 1, std::int16_t, std::int32_t>;
    using Sum = std::conditional_t<sizeof(Sample) == 1, std::int32_t, std::int64_t>;
    return CombedBlocks<Sample, Pair, Sum>(now, old, code_value).share();
  });
}

}  // namespace

float combed_share(const Frame& frame, const Frame& before) { return share_of(frame, &before); }

float combed_share(const Frame& frame) { return share_of(frame, nullptr); }

}  // namespace limpid
