// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/bm3d/matching.h"
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
// crosses a scene cut. Optionally, positions have an accuracy of quarters of a sample (quarter_samples.h).
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

/// Limits of one step, as sums of squared differences of matching values (core/bm3d/matching.h).
struct TrajectoryBounds {
  std::int32_t greatest = 0;  ///< limit for a patch that continues a trajectory
  /// Added per sample of distance from the predicted position, along either axis.
  std::int32_t sample_cost = 0;
  MatchingDistances similar;  ///< limits for patches whose trajectories are joined
  int most_of_lost = 0;       ///< maximum number of patches in a group whose trajectory was lost
  bool quarters = false;      ///< trajectories have an accuracy of quarters of a sample
                              ///< (quarter_samples.h)
};

/// True if two pictures have nothing in common, as at a scene cut or in a flash: this share of all blocks
/// could not be followed between them (core/motion/followed.h). In strong noise, single patches of different
/// scenes can look similar.
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

}  // namespace limpid::vbm4d
