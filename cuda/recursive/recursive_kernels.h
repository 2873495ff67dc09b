#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "core/motion/motion_field.h"
#include "core/noise/noise_model.h"
#include "core/recursive/recursion.h"
#include "cuda/runtime/planes.h"

// The stages of the recursive filter. Each call enqueues its kernels.

namespace limpid::cuda {

/// What kernels find out about a frame, and later ones act upon. Zero before each frame.
struct RecursionFlags {
  static constexpr int kComponents = 3;
  int different;          ///< blocks that differ from the last frame, of all components
  int near[kComponents];  ///< blocks that hardly differ
  int repeats;            ///< 1: the frame repeats the last one, and the state stays as it is
  int unknown;            ///< patches of the first component without a prior
  int is_first;           ///< 1: the frame is a first one, whatever the state
};

/// Where the blocks of luma come from in the state.
struct FollowedBlocks {
  int columns = 0;
  int rows = 0;
  recursive::EighthVector* vectors = nullptr;
};

/// Adds fractions to the vectors of a field, by both pictures' guides.
struct FractionJob {
  const std::uint8_t* current = nullptr;  ///< sample (0, 0) of the guide
  const std::uint8_t* reference = nullptr;
  int stride = 0;
  const MotionVector* vectors = nullptr;
  FollowedBlocks out;
  int least_gain = 0;
};
void find_fractions(const FractionJob& job, cudaStream_t stream);

/// Variances of a state: of cells of 8 x 8 samples.
struct VarianceCells {
  int columns = 0;
  int rows = 0;
  float* values = nullptr;
};

/// Writes the state of a component along motion.
struct WarpJob {
  FollowedBlocks blocks;
  int shift_x = 0;
  int shift_y = 0;
  FloatPlane merged;
  FloatPlane result;
  VarianceCells variances;
  FloatPlane prior;
  FloatPlane pilot;                  ///< none if `data` is null
  float* block_variances = nullptr;  ///< of each block of luma
};
void warp_state(const WarpJob& job, cudaStream_t stream);

/// The patches of one step of a component.
struct PatchJob {
  bool second = false;
  bool has_prior = false;
  bool only_first = false;  ///< does nothing unless the flags say that the frame is a first one
  bool counts = false;      ///< patches without a prior
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
  std::array<float, 64> variances{};                       ///< [8 v + u]
  std::array<float, BrightnessScale::kSteps + 1> curve{};  ///< NoiseShape::Curve
  bool has_curve = false;
  BrightnessScale scale;
  std::array<float, recursive::kPatch> window{};
  RecursionFlags* flags = nullptr;
};

/// What patches of grid rows [first_row, last_row) become.
struct PatchResults {
  int first_row = 0;
  int last_row = 0;
  float* estimates = nullptr;  ///< 64 samples of each patch
  float* merged = nullptr;     ///< likewise; null in the first step
  float* weights = nullptr;    ///< one of each patch
  float* gains = nullptr;      ///< of each patch of the grid
};

/// Weighted sums of a component's samples.
struct PatchSumPlanes {
  FloatPlane estimates;
  FloatPlane weights;
  FloatPlane merged;
  FloatPlane merged_weights;
};

void merge_patches(const PatchJob& job, const PatchResults& results, cudaStream_t stream);
/// Adds the patches to the sums, in the order of the grid.
void add_patches(const PatchJob& job, const PatchResults& results, const PatchSumPlanes& sums,
                 cudaStream_t stream);
/// Writes the means to `estimate` and, in the second step, `merged`.
void finish_patches(const PatchJob& job, const PatchSumPlanes& sums, const FloatPlane& estimate,
                    const FloatPlane& merged, cudaStream_t stream);
void average_gains(const PatchJob& job, const float* gains, const VarianceCells& cells, cudaStream_t stream);
/// Whether the frame is a first one, by the patches that were counted.
void decide_first(const PatchJob& job, cudaStream_t stream);

/// Counts the blocks of a component that differ from those of the last frame. `variance` is the noise's.
void compare_frames(const FloatPlane& noisy, const FloatPlane& last, float variance, int component,
                    RecursionFlags* flags, cudaStream_t stream);
/// Whether the frame is a repeat: `blocks` are those of each component, 0 of one that does not count.
void decide_repeat(const std::array<int, RecursionFlags::kComponents>& blocks, RecursionFlags* flags,
                   cudaStream_t stream);
/// Copies a plane unless the frame is a repeat.
void keep_noisy(const FloatPlane& noisy, const FloatPlane& last, const RecursionFlags* flags,
                cudaStream_t stream);
void scale_variances(const VarianceCells& cells, float factor, cudaStream_t stream);

}  // namespace limpid::cuda
