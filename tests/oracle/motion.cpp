// SPDX-License-Identifier: MIT
#include "tests/oracle/motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>

namespace limpid::oracle {
namespace {

constexpr int kSide = 8;  // side of a block

BytePicture smooth(const BytePicture& in) {
  BytePicture out = in;
  constexpr int kKernel[] = {1, 2, 1};
  for (int y = 0; y < in.height; ++y) {
    for (int x = 0; x < in.width; ++x) {
      int sum = 8;
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          sum += kKernel[i + 1] * kKernel[j + 1] * in.at(x + i, y + j);
        }
      }
      out.samples[static_cast<std::size_t>(y) * in.width + x] = static_cast<std::uint8_t>(sum / 16);
    }
  }
  return out;
}

BytePicture halve(const BytePicture& in) {
  BytePicture out = {(in.width + 1) / 2, (in.height + 1) / 2, {}};
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const int sum = in.at(2 * x, 2 * y) + in.at(2 * x + 1, 2 * y) + in.at(2 * x, 2 * y + 1) +
                      in.at(2 * x + 1, 2 * y + 1);
      out.samples.push_back(static_cast<std::uint8_t>((sum + 2) / 4));
    }
  }
  return out;
}

// One level's search.
struct MotionSearch {
  BytePicture reference;
  BytePicture current;
  bool finest = false;
  int columns = 0;
  int rows = 0;
  std::vector<MotionVector> vectors;
  std::vector<std::int32_t> differences;

  const MotionVector& vector(int column, int row) const {
    return vectors[static_cast<std::size_t>(std::clamp(row, 0, rows - 1)) * columns +
                   std::clamp(column, 0, columns - 1)];
  }

  MotionVector limit(int column, int row, int x, int y) const {
    const auto along = [&](int vector, int begin, int size) {
      const int least = (finest ? 0 : -kSide) - begin;
      const int greatest = (finest ? size - kSide : size) - begin;
      return static_cast<std::int16_t>(std::clamp(vector, least, greatest));
    };
    return {along(x, kSide * column, current.width), along(y, kSide * row, current.height)};
  }

  // Calls function(x, y, weight) for all samples of a block's window: the block's columns count twice, the
  // eight on each side once; all of its rows, and every second of the eight above and below.
  template <typename Function>
  static void for_window(int column, int row, const Function& function) {
    for (const int j : {-7, -5, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14}) {
      for (int i = -kSide; i < 2 * kSide; ++i) {
        function(kSide * column + i, kSide * row + j, i >= 0 && i < kSide ? 2 : 1);
      }
    }
  }

  std::int32_t difference(int column, int row, const MotionVector& v) const {
    std::int32_t sum = 0;
    for_window(column, row, [&](int x, int y, int weight) {
      sum += weight * std::abs(current.at(x, y) - reference.at(x + v.x, y + v.y));
    });
    return sum;
  }

  std::int32_t texture(int column, int row) const {
    std::int32_t sum = 0;
    for_window(column, row, [&](int x, int y, int weight) { sum += weight * current.at(x, y); });
    const int mean = (sum + 256) / 512;
    sum = 0;
    for_window(column, row,
               [&](int x, int y, int weight) { sum += weight * std::abs(current.at(x, y) - mean); });
    return sum;
  }
};

// The least cost so far.
struct LeastCost {
  std::int64_t cost = std::numeric_limits<std::int64_t>::max();
  MotionVector vector;
  std::int32_t difference = 0;
  void take(std::int64_t its_cost, const MotionVector& v, std::int32_t its_difference) {
    if (its_cost < cost) {
      *this = {its_cost, v, its_difference};
    }
  }
};

