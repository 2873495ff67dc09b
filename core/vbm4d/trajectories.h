// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/bm3d/bm3d_parameters.h"
#include "core/motion/motion_field.h"

// V-BM4D's groups as all engines find them (docs/algorithms.md). Constant expressions may be used in device
// code.
//
// A reference patch is followed from frame to frame. Block motion predicts its position in the next frame; of
// that position and the eight around it, the one with the most similar patch is selected. A small cost per
// sample of distance from the prediction keeps noise from misleading the choice. The trajectory ends before
// the frame in which even that patch is too different. A patch that repeats the last one of the trajectory
// bit-exactly in the first step's matching values, noise included, as in repeated frames and skipped blocks
// of codecs, adds no evidence and is skipped, unless it has a single value and thus no noise. No trajectory
// crosses a scene cut. Optionally, positions have an accuracy of quarters of a sample.
//
// A group consists of the trajectory and, if it is short, the trajectories of similar patches of the
// reference's frame, displaced as the reference is. The group has fewer trajectories if the reference was
// lost before the scene ended and references are dense: the groups of its neighbors then cover the patch, and
// more trajectories cost more than they gain.

namespace limpid::vbm4d {

inline constexpr int kPatch = 8;

/// Matching compares integer code values, 1 to 255, in both steps and for all formats, unless noise is faint.
inline constexpr MatchingScale kGuideScale{.bytes = true, .scale = 1, .limit = 127};

/// The matching values of pictures of more than 8 bits whose noise is fainter than this standard deviation
/// are finer. Values that leave the range of a byte are folded into it: two contents may look equal, which is
/// rare in patches with texture and harmless in flat ones.
inline constexpr double kLeastGuideNoise = 1;
inline constexpr int kGreatestGuideScale = 128;

/// The least power of two that raises `sigma`, in code values, to kLeastGuideNoise; 1 without noise.
constexpr int guide_scale(double sigma) {
  int scale = 1;
  while (sigma > 0 && sigma * scale < kLeastGuideNoise && scale < kGreatestGuideScale) {
    scale *= 2;
  }
  return scale;
}

constexpr MatchingScale guide_matching(int scale) {
  return {.bytes = scale == 1, .scale = scale, .limit = kGuideScale.limit, .folds = scale > 1};
}

/// The greatest reach of the VNLB filter of Vbm4dParameters::vnlb_share, in frames before and after.
inline constexpr int kMixedReach = 4;

inline constexpr int kMostFrames = 17;  ///< in a trajectory
/// Maximum number of frames before and after the reference, in sum.
inline constexpr int kMostReach = kMostFrames - 1;
inline constexpr int kMostMembers = 16;           ///< maximum number of trajectories in a group
inline constexpr int kMostPatches = kMostFrames;  ///< maximum number of patches in a group

/// Limits of one step, as sums of squared differences of matching values (core/bm3d/bm3d_parameters.h).
struct TrajectoryBounds {
  std::int32_t greatest = 0;  ///< limit for a patch that continues a trajectory
  /// Added per sample of distance from the predicted position, along either axis. At most 2^22, which is more
  /// than any sum of squared differences.
  std::int32_t sample_cost = 0;
  MatchingDistances similar;  ///< limits for patches whose trajectories are joined
  int most_of_lost = 0;       ///< maximum number of patches in a group whose trajectory was lost
  bool quarters = false;      ///< trajectories have an accuracy of quarters of a sample
};

/// True if two pictures have nothing in common, as at a scene cut or in a flash: this share of all blocks
/// could not be followed between them (core/motion/motion_blocks.h). In strong noise, single patches of
/// different scenes can look similar.
constexpr bool is_cut(std::int64_t lost, std::int64_t blocks) { return 2 * lost > blocks; }
/// The vectors between pictures of which is_cut() is true.
inline constexpr MotionVector kNowhere{.x = INT16_MIN, .y = INT16_MIN};

/// Factors of the noise in a group's coefficients relative to a picture's noise: of standard deviations for
/// thresholds, of variances for shrinkage. Content changes little along a trajectory, so changing
/// coefficients contain more noise and constant ones less. Groups of one picture have factors of 1.
struct NoiseOverTime {
  float constant[kMostFrames + 1];  ///< [number of frames of the group]
  float changing;

