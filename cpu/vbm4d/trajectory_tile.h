#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/motion/motion_field.h"
#include "core/vbm4d/predictive_search.h"
#include "core/vbm4d/trajectories.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/vbm4d/picture_sums.h"

// The inner part of V-BM4D: what happens to one tile of reference patches, on one thread.
// cpu/vbm4d/along_motion.h cuts pictures into tiles and turns the sums into estimates.

namespace limpid::cpu {

/// Values of a plane in memory.
struct PictureSamples {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes from one row to the next
};

/// How samples are kept that groups take: as `type`, of which code values are zero + unit * value. Bytes and
/// floats are code values.
struct PatchSamples {
  enum class Type : std::uint8_t { kUint8, kUint16, kInt16, kFloat };
  Type type = Type::kFloat;
  float unit = 1;
  float zero = 0;

  std::ptrdiff_t bytes() const { return type == Type::kUint8 ? 1 : type == Type::kFloat ? 4 : 2; }
};

/// A picture of the stream as groups see it. All planes have the job's size.
struct FollowedPicture {
  struct Plane {
    PictureSamples noisy;
    PictureSamples basic;         ///< basic estimate; none in the first step
    PictureSums* sums = nullptr;  ///< null if estimates are not wanted
  };
  PictureSamples guide;                      ///< bytes (TrajectoryJob)
  PictureSamples noisy_guide;                ///< the first step's
  const MotionField* back = nullptr;         ///< luma's motion to the picture before
  const MotionField* ahead = nullptr;        ///< and to the one after it
  std::vector<std::mutex>* locks = nullptr;  ///< of the numerators, as StepJob's
  std::array<Plane, 3> planes;
};

/// vbm4d::kGuideScale's least value as a byte.
inline constexpr int kLeastGuideByte = 128 - vbm4d::kGuideScale.limit;

/// One step over the reference patches of one picture, in planes that share their groups.
struct TrajectoryJob {
  const StepTables* tables = nullptr;  ///< of patches of 8x8
  bool wiener = false;
  PatchSamples noisy;
  PatchSamples basic;
  /// Guides are bytes, 128 more than matching values, or 8-bit samples, of which those under kLeastGuideByte
  /// are to be taken for it.
  bool guide_is_samples = false;
  bool noisy_guide_is_samples = false;
  float numerator_scale = 1;  ///< units of PictureSums' numerators
  int width = 0;
  int height = 0;
  int shift_x = 0;  ///< luma's samples to one of the planes'
  int shift_y = 0;
  vbm4d::TrajectoryBounds bounds;
  std::optional<vbm4d::PredictiveSearch> predictive;  ///< groups are V-BM3D's
  /// The search for similar patches in the reference patches' picture, as BM3D's; and with the grid of these.
  StepJob similar;
  std::vector<CoefficientNoise> noise;  ///< of each plane
  std::vector<vbm4d::NoiseOverTime> noise_over_time;
  /// Those that groups may reach, in their order, and which of them the reference patches are in.
  std::vector<FollowedPicture> pictures;
  int current = 0;
};

/// Where a group's patches are: each one's picture is of the job's. Trajectories have patch frame * members +
/// member; V-BM3D's groups are of a single frame, as transforms across them go, and have patches of any. No
/// patch's picture is before that of the patch before it.
struct TrajectoryGroup {
  Position reference;
  int frames = 0;
  int members = 0;
  bool lost = false;  ///< as of vbm4d::members_of()
  std::array<std::int8_t, vbm4d::kMostPatches> pictures;
  std::array<Position, vbm4d::kMostPatches> places;
  /// How many quarters of a sample patches lie right of their places and below them (quarter_samples.h).
  std::array<std::uint8_t, vbm4d::kMostPatches> right{};
  std::array<std::uint8_t, vbm4d::kMostPatches> below{};

  int size() const { return frames * members; }
  /// Such patches have no estimate.
  bool is_between_samples(int patch) const { return (right[patch] | below[patch]) != 0; }
};

/// A thread's working memory.
struct TrajectoryScratch {
  std::vector<TrajectoryGroup> groups;
  std::vector<std::uint64_t> candidates;  // of V-BM3D
  TileScratch matching;
  AlignedVector<float> noisy_group;
  AlignedVector<float> basic_group;
  AlignedVector<float> samples;  // of a group's patches
  AlignedVector<float> sums;
};

/// Follows, filters and aggregates one tile into the pictures' sums. Thread-safe for different scratches.
void process_trajectories(const TrajectoryJob& job, const Tile& tile, TrajectoryScratch& scratch);

}  // namespace limpid::cpu