LeastCost search_block(const MotionSearch& level, const MotionSearch* coarser, int column, int row) {
  LeastCost least;
  const auto take = [&](int x, int y, const auto& share) {
    const MotionVector v = level.limit(column, row, x, y);
    const std::int64_t difference = level.difference(column, row, v);
    least.take(difference * share(v), v, static_cast<std::int32_t>(difference));
  };
  if (coarser == nullptr) {
    const auto rest_is_cheaper = [](const MotionVector& v) { return v == MotionVector{} ? 512 : 640; };
    take(0, 0, rest_is_cheaper);
    for (int y = -8; y <= 8; ++y) {
      for (int x = -8; x <= 8; ++x) {
        take(x, y, rest_is_cheaper);
      }
    }
    return least;
  }
  const int across = column % 2 == 0 ? -1 : 1;  // direction of the nearest other block of the coarser level
  const int along = row % 2 == 0 ? -1 : 1;
  const std::pair<int, int> around[] = {{0, 0},          {across, 0},  {0, along},
                                        {across, along}, {-across, 0}, {0, -along}};
  for (const auto& [i, j] : around) {
    const MotionVector& v = coarser->vector(column / 2 + i, row / 2 + j);
    take(2 * v.x, 2 * v.y, [](const MotionVector& w) { return w == MotionVector{} ? 512 : 544; });
  }
  take(0, 0, [](const MotionVector& w) { return w == MotionVector{} ? 512 : 544; });
  const MotionVector predicted = least.vector;
  for (int y = -1; y <= 1; ++y) {
    for (int x = -1; x <= 1; ++x) {
      if (x != 0 || y != 0) {
        take(predicted.x + x, predicted.y + y,
             [](const MotionVector& w) { return w == MotionVector{} ? 552 : 584; });
      }
    }
  }
  return least;
}

LeastCost sweep_block(const MotionSearch& level, int column, int row) {
  std::vector<MotionVector> around;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      if (i != 0 || j != 0) {
        around.push_back(level.vector(column + i, row + j));
      }
    }
  }
  const std::size_t block = static_cast<std::size_t>(row) * level.columns + column;
  const std::int64_t before = level.differences[block];
  LeastCost least;
  std::vector<MotionVector> taken;
  const auto take = [&](const MotionVector& v) {
    if (std::find(taken.begin(), taken.end(), v) != taken.end()) {
      return;
    }
    taken.push_back(v);
    std::int64_t penalty = v == MotionVector{} ? 0 : 32;
    for (const MotionVector& other : around) {
      penalty += 4 * std::min(std::abs(v.x - other.x) + std::abs(v.y - other.y), 4);
    }
    const std::int64_t difference = level.difference(column, row, v);
    least.take(512 * difference + penalty * before, v, static_cast<std::int32_t>(difference));
  };
  take(level.vectors[block]);
  for (const MotionVector& other : around) {
    take(level.limit(column, row, other.x, other.y));
  }
  return least;
}

QuarterSamples find_quarters(const MotionSearch& level, int column, int row) {
  const std::size_t block = static_cast<std::size_t>(row) * level.columns + column;
  const MotionVector& v = level.vectors[block];
  const auto along = [&](int x, int y) {
    const MotionVector before = level.limit(column, row, v.x - x, v.y - y);
    const MotionVector after = level.limit(column, row, v.x + x, v.y + y);
    if (before == v || after == v) {
      return std::int8_t{0};
    }
    const double a = level.difference(column, row, before);
    const double b = level.differences[block];
    const double c = level.difference(column, row, after);
    const double curvature = a - 2 * b + c + b / 4;
    const double vertex = curvature > 0 ? (a - c) / 2 / curvature : 0;
    return static_cast<std::int8_t>(std::clamp(std::lround(4 * vertex), -2L, 2L));
  };
  return {along(1, 0), along(0, 1)};
}

template <typename Function>
void set_all(MotionSearch& level, const Function& function) {
  std::vector<MotionVector> vectors;
  std::vector<std::int32_t> differences;
  for (int row = 0; row < level.rows; ++row) {
    for (int column = 0; column < level.columns; ++column) {
      const LeastCost least = function(column, row);
      vectors.push_back(least.vector);
      differences.push_back(least.difference);
    }
  }
  level.vectors = std::move(vectors);
  level.differences = std::move(differences);
}

}  // namespace

int BytePicture::at(int x, int y) const {
  return samples[static_cast<std::size_t>(std::clamp(y, 0, height - 1)) * width +
                 std::clamp(x, 0, width - 1)];
}

