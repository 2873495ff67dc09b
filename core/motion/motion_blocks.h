#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/frame/code_values.h"
#include "core/motion/motion_field.h"

// Block motion as all engines compute it (core/README.md), in integers, so that fields are alike bit for bit:
// the guide, the pyramid's layout, and which of a block's candidates is chosen. Constant expressions may be
// used in device code.
//
// A block's vector is sought from the coarsest level of a pyramid to the finest. There all vectors of a small
// radius are tried; on every finer level those of the blocks around it on the level before, and rest, and
// then the nearest vectors around the best of them. Sweeps over each level then have neighbors agree where
// the picture does not tell. Whatever is preferred is preferred by a share of the difference, so the
// preferences grow with the noise.

namespace limpid::motion {

inline constexpr int kBlock = MotionField::kBlock;
/// Differences are summed over the block and as many samples again on all sides. Small windows follow the
/// noise: what is then taken for motion makes the noise that is left look weaker than it is. The block's
/// columns count twice. Of the rows above and below it every second counts, of which noise in smoothed
/// pictures leaves little less to know than of all.
inline constexpr int kWindow = 3 * kBlock;
inline constexpr std::array<int, 3> kColumnWeights = {1, 2, 1};  ///< of eight columns each
inline constexpr int kWindowRows = 2 * kBlock;
constexpr int window_row(int i) {
  return i < kBlock / 2 ? 2 * i - kBlock + 1 : i < kBlock * 3 / 2 ? i - kBlock / 2 : 2 * i - 2 * kBlock;
}
/// What a difference of one code value everywhere in the window adds up to.
inline constexpr int kDifferenceUnit = kWindowRows * 4 * kBlock;

/// The mean of a window's weighted samples, given their sum.
constexpr int mean_of_window(int sum) { return (sum + kDifferenceUnit / 2) / kDifferenceUnit; }

inline constexpr int kMostLevels = 6;
/// A level less wide or high than this has no coarser one. Found by trial, like the preferences: windows of
/// still coarser levels hold too much of the picture.
inline constexpr int kLeastSide = 40;
/// How far is searched on the coarsest level, in its samples: in 1080p, 128 samples of the picture.
inline constexpr int kRadius = 8;

// The guide: the picture as matching sees it, in 8-bit code values, smoothed by [1 2 1] / 4 along each axis.
// Samples beyond a plane's border are those at the border. RGB's is a rough luminance.

/// What the guide's smoothing leaves of white noise's deviation.
inline constexpr double kGuideNoiseGain = 6.0 / 16;

/// The difference of a block that is followed well, if there is white Gaussian noise of deviation `sigma` in
/// the guide's plane of both pictures: sqrt(4 / pi) of the deviation. Noise of other spectra differs by its
/// own gain in the smoothing.
constexpr double difference_of_noise(double sigma) {
  constexpr double kMeanOfDifference = 1.1283791670955126;  // of two Gaussian variables of deviation 1
  return kDifferenceUnit * kMeanOfDifference * kGuideNoiseGain * sigma;
}

constexpr int guide_value(std::uint8_t sample, int /*bit_depth*/) { return sample; }

constexpr int guide_value(std::uint16_t sample, int bit_depth) {
  const int shift = bit_depth - 8;
  return std::min((sample + (1 << shift >> 1)) >> shift, 255);
}

constexpr int guide_value(float sample, int /*bit_depth*/) {
  // The clamping between product and sum keeps compilers from fusing them, which would round otherwise.
  constexpr float kRounding = 1 << 23;  // the sum has no fraction
  const float value = std::min(std::max(usable_code_value(sample * 255), 0.0F), 255.0F);
  return static_cast<int>(value + kRounding - kRounding);
}

constexpr int guide_value_of_rgb(int red, int green, int blue) { return (red + 2 * green + blue + 2) >> 2; }

constexpr int smoothed(int before, int value, int after) { return before + 2 * value + after; }
constexpr int smoothed_in_both(int sum) { return (sum + 8) >> 4; }
/// A sample of the next level: the mean of 2 x 2.
constexpr int halved(int a, int b, int c, int d) { return (a + b + c + d + 2) >> 2; }

/// A level of the pyramid in memory: rows of bytes with a margin on all sides that repeats the border.
struct Level {
  int width = 0;
  int height = 0;
  int stride = 0;
  std::size_t origin = 0;  ///< of sample (0, 0), from the pyramid's begin
  int columns = 0;         ///< of blocks
  int rows = 0;
  bool finest = false;
};

/// What windows may reach beyond the samples: a block just outside and a cell around it, and what vectors of
/// 32 bytes read in vain.
inline constexpr int kMarginColumns = 32;
inline constexpr int kMarginRows = 2 * kBlock;

struct Pyramid {
  int count = 0;  ///< of levels, the finest first; 0 if the picture is smaller than a block
  std::array<Level, kMostLevels> levels;
  std::size_t bytes = 0;
};

constexpr Pyramid pyramid_of(int width, int height) {
  Pyramid pyramid;
  if (width < kBlock || height < kBlock) {
    return pyramid;
  }
  Level level = {
      .width = width, .height = height, .columns = width / kBlock, .rows = height / kBlock, .finest = true};
  while (true) {
    constexpr int kAlignment = 64;
    level.stride = (level.width + 2 * kMarginColumns + kAlignment - 1) / kAlignment * kAlignment;
    level.origin = pyramid.bytes + std::size_t{kMarginRows} * level.stride + kMarginColumns;
    pyramid.bytes += static_cast<std::size_t>(level.stride) * (level.height + 2 * kMarginRows);
    pyramid.levels[pyramid.count++] = level;
    level.width = (level.width + 1) / 2;
    level.height = (level.height + 1) / 2;
    level.columns = (level.columns + 1) / 2;
    level.rows = (level.rows + 1) / 2;
    level.finest = false;
    if (pyramid.count == kMostLevels || std::min(level.width, level.height) < kLeastSide) {
      return pyramid;
    }
  }
}

/// `vector`, changed as little as it takes for the block's counterpart to be inside of the reference; on
/// coarser levels it may be just outside, so that what enters the picture can be followed.
constexpr MotionVector limited(const Level& level, int column, int row, int x, int y) {
  const int beyond = level.finest ? 0 : kBlock;
  const int left = column * kBlock;
  const int top = row * kBlock;
  return {
      static_cast<std::int16_t>(std::min(std::max(x, -beyond - left), level.width - kBlock + beyond - left)),
      static_cast<std::int16_t>(std::min(std::max(y, -beyond - top), level.height - kBlock + beyond - top))};
}

// The preferences, in units of a difference's 512th. Found by trial on clips with noise of sigma 0 to 40
// (what blocks differ by without noise along vectors that were found with it; how much of the noise is left
// in differences along them) and on flat pictures with noise, which should rest.
inline constexpr int kDifferenceWeight = 512;
inline constexpr int kMotionPenalty = 32;           ///< of others than rest
inline constexpr int kCoarsestMotionPenalty = 128;  ///< the same on the coarsest level, where many are tried
inline constexpr int kRefinementPenalty = 40;       ///< of vectors near a predicted one
inline constexpr int kDisagreementPenalty = 4;      ///< for a sample's distance from a neighbor's vector
inline constexpr int kGreatestDisagreement = 4;     ///< in samples; more counts as this

/// A second sweep gains a little more, a third hardly anything.
inline constexpr int kSweeps = 2;

// A cost is at most (512 + 128 + 8 * 4 * 4) * 255 * kDifferenceUnit < 2^27.

constexpr int motion_penalty(const MotionVector& vector) {
  return vector == MotionVector{} ? 0 : kMotionPenalty;
}
constexpr int coarsest_cost(const MotionVector& vector, std::int32_t difference) {
  return (kDifferenceWeight + (vector == MotionVector{} ? 0 : kCoarsestMotionPenalty)) * difference;
}
constexpr int prediction_cost(const MotionVector& vector, std::int32_t difference) {
  return (kDifferenceWeight + motion_penalty(vector)) * difference;
}
constexpr int refinement_cost(const MotionVector& vector, std::int32_t difference) {
  return (kDifferenceWeight + motion_penalty(vector) + kRefinementPenalty) * difference;
}

/// The predicted vectors of a block, in the order in which they are tried, before they are limited(): those
/// of the block over it on the coarser level, of that one's neighbors, the near ones first, and rest.
inline constexpr int kPredictions = 7;

constexpr MotionVector prediction(int i, int column, int row, const Level& coarser,
                                  const MotionVector* coarser_vectors) {
  if (i == kPredictions - 1) {
    return {};
  }
  // Toward the nearest other block, away from it or neither, four bits for each prediction, the first
  // lowest.
  constexpr unsigned kAcross = 0x102121;
  constexpr unsigned kAlong = 0x012211;
  const auto step = [i](unsigned steps, int place) {
    return (static_cast<int>(steps >> 4 * i & 3U) - 1) * (place % 2 == 0 ? -1 : 1);
  };
  const int over_column = std::min(std::max(column / 2 + step(kAcross, column), 0), coarser.columns - 1);
  const int over_row = std::min(std::max(row / 2 + step(kAlong, row), 0), coarser.rows - 1);
  const MotionVector& over = coarser_vectors[over_row * coarser.columns + over_column];
  return {static_cast<std::int16_t>(2 * over.x), static_cast<std::int16_t>(2 * over.y)};
}

/// The offsets of the eight neighbors of a block or of a vector.
inline constexpr int kNeighbors = 8;
constexpr int neighbor_x(int i) { return (i < kNeighbors / 2 ? i : i + 1) % 3 - 1; }
constexpr int neighbor_y(int i) { return (i < kNeighbors / 2 ? i : i + 1) / 3 - 1; }

/// The vector of a block's neighbor; beyond the border, that of the nearest block.
constexpr MotionVector neighbor(int i, const Level& level, int column, int row, const MotionVector* vectors) {
  const int x = std::min(std::max(column + neighbor_x(i), 0), level.columns - 1);
  const int y = std::min(std::max(row + neighbor_y(i), 0), level.rows - 1);
  return vectors[y * level.columns + x];
}

constexpr int distance(int a, int b) { return a < b ? b - a : a - b; }

/// How little a neighbor agrees with a vector.
constexpr int disagreement(const MotionVector& vector, const MotionVector& neighbor) {
  const int whole = distance(vector.x, neighbor.x) + distance(vector.y, neighbor.y);
  // Not std::min(), which refers to the constant: device code has no such object, and nvcc makes that a trap.
  return whole < kGreatestDisagreement ? whole : kGreatestDisagreement;
}

/// What a vector costs a block in a sweep, given the difference along it and along the vector that the block
/// has before, and the sum of all neighbors' disagreements.
constexpr int sweep_cost(const MotionVector& vector, std::int32_t difference, std::int32_t own_difference,
                         int disagreements) {
  return kDifferenceWeight * difference +
         (motion_penalty(vector) + kDisagreementPenalty * disagreements) * own_difference;
}

/// How far the least difference is from a vector, in quarters of a sample, along one axis: where the parabola
/// through the differences one sample before it, at it and one sample after it has its vertex, but the
/// nearer, the flatter the parabola is, since noise then makes most of it.
constexpr int quarters_to_least(std::int32_t before, std::int32_t at, std::int32_t after) {
  // (before - after) / 2 over before - 2 at + after, to which a quarter of `at` is added.
  const std::int32_t curvature = 4 * (before + after) - 7 * at;
  if (curvature <= 0) {
    return 0;
  }
  const std::int32_t slope = 8 * (before - after);
  const std::int32_t quarters = (2 * (slope < 0 ? -slope : slope) + curvature) / (2 * curvature);
  return slope < 0 ? -std::min(quarters, 2) : std::min(quarters, 2);
}

/// The cheapest candidate so far; of equally cheap ones, the first.
struct Choice {
  MotionVector vector;
  std::int32_t difference = 0;
  int cost = 0x7FFFFFFF;

  constexpr void consider(const MotionVector& candidate, std::int32_t its_difference, int its_cost) {
    if (its_cost < cost) {
      vector = candidate;
      difference = its_difference;
      cost = its_cost;
    }
  }
};

}  // namespace limpid::motion
