#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/bm3d/matching.h"
#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/predictive_search.h"
#include "core/vbm4d/quarter_samples.h"
#include "core/vbm4d/trajectories.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/matching.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/planes.h"

// The kernels of V-BM4D (core/README.md). All that is said of pictures is by their numbers among those that
// one reference picture's groups can reach, from 0 on.

namespace limpid::cuda {

inline constexpr int kMostPictures = limpid::vbm4d::kMostFrames;

/// What trajectories are followed on: the matching values of a picture (limpid::vbm4d::kGuideScale). Margins
/// may be read, a row and eight samples on each side, and are whatever they were.
struct TrajectoryGuide {
  static constexpr int kMargin = 8;  ///< columns

  LIMPID_HOST_DEVICE static int pitch_of(int width) { return (width + 2 * kMargin + 7) / 8 * 8; }
  static std::size_t bytes_of(int width, int height) {
    return static_cast<std::size_t>(pitch_of(width)) * (height + 2);
  }
  /// Sample (0, 0) in memory of bytes_of().
  static std::int8_t* first_of(std::int8_t* memory, int width) { return memory + pitch_of(width) + kMargin; }
};

/// Fills a guide, of which `out` is sample (0, 0), from code values.
void prepare_guide(const FloatPlane& values, std::int8_t* out, cudaStream_t stream);
/// Fills a plane for matching from a guide of its size.
void prepare_matching(const std::int8_t* guide, const MatchingPlane& out, cudaStream_t stream);

/// How groups take a plane's samples: as halves or floats, less `offset`, times `unit`. In halves, code
/// values of 8 to 11 bits are exact.
struct GroupSamples {
  /// Rows behind the plane's, of what may be read around patches.
  static constexpr int kMarginRows = limpid::vbm4d::kTaps;

  float offset = 0;
  float unit = 1;
  int pitch = 0;  ///< samples from one row to the next; of the sums, too

  /// Of a plane of such height in memory.
  LIMPID_HOST_DEVICE static int rows(int height) { return height + kMarginRows; }
  std::size_t positions(int height) const { return static_cast<std::size_t>(pitch) * rows(height); }
};

/// out = values as groups take them, and around them, in all of GroupSamples::positions(), as if they were 0.
void store_halves(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream);
void store_floats(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream);

/// The groups of the reference patches of grid rows [first_row, last_row). The group of (column, row) is
/// number i = (row - first_row) * columns + column.
struct Trajectories {
  /// [i]: a bit for each of its pictures, the first one's lowest, + 2^kWantedShift * how many trajectories it
  /// has, if there are so many similar patches.
  unsigned* shapes = nullptr;
  /// [i * slots + p]: the place of its first trajectory in picture p, x + 65536 y; only where it has one.
  unsigned* places = nullptr;
  /// The patches similar to the reference patches, as in Groups; only where more than one trajectory is
  /// wanted. Trajectory m of a group is as far from the first one as they are.
  std::int16_t* members = nullptr;
  /// [i * slots + p]: how many quarters of a sample the first trajectory's patch in picture p lies right of
  /// its place, + 4 * how many below; null if all are at whole samples.
  std::uint8_t* quarters = nullptr;
  int pictures = 0;
  int slots = 0;  ///< as many as pictures; in V-BM3D's groups as many as patches
  int capacity = 0;
  int first_row = 0;
  int last_row = 0;

  /// Groups are V-BM3D's: shapes[i] is the number of patches, of which places[i * slots + m] is where patch m
  /// is, and members[i * capacity + m] its picture.
  bool predictive = false;

  static constexpr int kWantedShift = 20;

  static std::size_t bytes_of(int slots, int capacity) {
    return sizeof(unsigned) + slots * (sizeof(unsigned) + sizeof(std::uint8_t)) +
           capacity * sizeof(std::int16_t);
  }
};

/// Blocks of threads treat so many reference patches along each axis.
inline constexpr int kGroupTile = 8;

/// What trajectories are predicted by from one picture to the next.
struct FollowedField {
  const MotionVector* vectors = nullptr;
  const std::int32_t* lost = nullptr;  ///< how many blocks were not found again

