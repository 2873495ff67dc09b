#pragma once

#include <cstdint>

// Groups of V-BM3D as all engines find them (core/README.md). Constant expressions may be used in device
// code.
//
// In the reference patch's own picture a square around it is searched. From there the search goes to the next
// picture, one way and the other, for as far as the filter reaches and there is no cut: what is searched
// there are small squares around the places where the patches most like the reference patch were in the
// picture before. The patches most like it, of all pictures, are the group, in the order of their pictures,
// and of their rows and columns there.

namespace limpid::vbm4d {

/// How far the search goes in one step.
struct PredictiveSearch {
  int window = 7;             ///< side of the square in the reference patch's picture, odd, 1 to 65
  int predictive_window = 5;  ///< side of those in all other pictures, odd, 1 to 33
  int best = 2;               ///< how many of these there are in a picture, 1 to kMostBest
  /// What a patch at the reference patch's own place in another picture is ahead of others, by sigma squared
  /// (mean squared difference).
  float position_bonus = 0;
  bool operator==(const PredictiveSearch&) const = default;
};

inline constexpr int kMostBest = 4;
inline constexpr std::int32_t kMostPositionBonus = 1 << 23;  ///< more than any distance

/// By what patches are ordered: the least are the best. No two patches that are compared have the same.
/// `distance`, and `bonus` if the patch isn't at the reference patch's place, are sums of squared differences
/// of matching values; `picture` is its number among those that the group can reach.
constexpr std::uint64_t candidate_key(std::int32_t distance, std::int32_t bonus, int picture, int x, int y) {
  return (static_cast<std::uint64_t>(distance) + static_cast<std::uint64_t>(bonus)) << 37U |
         static_cast<std::uint64_t>(picture) << 32U | static_cast<std::uint64_t>(y) << 16U |
         static_cast<std::uint64_t>(x);
}
/// The reference patch comes first, whatever others are like.
constexpr std::uint64_t reference_key(int picture, int x, int y) {
  return candidate_key(0, 0, picture, x, y);
}

/// The sum of squared differences that the key was made of, for a reference patch at (x, y).
constexpr std::int32_t distance_of(std::uint64_t key, std::int32_t bonus, int x, int y) {
  const bool in_place = (key & 0xFFFFFFFFU) == (candidate_key(0, 0, 0, x, y) & 0xFFFFFFFFU);
  return static_cast<std::int32_t>(key >> 37U) - (in_place ? 0 : bonus);
}
constexpr int x_of(std::uint64_t key) { return static_cast<int>(key & 0xFFFFU); }
constexpr int y_of(std::uint64_t key) { return static_cast<int>(key >> 16U & 0xFFFFU); }
constexpr int picture_of(std::uint64_t key) { return static_cast<int>(key >> 32U & 0x1FU); }
/// By what patches of a group are ordered.
constexpr std::uint64_t place_of(std::uint64_t key) { return key & ((std::uint64_t{1} << 37U) - 1); }

}  // namespace limpid::vbm4d