  /// The factor for coefficient i of a group's patches, in the order of group_transform()
  /// (core/vbm4d/vbm4d_plan.h).
  constexpr float of(int i, int frames, int size) const {
    return frames == 1 ? 1.0F : i * frames < size ? constant[frames] : changing;
  }
};

/// Number of candidates around a predicted position. They are tried in this order, and the first of several
/// equally cheap ones is selected.
inline constexpr int kCandidates = 9;
constexpr int candidate_x(int i) { return i % 3 - 1; }
constexpr int candidate_y(int i) { return i / 3 - 1; }
constexpr int candidate_cost(int i, const TrajectoryBounds& bounds) {
  return bounds.sample_cost * ((candidate_x(i) != 0 ? 1 : 0) + (candidate_y(i) != 0 ? 1 : 0));
}

/// A vector of luma in samples of a plane subsampled by 2^shift, rounded to the nearest, halves up.
constexpr int scaled(int vector, int shift) {
  return shift == 0 ? vector : (vector + (1 << shift >> 1)) >> shift;
}

/// The block of luma's field that predicts the position of the patch at (x, y) of a plane: the block that
/// contains the patch's center.
constexpr std::size_t predicting_block(int x, int y, int shift_x, int shift_y, int columns, int rows) {
  return MotionField::block_at((x + kPatch / 2) << shift_x, (y + kPatch / 2) << shift_y, columns, rows);
}

/// The number of trajectories in a group, if enough exist: the greatest power of two that keeps the group
/// within max_group_size and TrajectoryBounds::most_of_lost. `lost`: the reference's trajectory ended because
/// its patch was not found.
constexpr int members_of(int frames, bool lost, const TrajectoryBounds& bounds, int max_group_size) {
  const bool is_lost = lost && frames > 1 && bounds.most_of_lost < max_group_size;
  const int most = is_lost ? bounds.most_of_lost : max_group_size;
  int members = 1;
  while (2 * members * frames <= most) {
    members *= 2;
  }
  return members;
}

/// `value` limited to 0 .. most.
constexpr int confined(int value, int most) { return value < 0 ? 0 : value > most ? most : value; }

// How all engines follow trajectories with an accuracy of quarters of a sample (docs/algorithms.md). Constant
// expressions may be used in device code.
//
// After a patch was found at a whole sample, one step of Lucas and Kanade ("An iterative image registration
// technique with an application to stereo vision", IJCAI 1981) computes its displacement from the reference
// patch's gradient. The patch is interpolated at the displaced position, and used if it is more similar to
// the reference patch.

inline constexpr int kQuarters = 4;  ///< of a sample

/// Number of samples for an interpolated value, and number of samples before its position.
inline constexpr int kTaps = 6;
inline constexpr int kTapsBefore = 2;
inline constexpr int kWeightBits = 6;

/// The weights of a row's samples for a position `quarters` after a sample, 0 to 3: Lanczos with three lobes
/// in units of 2^-kWeightBits, a signed byte each, the first one lowest.
constexpr std::uint64_t interpolation_weights(int quarters) {
  switch (quarters) {
    case 0:
      return 0x00'00'00'40'00'00;  // 0, 0, 64, 0, 0, 0
    case 1:
      return 0x01'FC'11'39'F7'02;  // 2, -9, 57, 17, -4, 1
    case 2:
      return 0x02'F7'27'27'F7'02;  // 2, -9, 39, 39, -9, 2
    default:
      return 0x02'F7'39'11'FC'01;  // 1, -4, 17, 57, -9, 2
  }
}
constexpr int interpolation_weight(int quarters, int tap) {
  return static_cast<std::int8_t>(interpolation_weights(quarters) >> (8 * tap) & 0xFF);
}

/// An interpolated value of a guide's row or column, rounded to an integer.
constexpr int rounded(int sum) { return (sum + (1 << kWeightBits >> 1)) >> kWeightBits; }

/// True if all samples exist that are needed to interpolate the patch at (x, y), or up to three quarters to
/// the right and below.
constexpr bool is_surrounded(int x, int y, int width, int height) {
  constexpr int kBehind = kPatch + kTaps - kTapsBefore - 1;
  return x >= kTapsBefore && y >= kTapsBefore && x + kBehind <= width && y + kBehind <= height;
}

inline constexpr int kGreatestGradient = 127;
/// The gradient of a patch along an axis at a sample, given the samples before and after it.
constexpr int gradient(int before, int after) { return (after - before) / 2; }
/// The gradient at the border of the patch, given the sample and its neighbor.
constexpr int gradient_at_border(int before, int after) {
  const int difference = after - before;
  return difference < -kGreatestGradient  ? -kGreatestGradient
         : difference > kGreatestGradient ? kGreatestGradient
                                          : difference;
}

/// Sums of products of the gradient over a reference patch.
struct GradientProducts {
  std::int32_t xx = 0;
  std::int32_t xy = 0;
  std::int32_t yy = 0;
};

struct QuarterVector {
  int x = 0;
  int y = 0;
  constexpr bool operator==(const QuarterVector&) const = default;
};

/// The displacement of the reference patch from a patch, in quarters of a sample, -2 to 2 along each axis.
/// `x` and `y` are sums of the gradient times (reference patch - patch).
constexpr QuarterVector beside(const GradientProducts& products, std::int32_t x, std::int32_t y) {
  const std::int64_t xx = products.xx + 1;  // never singular
  const std::int64_t yy = products.yy + 1;
  const std::int64_t xy = products.xy;
  const std::int64_t determinant = xx * yy - xy * xy;
  const auto quarters = [&](std::int64_t numerator) {
    const std::int64_t eighths = 8 * (numerator < 0 ? -numerator : numerator);
    const int magnitude = eighths >= 3 * determinant ? 2 : eighths >= determinant ? 1 : 0;
    return numerator < 0 ? -magnitude : magnitude;
  };
  return {quarters(yy * x - xy * y), quarters(xx * y - xy * x)};
}

/// A coordinate in quarters of a sample as a whole sample and a remainder.
constexpr int whole_of(int quarters) { return quarters >> 2; }
constexpr int rest_of(int quarters) { return quarters & (kQuarters - 1); }

}  // namespace limpid::vbm4d