  FollowedField() = default;
  explicit FollowedField(const DeviceMotionField& field) : vectors(field.vectors()), lost(field.lost()) {}
};

struct TrajectoryJob {
  ReferenceGrid grid;
  int shift_x = 0;  ///< of the plane, against luma
  int shift_y = 0;
  int own = 0;                                          ///< the reference picture
  const std::int8_t* guides[kMostPictures] = {};        ///< sample (0, 0)
  const std::int8_t* noisy_guides[kMostPictures] = {};  ///< the first step's, likewise
  FollowedField ahead[kMostPictures];                   ///< from a picture to the one after it
  FollowedField back[kMostPictures];                    ///< and to the one before it
  int columns = 0;                                      ///< of luma's blocks
  int rows = 0;
  limpid::vbm4d::TrajectoryBounds bounds;
  limpid::vbm4d::PredictiveSearch search;     ///< of V-BM3D
  Bm3dStep step;                              ///< which similar patches to find
  const MatchingVariant* matching = nullptr;  ///< for that step
  MatchingPlane similar;                      ///< working memory; not used if groups have room for one alone
  Trajectories out;
};

/// Finds groups.
void follow_trajectories(const TrajectoryJob& job, cudaStream_t stream);
/// Finds V-BM3D's.
void search_predictively(const TrajectoryJob& job, cudaStream_t stream);

/// The sums of one plane, as integers, so that they don't depend on the order of additions: a picture's
/// numerators are followed by its weights, both of `pitch` times its height, and, in narrow sums, by cells.
/// Numerators are sums of weight * window * sample in units of 2^-numerator_bits; each patch's weight counts
/// once, at its first sample, in units of 2^-weight_bits, and is at least one unit.
///
/// Wide sums, of 64 bits, can't overflow: a contribution is limited to 31 bits, four times what samples can
/// be, a weight has 24, and a picture is reached by no more than 70 patches for each reference patch of its
/// size: one from each of 17 pictures, or as many as trajectories of one length i have, 16 / i, of the 2 i -
/// 1 that reach it at all. With 61 million reference patches that is 2^63.
///
/// Narrow sums, of 32 bits, halve memory and traffic. Contributions are limited to kMostSample times their
/// weight, so that numerators are right where the denominator is within kMostUnits: where it is beyond, no
/// estimate is made, and samples stay as they are. Nor are any where denominators may be wrong: cells of 4x4
/// positions tell whether weights can have overflowed, as each patch adds its own to its cell, rounded up to
/// a quarter, of which a cell holds 2^32. All this takes at least three times as much weight as meets where
/// groups lie evenly and have the greatest: motion that shrinks pictures to half their size within a reach.
/// If estimates are made from farther than 8 pictures away, it is twelve times as much: what has come into
/// the picture since is followed back to where it came from.
struct GroupSums {
  static constexpr int kCell = 4;
  static constexpr float kMostSample = 192;
  /// Of what is left, roundings by half a unit take less, of the patches that cells have room for.
  static constexpr float kMostUnits = 0x1.FFp30F / kMostSample;

  bool narrow = false;
  int weight_bits = 24;
  int numerator_bits = 22;

  GroupSums() = default;
  /// Wide ones of groups whose patches may all be in one picture, as many as there are: with fewer bits.
  static GroupSums of_patches() {
    GroupSums sums;
    sums.weight_bits = 20;
    sums.numerator_bits = 18;
    return sums;
  }
  /// Of a step's groups.
  GroupSums(bool are_narrow, const Vbm4dStep& step, const TemporalSpan& span);

