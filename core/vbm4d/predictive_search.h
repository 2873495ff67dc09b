// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// V-BM3D's groups as all engines find them (docs/algorithms.md). Constant expressions may be used in device
// code.
//
// The search begins in a square around the reference patch in its own picture. It then proceeds from picture
// to picture in both directions, up to the filter's reach or a scene cut. In each picture it covers small
// squares around the positions of the patches that were most similar in the picture before. The group
// consists of the most similar patches of all pictures, ordered by picture, row and column.

namespace limpid::vbm4d {

/// Parameters of the predictive search in one step.
struct PredictiveSearch {
  int window = 7;             ///< side of the search window in the reference patch's picture, odd, 1 to 65
  int predictive_window = 5;  ///< side of the search windows in all other pictures, odd, 1 to 33
  int best = 2;               ///< number of search windows in each other picture, 1 to kMostBest
  /// The advantage of a patch at the reference patch's position, in units of sigma^2 (mean squared
  /// difference).
  float position_bonus = 0;
  bool operator==(const PredictiveSearch&) const = default;
};

inline constexpr int kMostBest = 4;
/// Maximum of the position bonus, greater than any distance.
inline constexpr std::int32_t kMostPositionBonus = 1 << 23;

/// Sort key of candidates, best first; unique among the candidates of a group. `distance` and, for patches at
/// other positions than the reference patch's, `bonus` are sums of squared differences of matching values.
/// `picture` is the number of the picture among those in the group's reach.
constexpr std::uint64_t candidate_key(std::int32_t distance, std::int32_t bonus, int picture, int x, int y) {
  return (static_cast<std::uint64_t>(distance) + static_cast<std::uint64_t>(bonus)) << 37U |
         static_cast<std::uint64_t>(picture) << 32U | static_cast<std::uint64_t>(y) << 16U |
         static_cast<std::uint64_t>(x);
}
/// Sort key of the reference patch, which is always first.
constexpr std::uint64_t reference_key(int picture, int x, int y) {
  return candidate_key(0, 0, picture, x, y);
}

/// The sum of squared differences in a key, for a reference patch at (x, y).
constexpr std::int32_t distance_of(std::uint64_t key, std::int32_t bonus, int x, int y) {
  const bool in_place = (key & 0xFFFFFFFFU) == (candidate_key(0, 0, 0, x, y) & 0xFFFFFFFFU);
  return static_cast<std::int32_t>(key >> 37U) - (in_place ? 0 : bonus);
}
constexpr int x_of(std::uint64_t key) { return static_cast<int>(key & 0xFFFFU); }
constexpr int y_of(std::uint64_t key) { return static_cast<int>(key >> 16U & 0xFFFFU); }
constexpr int picture_of(std::uint64_t key) { return static_cast<int>(key >> 32U & 0x1FU); }
/// Sort key of the patches of a group: picture, row and column.
constexpr std::uint64_t place_of(std::uint64_t key) { return key & ((std::uint64_t{1} << 37U) - 1); }

}  // namespace limpid::vbm4d
