// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/vbm4d/trajectories.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/vbm4d/picture_sums.h"

// The inner part of V-BM4D: the work on one tile of reference patches, on one thread.
// cpu/vbm4d/along_motion.h divides pictures into tiles, and computes estimates from the sums.

namespace limpid::cpu {

/// Values of a plane in memory.
struct PictureSamples {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from one row to the next
};

/// Storage of the samples for groups: values of `type`, whose code values are zero + unit * value. Bytes and
/// floats are code values.
struct PatchSamples {
  enum class Type : std::uint8_t { kUint8, kUint16, kInt16, kFloat };
  Type type = Type::kFloat;
  float unit = 1;
  float zero = 0;

  std::ptrdiff_t bytes() const { return type == Type::kUint8 ? 1 : type == Type::kFloat ? 4 : 2; }
};

/// A picture of the stream in the form that groups use. All planes have the size of the job.
struct FollowedPicture {
  struct Plane {
    PictureSamples noisy;
    PictureSamples basic;         ///< basic estimate; empty in the first step
    PictureSums* sums = nullptr;  ///< sums of the estimates; null if estimates are not needed
  };
  PictureSamples guide;                      ///< bytes (TrajectoryJob)
  PictureSamples noisy_guide;                ///< guide of the first step
  const MotionField* back = nullptr;         ///< motion of luma to the previous picture
  const MotionField* ahead = nullptr;        ///< motion of luma to the next picture
  std::vector<std::mutex>* locks = nullptr;  ///< locks of the numerators, as StepJob::locks
  std::array<Plane, 3> planes;
};

/// The least value of vbm4d::kGuideScale as a byte.
inline constexpr int kLeastGuideByte = 128 - vbm4d::kGuideScale.limit;

/// One step for the reference patches of one picture, in planes that share their groups.
struct TrajectoryJob {
  const StepTables* tables = nullptr;  ///< tables for patches of 8x8
  bool wiener = false;
  PatchSamples noisy;
  PatchSamples basic;
  /// Guides are bytes, 128 more than matching values, or 8-bit samples, which are raised to at least
  /// kLeastGuideByte.
  bool guide_is_samples = false;
  bool noisy_guide_is_samples = false;
  float numerator_scale = 1;  ///< unit of the numerators in PictureSums
  int width = 0;
  int height = 0;
  int shift_x = 0;  ///< subsampling of the planes relative to luma
  int shift_y = 0;
  vbm4d::TrajectoryBounds bounds;
  /// The search for similar patches in the reference patches' picture, as in BM3D, with the grid of reference
  /// patches.
  StepJob similar;
  std::vector<CoefficientNoise> noise;  ///< for each plane
  std::vector<vbm4d::NoiseOverTime> noise_over_time;
  /// The pictures in reach, in order, and the index of the reference patches' picture.
  std::vector<FollowedPicture> pictures;
  int current = 0;
};

/// Positions of a group's patches and their pictures' indices in the job. The patch number is
/// frame * members + member. Pictures never decrease from one patch to the next.
struct TrajectoryGroup {
  Position reference;
  int frames = 0;
  int members = 0;
  bool lost = false;  ///< see vbm4d::members_of()
  std::array<std::int8_t, vbm4d::kMostPatches> pictures;
  std::array<Position, vbm4d::kMostPatches> places;
  /// Offset of patches to the right of their positions and below them, in quarters of a sample.
  std::array<std::uint8_t, vbm4d::kMostPatches> right{};
  std::array<std::uint8_t, vbm4d::kMostPatches> below{};

  int size() const { return frames * members; }
  /// True for patches between samples, which get no estimate.
  bool is_between_samples(int patch) const { return (right[patch] | below[patch]) != 0; }
};

/// The sums of a tile's groups. Both are empty or 0 between tiles.
struct TileSums {
  AlignedVector<float> numerators;
  std::array<std::vector<PictureSums::PatchWeight>, vbm4d::kMostFrames> weights;  ///< by picture
};

/// Working memory of a thread.
struct TrajectoryScratch {
  std::vector<TrajectoryGroup> groups;
  TileScratch matching;
  AlignedVector<float> noisy_group;
  AlignedVector<float> basic_group;
  AlignedVector<float> samples;  // of a group's patches
  TileSums sums;
};

/// Follows, filters and aggregates one tile into the pictures' sums. Thread-safe for different scratches.
void process_trajectories(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch);

}  // namespace limpid::cpu
