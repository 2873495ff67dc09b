// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "core/repair/repair.h"

namespace limpid::repair {
namespace {

constexpr int kLeastContrast = 8 * kUnit;  // to all samples around it in the frames before and after
constexpr int kMargin = 8;                 // samples around a tile that its motion is measured by
constexpr int kGrow = 2;                   // samples around seeds that may belong to the defect
constexpr int kObjectRadius = 16;  // within which outliers of the frames before and after are the same object

struct Vector {
  int x = 0;
  int y = 0;
};

/// The search for dust in a picture. Its seeds are the samples that are lighter or darker than all samples
/// around their places in both neighboring frames, along motion.
class Dust {
 public:
  Dust(const Picture& before, const Picture& now, const Picture& after)
      : neighbors_{&before.samples, &after.samples},
        now_(now.samples),
        columns_(tiles_along(now_.width)),
        detail_(before.detail),
        seeds_(now_.values.size()),
        counts_(detail_.size()),
        motions_(detail_.size()) {}

  /// Calls replace(x, y, to_before, to_after) for each sample with dust.
  template <typename Replace>
  void find(const Replace& replace) {
    constexpr std::ptrdiff_t kLeastTiles = 24;
    constexpr int kMostShare = 32;
    constexpr int kMostSeeds = kTile * kTile / 4;  // of a tile; what is larger is an object
    std::ptrdiff_t tiles = 0;
    for (int tile = 0; tile < std::ssize(counts_); ++tile) {
      if (differs(tile) && find_seeds(tile) && follow(tile) && find_seeds(tile) &&
          ++tiles > std::max(kLeastTiles, std::ssize(counts_) / kMostShare)) {
        return;  // rain, sparks, a flash, or motion that cannot be followed
      }
    }
    for (int tile = 0; tile < std::ssize(counts_); ++tile) {
      if (counts_[tile] > 0 && counts_[tile] < kMostSeeds) {
        try_tile(tile, replace);
      }
    }
  }

 private:
  Box whole() const { return {0, 0, now_.width, now_.height}; }
  Box box_of(int tile) const {
    const int left = tile % columns_ * kTile;
    const int top = tile / columns_ * kTile;
    return {left, top, std::min(left + kTile, now_.width), std::min(top + kTile, now_.height)};
  }
  int threshold(int tile) const { return kLeastContrast + 2 * detail_[tile]; }

  // True for a sample that is lighter (`sign` 1) or darker than all samples around its place in another
  // frame.
  bool is_outlier(const Samples& samples, int x, int y, const Samples& other, const Vector& vector, int sign,
                  int tile) const {
    const int value = sign * samples.row(y)[x] - threshold(tile);
    const Vector place{x + vector.x, y + vector.y};
    bool is = whole().contains(place.x, place.y) && value > sign * other.row(place.y)[place.x];
    if (is) {
      Box{place.x, place.y, place.x + 1, place.y + 1}.wider(1, whole()).for_each([&](int i, int k) {
        is = is && value > sign * other.row(k)[i];
      });
    }
    return is;
  }

  // False for a tile that surely has no seeds as long as its motion is 0.
  bool differs(int tile) const {
    const Box box = box_of(tile);
    const int most = threshold(tile);
    int differing = 0;
    for (int y = box.top; y < box.bottom; ++y) {
      const std::int16_t* const rows[] = {now_.row(y), neighbors_[0]->row(y), neighbors_[1]->row(y)};
      for (int x = box.left; x < box.right; ++x) {
        differing +=
            std::min(std::abs(rows[0][x] - rows[1][x]), std::abs(rows[0][x] - rows[2][x])) > most ? 1 : 0;
      }
    }
    return differing > 0;
  }

  // Returns true if the tile has seeds.
  bool find_seeds(int tile) {
    counts_[tile] = 0;
    box_of(tile).for_each([&](int x, int y) {
      std::int8_t& seed = seeds_[std::ptrdiff_t{y} * now_.width + x];
      seed = 0;
      for (const int sign : {1, -1}) {
        if (is_outlier(now_, x, y, *neighbors_[0], motions_[tile][0], sign, tile) &&
            is_outlier(now_, x, y, *neighbors_[1], motions_[tile][1], sign, tile)) {
          seed = static_cast<std::int8_t>(sign);
          ++counts_[tile];
        }
      }
    });
    return counts_[tile] > 0;
  }

  int seed(int x, int y) const { return seeds_[std::ptrdiff_t{y} * now_.width + x]; }
  // The sign of the last seed within kGrow samples; 0 without seeds.
  int seed_near(int x, int y) const {
    int sign = 0;
    Box{x, y, x + 1, y + 1}.wider(kGrow, whole()).for_each([&](int i, int k) {
      sign = seed(i, k) != 0 ? seed(i, k) : sign;
    });
    return sign;
  }

  // The sum of differences between the samples of a box and those in another frame, or `most` if that is
  // less. Few samples that differ much, as dust, count little.
  int difference(const Samples& other, const Box& box, const Vector& vector, int most) const {
    constexpr std::int16_t kMostDifference = 24 * kUnit;
    int sum = 0;
    for (int y = box.top; y < box.bottom && sum < most; y += 2) {
      const std::int16_t* const row = now_.row(y);
      const std::int16_t* const others = other.row(y + vector.y) + vector.x;
      std::int16_t of_row = 0;  // of at most 32 samples; 16 bits make it a vector's work
      for (int x = box.left; x < box.right; ++x) {
        const int difference = std::max(row[x], others[x]) - std::min(row[x], others[x]);
        of_row = static_cast<std::int16_t>(of_row +
                                           std::min(static_cast<std::int16_t>(difference), kMostDifference));
      }
      sum += of_row;
    }
    return std::min(sum, most);
  }

