#pragma once

#include <cstdint>

#include "core/bm3d/matching.h"
#include "core/motion/motion_field.h"

// Groups of V-BM4D as all engines find them (core/README.md). Constant expressions may be used in device
// code.
//
// A reference patch is followed from frame to frame: block motion predicts its place in the next frame, and
// of that place and the eight around it the one is taken whose patch is most like the reference patch; a
// little more unlike for each sample away from the prediction, so that noise doesn't lead it astray.
// The trajectory ends before the frame where even that patch is too unlike. A patch that repeats the last one
// of the trajectory to the bit of the first step's matching values, noise and all, as in repeated frames and
// where codecs skip blocks, is no new evidence: it is passed over. One of a single value has no noise and is
// not. No trajectory crosses a cut. If asked for, places are found to quarters of a sample
// (quarter_samples.h). A group is the trajectory and, if it is short, those of similar patches of the
// reference's frame, which move as the reference does. They are fewer where the trajectory was lost, not
// ended by its scene, and references lie densely: those of its neighbors reach further, so that others cost
// more than they bring.

namespace limpid::vbm4d {

inline constexpr int kPatch = 8;

/// What patches are compared by has whole code values, 1 to 255, in both steps and for all formats: finer
/// ones gain nothing from sigma 1 on, and 0.15 dB at most at sigma 0.5.
inline constexpr MatchingScale kGuideScale{.bytes = true, .scale = 1, .limit = 127};

inline constexpr int kMostFrames = 17;              ///< of a trajectory
inline constexpr int kMostReach = kMostFrames - 1;  ///< before and after its reference, together
inline constexpr int kMostMembers = 16;             ///< of a group: trajectories
inline constexpr int kMostPatches = kMostFrames;    ///< of a group

/// Bounds in sums of squared differences of matching values (core/bm3d/matching.h), for one step.
struct TrajectoryBounds {
  std::int32_t greatest = 0;     ///< of a patch that continues a trajectory
  std::int32_t sample_cost = 0;  ///< for each sample away from the predicted place, along either axis
  MatchingDistances similar;     ///< of the patches whose trajectories join
  int most_of_lost = 0;          ///< patches of a group whose trajectory was lost
  bool quarters = false;         ///< trajectories are followed to quarters of a sample (quarter_samples.h)
  /// Of V-BM3D (predictive_search.h): what patches at the reference patch's place are ahead of others.
  /// `greatest` is of a patch of its groups then, and nothing else counts.
  std::int32_t position_bonus = 0;
};

/// Whether two pictures have nothing in common, as at a cut or in a flash, where so many of all blocks could
/// not be followed from one to the other (core/motion/followed.h). In strong noise patches of one scene pass
/// for those of another, one by one.
constexpr bool is_cut(std::int64_t lost, std::int64_t blocks) { return 2 * lost > blocks; }
/// The vectors of the motion between such pictures.
inline constexpr MotionVector kNowhere{.x = INT16_MIN, .y = INT16_MIN};

/// What noise is taken to be in a group's coefficients, against what it is in a picture: deviations where
/// coefficients are thresholded, variances where they are shrunk. Content along a trajectory changes little,
/// so that more of what changes is noise, and less of what does not. In groups of one picture it is what it
/// is.
struct NoiseOverTime {
  float constant[kMostFrames + 1];  ///< [frames of the group]
  float changing;

  /// For coefficient i of a group's patches, in the order of group_transform() (core/vbm4d/vbm4d_plan.h).
  constexpr float of(int i, int frames, int size) const {
    return frames == 1 ? 1.0F : i * frames < size ? constant[frames] : changing;
  }
};

/// The candidates around a predicted place, in the order in which they are tried; of equally cheap ones the
/// first is taken.
inline constexpr int kCandidates = 9;
constexpr int candidate_x(int i) { return i % 3 - 1; }
constexpr int candidate_y(int i) { return i / 3 - 1; }
constexpr int candidate_cost(int i, const TrajectoryBounds& bounds) {
  return bounds.sample_cost * ((candidate_x(i) != 0 ? 1 : 0) + (candidate_y(i) != 0 ? 1 : 0));
}

/// A vector of luma in samples of a plane subsampled by 2^shift, to the nearest one, halves up.
constexpr int scaled(int vector, int shift) {
  return shift == 0 ? vector : (vector + (1 << shift >> 1)) >> shift;
}

/// The block of luma's field that predicts where the patch at (x, y) of a plane goes: the one that its center
/// is in.
constexpr std::size_t predicting_block(int x, int y, int shift_x, int shift_y, int columns, int rows) {
  return MotionField::block_at((x + kPatch / 2) << shift_x, (y + kPatch / 2) << shift_y, columns, rows);
}

/// How many trajectories a group has, if there are enough: the greatest power of two that does not make it
/// greater than max_group_size, or than TrajectoryBounds::most_of_lost. `lost`: the reference's has ended,
/// before or after the reference, where its patch was not found again.
constexpr int members_of(int frames, bool lost, const TrajectoryBounds& bounds, int max_group_size) {
  const bool is_lost = lost && frames > 1 && bounds.most_of_lost < max_group_size;
  const int most = is_lost ? bounds.most_of_lost : max_group_size;
  int members = 1;
  while (2 * members * frames <= most) {
    members *= 2;
  }
  return members;
}

/// Coordinate `value`, inside of 0 .. most.
constexpr int confined(int value, int most) { return value < 0 ? 0 : value > most ? most : value; }

}  // namespace limpid::vbm4d
