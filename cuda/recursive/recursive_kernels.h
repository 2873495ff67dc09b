// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <span>

#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursive_parameters.h"
#include "cuda/runtime/planes.h"

// The stages of the recursive filter. Each call enqueues its kernels.

namespace limpid::cuda {

/// Properties of a frame that kernels detect and later kernels use. Zero before each frame.
struct RecursionFlags {
  static constexpr int kComponents = 3;
  int different;          ///< number of blocks, of all components, that differ from the last frame
  int near[kComponents];  ///< number of blocks that hardly differ
  int repeats;            ///< 1: the frame repeats the last one, and the state is kept
  int unknown;            ///< number of patches of the first component without a prior
  int is_first;           ///< 1: the frame is treated as a first frame, whatever the state
};

/// Motion from the current frame to the state, for the blocks of luma.
struct FollowedBlocks {
  int columns = 0;
  int rows = 0;
  recursive::EighthVector* vectors = nullptr;
};

/// Input for adding fractions to the vectors of a field, with the guides of both pictures.
struct FractionJob {
  const std::uint8_t* current = nullptr;  ///< sample (0, 0) of the guide
  const std::uint8_t* reference = nullptr;
  int stride = 0;
  const MotionVector* vectors = nullptr;
  FollowedBlocks out;
  int least_gain = 0;
};
void find_fractions(const FractionJob& job, cudaStream_t stream);

/// Variances of a state, for cells of 8 x 8 samples.
struct VarianceCells {
  int columns = 0;
  int rows = 0;
  float* values = nullptr;
};

/// Input for writing the state of a component along motion.
struct WarpJob {
  FollowedBlocks blocks;
  int shift_x = 0;
  int shift_y = 0;
  FloatPlane merged;
  FloatPlane result;
  VarianceCells variances;
  FloatPlane prior;
  FloatPlane pilot;                  ///< the last result along motion; not written if `data` is null
  float* block_variances = nullptr;  ///< variances of the blocks of luma
};
/// For up to RecursionFlags::kComponents components.
void warp_state(std::span<const WarpJob> of_components, cudaStream_t stream);

/// Input of one step over the patches of a component.
struct PatchJob {
  bool second = false;
  bool has_prior = false;
  bool only_first = false;  ///< run only if the flags mark the frame as a first frame
  bool counts = false;      ///< count the patches without a prior
  int shift_x = 0;
  int shift_y = 0;
  ReferenceGrid grid;
  FloatPlane noisy;
  FloatPlane prior;
  FloatPlane pilot;
  FloatPlane luma;  ///< for the brightness
  FollowedBlocks blocks;
  const float* block_variances = nullptr;
  float threshold = 0;                                     ///< squared
  std::array<float, 64> variances{};                       ///< noise variances of the coefficients, [8 v + u]
  std::array<float, BrightnessScale::kSteps + 1> curve{};  ///< NoiseShape::Curve
  bool has_curve = false;
  BrightnessScale scale;
  std::array<float, recursive::kPatch> window{};
  RecursionFlags* flags = nullptr;
};

/// The results of a band of patches, grid rows [first_row, last_row), which cover the samples of the rows
/// [first_sample, last_sample) completely.
struct PatchResults {
  int first_row = 0;
  int last_row = 0;
  int first_new_row = 0;  ///< rows before it belong to the band before, too
  int first_sample = 0;
  int last_sample = 0;
  float* estimates = nullptr;  ///< 64 samples per patch
  float* merged = nullptr;     ///< 64 samples per patch; second step
  float* weights = nullptr;    ///< one per patch
  float* gains = nullptr;      ///< one per patch of the whole grid
};

/// A step over a band of one component's patches, and the planes that it writes.
struct PatchPass {
  PatchJob job;
  PatchResults results;
  FloatPlane estimate;
  FloatPlane merged;  ///< second step
  FloatPlane last;    ///< second step: a copy of the noisy plane
};
/// Maximum number of passes at the same time. Their grids and bands are equal.
inline constexpr int kMostPasses = 2;

void merge_patches(std::span<const PatchPass> passes, cudaStream_t stream);
/// Writes the weighted means of the patches to the samples that they cover completely. Adds the patches in
/// the order of the grid.
void gather_patches(std::span<const PatchPass> passes, cudaStream_t stream);

/// The Kalman gains of a component's patches, and the cells that get their means.
struct PatchGains {
  ReferenceGrid grid;
  const float* gains = nullptr;
  VarianceCells cells;
};
/// For up to RecursionFlags::kComponents components.
void average_gains(std::span<const PatchGains> of_components, const RecursionFlags* flags,
                   cudaStream_t stream);
/// Sets RecursionFlags::is_first according to the patches without a prior.
void decide_first(const PatchJob& job, cudaStream_t stream);

/// Counts the blocks of a component that differ from the blocks of the last frame. `variance`: variance of
/// the noise.
void compare_frames(const FloatPlane& noisy, const FloatPlane& last, float variance, int component,
                    RecursionFlags* flags, cudaStream_t stream);
/// Sets RecursionFlags::repeats. `blocks`: the number of blocks of each component, or 0 for a component that
/// does not count.
void decide_repeat(const std::array<int, RecursionFlags::kComponents>& blocks, RecursionFlags* flags,
                   cudaStream_t stream);
void scale_variances(const VarianceCells& cells, float factor, cudaStream_t stream);

}  // namespace limpid::cuda