MotionField find_motion(const BytePicture& reference, const BytePicture& current,
                        const MotionParameters& parameters) {
  MotionField field;
  field.columns = current.width / kSide;
  field.rows = current.height / kSide;
  if (field.columns == 0 || field.rows == 0) {
    return {};
  }
  std::vector<MotionSearch> levels = {
      {smooth(reference), smooth(current), true, field.columns, field.rows, {}, {}}};
  while (levels.size() < 6) {
    const MotionSearch& finer = levels.back();
    MotionSearch level = {halve(finer.reference),
                          halve(finer.current),
                          false,
                          (finer.columns + 1) / 2,
                          (finer.rows + 1) / 2,
                          {},
                          {}};
    if (std::min(level.current.width, level.current.height) < 40) {
      break;
    }
    levels.push_back(std::move(level));
  }
  const MotionSearch* coarser = nullptr;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    set_all(*level, [&](int column, int row) { return search_block(*level, coarser, column, row); });
    for (int sweep = 0; sweep < 2; ++sweep) {
      set_all(*level, [&](int column, int row) { return sweep_block(*level, column, row); });
    }
    coarser = &*level;
  }
  field.vectors = levels.front().vectors;
  field.differences = levels.front().differences;
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      field.textures.push_back(levels.front().texture(column, row));
      if (parameters.quarters) {
        field.quarters.push_back(find_quarters(levels.front(), column, row));
      }
    }
  }
  return field;
}

double compensated_error(const BytePicture& reference, const BytePicture& current, const MotionField& field) {
  double sum = 0;
  for (int y = 0; y < kSide * field.rows; ++y) {
    for (int x = 0; x < kSide * field.columns; ++x) {
      const std::size_t block = field.block_at(x, y);
      const MotionVector& v = field.vectors[block];
      const QuarterSamples q = field.quarters.empty() ? QuarterSamples{} : field.quarters[block];
      const double across = std::abs(q.x) / 4.0;
      const double along = std::abs(q.y) / 4.0;
      const int from_x = x + v.x;
      const int from_y = y + v.y;
      const int to_x = from_x + (q.x < 0 ? -1 : 1);
      const int to_y = from_y + (q.y < 0 ? -1 : 1);
      const double predicted =
          (reference.at(from_x, from_y) * (1 - across) + reference.at(to_x, from_y) * across) * (1 - along) +
          (reference.at(from_x, to_y) * (1 - across) + reference.at(to_x, to_y) * across) * along;
      sum += std::pow(current.at(x, y) - predicted, 2);
    }
  }
  return sum / (kSide * kSide * static_cast<double>(field.vectors.size()));
}

MotionField find_motion_exhaustively(const BytePicture& reference, const BytePicture& current, int radius) {
  MotionField field = {current.width / kSide, current.height / kSide, {}, {}, {}, {}};
  for (int row = 0; row < field.rows; ++row) {
    for (int column = 0; column < field.columns; ++column) {
      const int left = kSide * column;
      const int top = kSide * row;
      std::pair<int, int> least = {std::numeric_limits<int>::max(), 0};  // and the vector's length
      MotionVector best;
      for (int dy = std::max(-radius, -top); dy <= std::min(radius, current.height - kSide - top); ++dy) {
        for (int dx = std::max(-radius, -left); dx <= std::min(radius, current.width - kSide - left); ++dx) {
          int sum = 0;
          for (int y = top; y < top + kSide; ++y) {
            const std::uint8_t* a =
                current.samples.data() + static_cast<std::size_t>(y) * current.width + left;
            const std::uint8_t* b =
                reference.samples.data() + static_cast<std::size_t>(y + dy) * current.width + left + dx;
            for (int x = 0; x < kSide; ++x) {
              sum += (a[x] - b[x]) * (a[x] - b[x]);
            }
          }
          const std::pair<int, int> found = {sum, std::abs(dx) + std::abs(dy)};
          if (found < least) {
            least = found;
            best = {static_cast<std::int16_t>(dx), static_cast<std::int16_t>(dy)};
          }
        }
      }
      field.vectors.push_back(best);
    }
  }
  return field;
}

}  // namespace limpid::oracle
