// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/bm3d/bm3d_parameters.h"
#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/vbm4d/trajectories.h"
#include "core/vbm4d/vbm4d_parameters.h"
#include "cuda/bm3d/filter.h"
#include "cuda/bm3d/matching.h"
#include "cuda/motion/motion.h"
#include "cuda/runtime/planes.h"

// The kernels of V-BM4D (docs/algorithms.md). Pictures are identified by their numbers, from 0, among those
// in reach of one reference picture's groups.

namespace limpid::cuda {

inline constexpr int kMostPictures = limpid::vbm4d::kMostFrames;

/// The guide of trajectories: the matching values of a picture (limpid::vbm4d::guide_matching()). It has
/// readable margins of a row and eight samples on each side, whose content is undefined.
struct TrajectoryGuide {
  static constexpr int kMargin = 8;  ///< columns

  LIMPID_HOST_DEVICE static int pitch_of(int width) { return (width + 2 * kMargin + 7) / 8 * 8; }
  static std::size_t bytes_of(int width, int height) {
    return static_cast<std::size_t>(pitch_of(width)) * (height + 2);
  }
  /// Pointer to sample (0, 0) in memory of bytes_of().
  static std::int8_t* first_of(std::int8_t* memory, int width) { return memory + pitch_of(width) + kMargin; }
};

/// Fills a guide from code values; `out` points to its sample (0, 0).
void prepare_guide(const FloatPlane& values, const MatchingScale& scale, std::int8_t* out,
                   cudaStream_t stream);
/// Fills a plane for matching from a guide of its size.
void prepare_matching(const std::int8_t* guide, const MatchingPlane& out, cudaStream_t stream);

/// The storage of a plane's samples for groups: halves or floats with the values (sample - offset) * unit.
/// Halves represent code values of 8 to 11 bits exactly.
struct GroupSamples {
  /// Rows after the plane's last row, which are read around patches.
  static constexpr int kMarginRows = limpid::vbm4d::kTaps;

  float offset = 0;
  float unit = 1;
  int pitch = 0;  ///< row length in samples, also in sums

  /// The number of rows in memory for a plane of this height.
  LIMPID_HOST_DEVICE static int rows(int height) { return height + kMarginRows; }
  std::size_t positions(int height) const { return static_cast<std::size_t>(pitch) * rows(height); }
};

/// Stores values for groups, and fills the rest of GroupSamples::positions() with the values for samples of
/// 0.
void store_halves(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream);
void store_floats(const FloatPlane& values, const GroupSamples& samples, void* out, cudaStream_t stream);
/// Stores basic estimates for groups, each paired with the noisy sample: halves, the estimate first. `noisy`
/// is from store_halves() or, if not narrow, from store_floats().
void store_pairs(const FloatPlane& basic, const GroupSamples& samples, bool narrow, const void* noisy,
                 void* out, cudaStream_t stream);

/// The groups of the reference patches of grid rows [first_row, last_row). The group of (column, row) is
/// number i = (row - first_row) * columns + column.
struct Trajectories {
  /// [i]: a bit for each picture of the group, the first picture lowest, + 2^kWantedShift * the number of its
  /// trajectories, provided that enough similar patches exist.
  unsigned* shapes = nullptr;
  /// [i * pictures + p]: position of the first trajectory in picture p, x + 65536 y. Only for pictures of the
  /// group.
  unsigned* places = nullptr;
  /// The patches similar to the reference patches, as in Groups; only for more than one trajectory.
  /// Trajectory m of a group has the displacement of similar patch m from the first trajectory.
  std::int16_t* members = nullptr;
  /// [i * pictures + p]: offset of the first trajectory's patch in picture p to the right of its position, in
  /// quarters of a sample, + 4 * the offset below it; null if all are at whole samples.
  std::uint8_t* quarters = nullptr;
  int pictures = 0;
  int capacity = 0;
  int first_row = 0;
  int last_row = 0;

  static constexpr int kWantedShift = 20;