  LIMPID_HOST_DEVICE static int cells_along(int length) { return (length + kCell - 1) / kCell; }
  /// What a weight counts in a cell, in units.
  LIMPID_HOST_DEVICE int cell_bits() const { return weight_bits - 2; }
  std::size_t bytes_of(int pitch, int height) const;
};

/// Tables of filter_trajectories(), on the current device.
class GroupTransforms {
 public:
  static constexpr int kMost = 16;  ///< patches; longer ones have kernels of their own
  /// The matrix of so many frames and members (group_transform()) begins at number_of() * kMost^2: for each
  /// patch, kMost values of its coefficients, 0 where there are none.
  static constexpr int number_of(int frames, int members) {
    return (31 - __builtin_clz(static_cast<unsigned>(members))) * kMost + frames - 1;
  }
  static std::size_t floats() { return std::size_t{5} * kMost * kMost * kMost; }
  /// Fills host memory of floats().
  static void fill(float* tables);
};

/// Tables of filter_trajectories() for patches between samples, on the current device: matrices of 8 rows and
/// 16 columns, which are the 2D transform along one axis after interpolation along it, of samples of which
/// the first kTapsBefore come before the patch. Their scale is that of FilterTables::forward.
class InterpolatingTransforms {
 public:
  static constexpr int kShifts = 4;
  static constexpr int kWhole = limpid::vbm4d::kQuarters;  ///< of no interpolation: the patch comes first
  static constexpr int kWords = (kWhole + 1) * kShifts * FilterTables::kLanes * 2;

  /// Of a patch so many quarters behind its place, or kWhole, if `shift` other samples come first.
  LIMPID_HOST_DEVICE static constexpr int number_of(int quarters, int shift) {
    return quarters * kShifts + shift;
  }
  /// Fills host memory of kWords: for each matrix and lane, as an operand (matrix.h), the words of the first
  /// eight columns and of the others.
  static void fill(const Bm3dStep& step, unsigned* tables);
};

struct GroupJob {
  ReferenceGrid grid;
  Trajectories groups;
  int own = 0;
  GroupSamples samples;
  GroupSums format;  ///< of sums; noisy samples are halves where sums are narrow
  const void* noisy[kMostPictures] = {};
  const void* basic[kMostPictures] = {};  ///< halves; none in the first step
  void* sums[kMostPictures] = {};         ///< null: the picture is given no estimates
  float lambda = 0;                       ///< first step
  float sigma = 0;
  limpid::vbm4d::NoiseOverTime over_time{};
  std::span<const float> variances;  ///< Bm3dComponent::coefficient_variances of the step
  std::optional<NoiseShape::Curve> curve;
  const float* brightness = nullptr;  ///< of find_brightness(), where the curve is by the guide
  const FilterTables* tables = nullptr;
  const float* transforms = nullptr;        ///< GroupTransforms
  const unsigned* interpolating = nullptr;  ///< InterpolatingTransforms; if the groups have quarters
};

/// Filters groups and adds them to the sums.
void filter_trajectories(const GroupJob& job, cudaStream_t stream);

/// What other filters make of reference patches that are followed: groups of their own.
class GroupStage {
 public:
  virtual ~GroupStage() = default;
  /// Of device memory, for each group of a step.
  virtual std::size_t bytes_per_group(bool second_step) const = 0;
  /// Finds the groups of a band of reference patches. `followed` are its trajectories, of
  /// follow_trajectories().
  virtual void find(const TrajectoryJob& followed, bool second_step, void* memory,
                    cudaStream_t stream) const = 0;
  /// Filters these groups' samples of one plane and adds them to its sums.
  virtual void filter(const GroupJob& job, bool second_step, void* memory, cudaStream_t stream) const = 0;
};

/// The estimate, in code values. `noisy` as groups take it.
void finish_estimate(const GroupSums& format, const void* sums, const void* noisy,
                     const GroupSamples& samples, const FilterTables& tables, const FloatPlane& out,
                     cudaStream_t stream);

}  // namespace limpid::cuda