  // Searches the motion of a tile and the samples around it near that of other tiles, and everywhere if that
  // fails. Returns false, and removes its seeds, if it cannot be followed.
  bool follow(int tile) {
    constexpr int kNear = 2;
    constexpr int kFar = 12;
    const Box wide = box_of(tile).wider(kMargin, whole());
    const int samples = (wide.right - wide.left) * ((wide.bottom - wide.top + 1) / 2);
    const int most = (2 * detail_[tile] + kUnit) * samples;
    for (std::size_t n = 0; n < neighbors_.size(); ++n) {
      int least = std::numeric_limits<int>::max();
      Vector best;
      const auto consider = [&](const Vector& vector) {
        if (wide.left + vector.x >= 0 && wide.top + vector.y >= 0 && wide.right + vector.x <= now_.width &&
            wide.bottom + vector.y <= now_.height) {
          const int sum = difference(*neighbors_[n], wide, vector, least);
          best = sum < least ? vector : best;
          least = sum;
        }
      };
      consider({});
      for (const int known : {tile - 1, tile - columns_, tile - columns_ + 1}) {
        consider(known < 0 ? Vector() : motions_[known][n]);
      }
      for (const int radius : {kNear, kFar}) {
        if (const Vector center = best; radius == kNear || least > most) {
          Box{-radius, -radius, radius + 1, radius + 1}.for_each([&](int x, int y) {
            consider({center.x + x, center.y + y});
          });
        }
      }
      motions_[tile][n] = best;
      counts_[tile] = least > most ? 0 : counts_[tile];
    }
    return counts_[tile] > 0;
  }

  // True if the other frame has outliers of this sign near the tile that this frame does not have: an object
  // that moves, as a ball, a spark or rain.
  bool has_moved(int n, int tile, int sign) const {
    const Vector& to = motions_[tile][n];
    int others = 0;
    box_of(tile).wider(kObjectRadius, whole()).for_each([&](int x, int y) {
      const Vector place{x + to.x, y + to.y};
      others += whole().contains(place.x, place.y) &&
                        is_outlier(*neighbors_[n], place.x, place.y, now_, {-to.x, -to.y}, sign, tile)
                    ? 1
                    : 0;
    });
    return 3 * others > counts_[tile];
  }

  template <typename Replace>
  void try_tile(int tile, const Replace& replace) const {
    const auto& to = motions_[tile];
    const auto old = [&](int x, int y) { return neighbors_[0]->row(y + to[0].y)[x + to[0].x]; };
    const auto next = [&](int x, int y) { return neighbors_[1]->row(y + to[1].y)[x + to[1].x]; };
    int disagreement = 0;
    int signs = 0;
    const Box box = box_of(tile);
    box.for_each([&](int x, int y) {
      signs += seed(x, y);
      disagreement += seed(x, y) == 0 ? 0 : std::abs(old(x, y) - next(x, y));
    });
    const int sign = signs > 0 ? 1 : -1;
    if (disagreement > 2 * (detail_[tile] + kUnit) * counts_[tile] || has_moved(0, tile, sign) ||
        has_moved(1, tile, sign)) {
      return;
    }
    // Around the seeds, what differs in the same direction.
    box.for_each([&](int x, int y) {
      const int excess = now_.row(y)[x] - (old(x, y) + next(x, y)) / 2;
      if (seed(x, y) != 0 || seed_near(x, y) * excess > detail_[tile] + 2 * kUnit) {
        replace(x, y, to[0], to[1]);
      }
    });
  }

  std::array<const Samples*, 2> neighbors_;
  const Samples& now_;
  int columns_;
  const std::vector<int>& detail_;              // of tiles, in the frame before
  std::vector<std::int8_t> seeds_;              // of samples: 1 and -1 for lighter and darker ones
  std::vector<int> counts_;                     // of seeds in tiles
  std::vector<std::array<Vector, 2>> motions_;  // of tiles, to the frames before and after
};

}  // namespace

std::int64_t repair_dust(const Picture& before, const Picture& now, const Picture& after, Frame& out) {
  const FrameFormat& format = now.frame.format;
  Dust dust(before, now, after);
  std::int64_t count = 0;
  dust.find([&](int x, int y, const Vector& to_before, const Vector& to_after) {
    ++count;
    for (int p = 0; p < format.color_plane_count(); ++p) {
      const bool is_chroma = format.color_model == ColorModel::kYuv && p > 0;
      const auto sample = [&](const Frame& of, const Vector& vector, auto type) -> decltype(auto) {
        const Plane& plane = of.planes[p];
        const int row = std::min((y + vector.y) >> (is_chroma ? format.chroma_shift_y : 0), plane.height - 1);
        const int column =
            std::min((x + vector.x) >> (is_chroma ? format.chroma_shift_x : 0), plane.width - 1);
        return plane.row<decltype(type)>(row)[column];
      };
      visit_samples(format, [&](auto type) {
        const float sum = static_cast<float>(sample(before.frame, to_before, type)) +
                          static_cast<float>(sample(after.frame, to_after, type));
        sample(out, {}, type) = static_cast<decltype(type)>(sum / 2);
      });
    }
  });
  return count;
}

}  // namespace limpid::repair
