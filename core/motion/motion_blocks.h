// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/frame/frame.h"
#include "core/motion/motion_field.h"

// Block motion as all engines compute it (docs/algorithms.md), in integers, so that fields are bit-exact: the
// guide, the layout of the pyramid, and the choice among a block's candidates. Constant expressions may be
// used in device code.
//
// A block's vector is searched from the coarsest level of a pyramid to the finest. The coarsest level tries
// all vectors within a small radius. Every finer level tries the vectors of the blocks around it on the level
// before, and the zero vector, and then the vectors next to the best of them. Sweeps over each level then
// make neighbors agree where the picture is ambiguous. Preferences are shares of the difference, so they grow
// with the noise.

namespace limpid::motion {

inline constexpr int kBlock = MotionField::kBlock;
/// Differences are summed over a window that extends the block by its own size on all sides. Smaller windows
/// follow the noise: the motion found then makes the remaining noise look weaker than it is. The block's
/// columns count twice. Only every second of the rows above and below the block counts: in smoothed pictures,
/// noise makes the other rows almost redundant.
inline constexpr int kWindow = 3 * kBlock;
/// Weights of the window's three groups of eight columns.
inline constexpr std::array<int, 3> kColumnWeights = {1, 2, 1};
inline constexpr int kWindowRows = 2 * kBlock;
constexpr int window_row(int i) {
  return i < kBlock / 2 ? 2 * i - kBlock + 1 : i < kBlock * 3 / 2 ? i - kBlock / 2 : 2 * i - 2 * kBlock;
}
/// The sum of a window in which all samples differ by one code value.
inline constexpr int kDifferenceUnit = kWindowRows * 4 * kBlock;

/// The mean of a window's weighted samples, given their sum.
constexpr int mean_of_window(int sum) { return (sum + kDifferenceUnit / 2) / kDifferenceUnit; }

inline constexpr int kMostLevels = 6;
/// Minimum width and height of a level that has a coarser level. Found by trial, like the penalties below:
/// windows of coarser levels cover too much of the picture.
inline constexpr int kLeastSide = 40;
/// Search radius on the coarsest level, in its samples; in 1080p, 128 samples of the picture.
inline constexpr int kRadius = 8;

// The guide: the picture used for matching, in 8-bit code values, smoothed by [1 2 1] / 4 along each axis.
// Samples beyond a plane's border repeat the border. RGB's guide is a rough luminance.

/// The factor of white noise's standard deviation in the guide's smoothing.
inline constexpr double kGuideNoiseGain = 6.0 / 16;

/// The difference of a correctly followed block with white Gaussian noise of standard deviation `sigma` in
/// the guide's plane of both pictures: sqrt(4 / pi) times the standard deviation. Noise of other spectra has
/// its own gain in the smoothing.
constexpr double difference_of_noise(double sigma) {
  constexpr double kMeanOfDifference = 1.1283791670955126;  // for two Gaussian variables of standard
                                                            // deviation 1
  return kDifferenceUnit * kMeanOfDifference * kGuideNoiseGain * sigma;
}

constexpr int guide_value(std::uint8_t sample, int /*bit_depth*/) { return sample; }

constexpr int guide_value(std::uint16_t sample, int bit_depth) {
  const int shift = bit_depth - 8;
  return std::min((sample + (1 << shift >> 1)) >> shift, 255);
}

constexpr int guide_value(float sample, int /*bit_depth*/) {
  // The clamping between product and sum prevents compilers from fusing them, which would round differently.
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
  std::size_t origin = 0;  ///< position of sample (0, 0), from the beginning of the pyramid
  int columns = 0;         ///< of blocks
  int rows = 0;
  bool finest = false;
};

/// Margins that windows may reach into: a block just outside and a cell around it, plus the unused bytes that
/// vectors of 32 bytes read.
inline constexpr int kMarginColumns = 32;
inline constexpr int kMarginRows = 2 * kBlock;

struct Pyramid {
  int count = 0;  ///< number of levels, the finest first; 0 if the picture is smaller than a block
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

/// `vector` with the smallest change that puts the block's counterpart inside the reference. On coarser
/// levels it may be just outside, so that content that enters the picture can be followed.
constexpr MotionVector limited(const Level& level, int column, int row, int x, int y) {
  const int beyond = level.finest ? 0 : kBlock;
  const int left = column * kBlock;
  const int top = row * kBlock;
  return {
      static_cast<std::int16_t>(std::min(std::max(x, -beyond - left), level.width - kBlock + beyond - left)),
      static_cast<std::int16_t>(std::min(std::max(y, -beyond - top), level.height - kBlock + beyond - top))};
}

// The preferences, in units of 1/512 of a difference. Found by trial on clips with noise of sigma 0 to 40 (by
// the differences of the noise-free blocks along vectors found with noise, and by the share of noise in
// differences along them) and on flat noisy pictures, whose vectors should be zero.
inline constexpr int kDifferenceWeight = 512;
inline constexpr int kMotionPenalty = 32;  ///< penalty of vectors other than zero
/// Penalty of vectors other than zero on the coarsest level, where many vectors are tried.
inline constexpr int kCoarsestMotionPenalty = 128;
inline constexpr int kRefinementPenalty = 40;  ///< penalty of vectors near a predicted one
/// Penalty per sample of distance from a neighbor's vector.
inline constexpr int kDisagreementPenalty = 4;
/// Maximum distance from a neighbor's vector that counts, in samples.
inline constexpr int kGreatestDisagreement = 4;

/// Number of sweeps. A second sweep gains little more, a third hardly anything.
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

/// The predicted vectors of a block in order of trial, before limited(): the vector of the block above it on
/// the coarser level, those of that block's neighbors, the nearest first, and the zero vector.
inline constexpr int kPredictions = 7;

constexpr MotionVector prediction(int i, int column, int row, const Level& coarser,
                                  const MotionVector* coarser_vectors) {
  if (i == kPredictions - 1) {
    return {};
  }
  // Steps toward the nearest other block, away from it or neither: four bits for each prediction, the first
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

/// The offsets of the eight neighbors of a block or a vector.
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

/// The disagreement of a neighbor with a vector.
constexpr int disagreement(const MotionVector& vector, const MotionVector& neighbor) {
  const int whole = distance(vector.x, neighbor.x) + distance(vector.y, neighbor.y);
  // Not std::min(), which refers to the constant: device code has no such object, and nvcc turns that into a
  // trap.
  return whole < kGreatestDisagreement ? whole : kGreatestDisagreement;
}

/// The cost of a vector for a block in a sweep, given the difference along it and along the block's current
/// vector, and the sum of all neighbors' disagreements.
constexpr int sweep_cost(const MotionVector& vector, std::int32_t difference, std::int32_t own_difference,
                         int disagreements) {
  return kDifferenceWeight * difference +
         (motion_penalty(vector) + kDisagreementPenalty * disagreements) * own_difference;
}

/// The distance of the least difference from a vector along one axis, in quarters of a sample: the vertex of
/// the parabola through the differences one sample before the vector, at it and one sample after it. The
/// flatter the parabola, the more the result is reduced, since noise then determines most of it.
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

/// The cheapest candidate so far; of several with equal cost, the first.
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

/// True if a block's vector leads to matching content, given the block's difference and texture in a
/// MotionField and the difference that noise alone causes (difference_of_noise()): the difference minus the
/// noise is less than a few code values plus a share of the texture. A constant expression for device code.
constexpr bool is_followed(std::int32_t difference, std::int32_t texture, std::int32_t noise) {
  constexpr std::int64_t kCodeValues = 6 * kDifferenceUnit;
  const auto square = [](std::int64_t value) { return value * value; };
  // Noise varies from window to window by about a tenth.
  const std::int64_t left = std::max(square(difference) - square(noise) * 5 / 4, std::int64_t{0});
  // One picture's noise has half the variance of the difference's noise.
  const std::int64_t shown = std::max(square(texture) - square(noise) / 2, std::int64_t{0});
  return left <= shown / 2 + square(kCodeValues);
}

/// The number of blocks that could not be followed. It is at most a tenth in most clips, a third if water or
/// leaves fill the picture, and 0.6 to 1 of all if the pictures have nothing in common, as at a scene cut.
/// Strong noise hides textures and lowers it: to half of that at sigma 50.
inline std::size_t lost_blocks(const MotionField& field, std::int32_t noise) {
  std::size_t lost = 0;
  for (std::size_t i = 0; i < field.differences.size(); ++i) {
    lost += is_followed(field.differences[i], field.textures[i], noise) ? 0U : 1U;
  }
  return lost;
}

}  // namespace limpid::motion