  static std::size_t bytes_of(int pictures, int capacity) {
    return sizeof(unsigned) + pictures * (sizeof(unsigned) + sizeof(std::uint8_t)) +
           capacity * sizeof(std::int16_t);
  }
};

/// Side of a block's reference patches in the grid.
inline constexpr int kGroupTile = 8;

/// The motion that predicts trajectories from one picture to the next.
struct FollowedField {
  const MotionVector* vectors = nullptr;
  const std::int32_t* lost = nullptr;  ///< number of blocks that could not be followed

  FollowedField() = default;
  explicit FollowedField(const DeviceMotionField& field) : vectors(field.vectors()), lost(field.lost()) {}
};

struct TrajectoryJob {
  ReferenceGrid grid;
  int shift_x = 0;  ///< subsampling of the plane relative to luma
  int shift_y = 0;
  int own = 0;                                          ///< number of the reference picture
  const std::int8_t* guides[kMostPictures] = {};        ///< sample (0, 0)
  const std::int8_t* noisy_guides[kMostPictures] = {};  ///< sample (0, 0) of the first step's guides
  FollowedField ahead[kMostPictures];                   ///< motion from each picture to the next one
  FollowedField back[kMostPictures];                    ///< motion from each picture to the previous one
  int columns = 0;                                      ///< of luma's blocks
  int rows = 0;
  limpid::vbm4d::TrajectoryBounds bounds;
  Bm3dStep step;                              ///< parameters of the search for similar patches
  const MatchingVariant* matching = nullptr;  ///< for that step
  /// Working memory; unused if groups have at most one trajectory.
  MatchingPlane similar;
  Trajectories out;
};

/// Finds groups of trajectories.
void follow_trajectories(const TrajectoryJob& job, cudaStream_t stream);

/// The format of the sums of one plane. Sums are integers, so that they do not depend on the order of
/// additions. A picture's numerators are followed by its weights, both with `pitch` times its height values,
/// and in narrow sums by cells. Numerators are sums of weight * window * sample in units of
/// 2^-numerator_bits. Each patch's weight counts once, at its first sample, in units of 2^-weight_bits, and
/// is at least one unit.
///
/// Wide sums, of 64 bits, cannot overflow: a contribution is limited to 31 bits, four times the maximum of
/// samples; a weight has 24 bits; and a picture is reached by at most 70 patches for each reference patch of
/// its size: one from each of 17 pictures, or, for trajectories of length i, 16 / i from each of the 2 i - 1
/// pictures that can reach it. For 61 million reference patches this is 2^63.
///
/// Narrow sums, of 32 bits, halve memory and traffic. Contributions are limited to kMostSample times their
/// weight, so that numerators are correct if the denominator is at most kMostUnits. Beyond that no estimate
/// is made, and samples remain unchanged. The same applies where denominators may be wrong. Cells of 4x4
/// positions show whether weights can have overflowed: each patch adds its weight, rounded up to quarters, to
/// its cell, which holds 2^32 quarters. An overflow requires at least three times the weight of evenly
/// distributed groups of the greatest size: motion that shrinks pictures to half their size within a reach.
/// If estimates come from pictures at a distance of more than 8, it requires twelve times as much, as content
/// that has entered the picture since is followed back to its origin.
struct GroupSums {
  static constexpr int kCell = 4;
  static constexpr float kMostSample = 192;
  /// Limit of numerators. The remaining part of the range covers roundings by half a unit, for all patches
  /// that cells can count.
  static constexpr float kMostUnits = 0x1.FFp30F / kMostSample;

  bool narrow = false;
  int weight_bits = 24;
  int numerator_bits = 22;

  GroupSums() = default;
  /// Wide sums with fewer bits, for groups whose patches may all be in one picture, in any number.
  static GroupSums of_patches() {
    GroupSums sums;
    sums.weight_bits = 20;
    sums.numerator_bits = 18;
    return sums;
  }
  /// The format for the groups of a step.
  GroupSums(bool are_narrow, const Vbm4dStep& step, const TemporalSpan& span);

  LIMPID_HOST_DEVICE static int cells_along(int length) { return (length + kCell - 1) / kCell; }
  /// The unit of cells, a quarter, is 2^cell_bits() units of weights.
  LIMPID_HOST_DEVICE int cell_bits() const { return weight_bits - 2; }
  std::size_t bytes_of(int pitch, int height) const;
};

/// Tables of filter_trajectories(), on the current device.
class GroupTransforms {
 public:
  static constexpr int kMost = 16;  ///< maximum number of patches; longer trajectories have their own kernels
  /// The matrix of `frames` and `members` (group_transform()) begins at number_of() * kMost^2: for each
  /// patch, kMost values of its coefficients, padded with 0.
  static constexpr int number_of(int frames, int members) {
    return (31 - __builtin_clz(static_cast<unsigned>(members))) * kMost + frames - 1;
  }
  static std::size_t floats() { return std::size_t{5} * kMost * kMost * kMost; }
  /// Fills host memory for floats() numbers.
  static void fill(float* tables);
};

/// Tables of filter_trajectories() for patches between samples, on the current device. They are matrices of 8
/// rows and 16 columns that combine interpolation along an axis with the 2D transform along it, for samples
/// of which the first kTapsBefore precede the patch. Their scale is that of FilterTables::forward. Those for
/// columns are left operands of a product, those for rows are right ones, whose columns are in the order of
/// Surroundings.
class InterpolatingTransforms {
 public:
  static constexpr int kShifts = 4;
  /// Number for patches at whole samples, which need no interpolation.
  static constexpr int kWhole = limpid::vbm4d::kQuarters;
  static constexpr int kWords = (kWhole + 1) * (1 + kShifts) * FilterTables::kLanes * 2;

  /// The number of the matrix along columns, for a patch at `quarters` below its position, or kWhole.
  LIMPID_HOST_DEVICE static constexpr int down(int quarters) { return quarters; }
  /// The number of the matrix along rows, for a patch at `quarters` after its position, or kWhole, if `shift`
  /// other samples precede.
  LIMPID_HOST_DEVICE static constexpr int across(int quarters, int shift) {
    return kWhole + 1 + quarters * kShifts + shift;
  }
  /// Fills host memory of kWords: for each matrix and lane, the two words of its operand (matrix.h).
  static void fill(const Bm3dStep& step, unsigned* tables);
};

struct GroupJob {
  ReferenceGrid grid;
  Trajectories groups;
  int own = 0;
  GroupSamples samples;
  GroupSums format;  ///< format of the sums; noisy samples are halves if sums are narrow
  const void* noisy[kMostPictures] = {};
  /// Second step: store_pairs(); for a GroupStage, store_halves() of the basic estimates.
  const void* basic[kMostPictures] = {};
  void* sums[kMostPictures] = {};  ///< sums of each picture; null if the picture receives no estimates
  float lambda = 0;                ///< first step
  float sigma = 0;
  limpid::vbm4d::NoiseOverTime over_time{};
  std::span<const float> variances;  ///< Bm3dComponent::coefficient_variances of the step
  std::optional<NoiseShape::Curve> curve;
  const float* brightness = nullptr;  ///< brightness from find_brightness(), for curves by the guide
  const FilterTables* tables = nullptr;
  const float* transforms = nullptr;  ///< GroupTransforms
  /// Tables of InterpolatingTransforms; only if the groups have quarters.
  const unsigned* interpolating = nullptr;
};

/// Filters groups and adds them to the sums.
void filter_trajectories(const GroupJob& job, cudaStream_t stream);

/// The groups of other filters that follow reference patches, such as VNLB.
class GroupStage {
 public:
  virtual ~GroupStage() = default;
  /// Device memory for each group of a step.
  virtual std::size_t bytes_per_group(bool second_step) const = 0;
  /// Finds the groups of a band of reference patches. `followed` contains their trajectories, from
  /// follow_trajectories().
  virtual void find(const TrajectoryJob& followed, bool second_step, void* memory,
                    cudaStream_t stream) const = 0;
  /// Filters these groups' samples of one plane and adds them to its sums.
  virtual void filter(const GroupJob& job, bool second_step, void* memory, cudaStream_t stream) const = 0;
};

/// Computes the estimate, in code values. `noisy` is in the format for groups.
void finish_estimate(const GroupSums& format, const void* sums, const void* noisy,
                     const GroupSamples& samples, const FilterTables& tables, const FloatPlane& out,
                     cudaStream_t stream);

}  // namespace limpid::cuda
