// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/vnlb/vnlb_parameters.h"
#include "cuda/vbm4d/groups.h"

// The kernels of VNLB (docs/algorithms.md): search and filtering of groups of patches in space and time.

namespace limpid::cuda {

/// Groups of the reference patches of a band of grid rows, numbered as in Trajectories. Members are in the
/// order in which kernels fill them.
struct PatchGroups {
  /// Maximum number of patches in a group: one of the sizes for which kernels are compiled.
  int capacity = 0;
  /// [i]: the number of patches + kSlicesUnit * slices + kDirectionUnit * (direction + 1).
  int* shapes = nullptr;
  unsigned* places = nullptr;       ///< [i * capacity + k]: position of patch k, x + 65536 y
  std::int8_t* pictures = nullptr;  ///< [i * capacity + k]: picture of its first slice
  float* deviations = nullptr;      ///< [i]: standard deviation of the noise at the group's brightness,
                                    ///< relative to the plane's
  /// [i * capacity^2]: the patches' products with each other, divided by their number minus one; replaced by
  /// F of core/vnlb/vnlb_parameters.h, by which the first step multiplies.
  float* matrices = nullptr;
  float* kept = nullptr;  ///< [i * capacity^2]: H of the second step

  static constexpr int kSlicesUnit = 1 << 8;
  static constexpr int kDirectionUnit = 1 << 12;

  /// The least capacity that holds `patches` patches.
  static int capacity_for(int patches);
  static constexpr int kCapacities[] = {32, 48, 64};
  /// Calls with(std::integral_constant<int, capacity>()).
  template <typename With>
  static void with_capacity(int capacity, const With& with) {
    switch (capacity) {
      case kCapacities[0]:
        return with(std::integral_constant<int, kCapacities[0]>());
      case kCapacities[1]:
        return with(std::integral_constant<int, kCapacities[1]>());
      default:
        return with(std::integral_constant<int, kCapacities[2]>());
    }
  }
  static std::size_t bytes_of(int capacity);
  /// Places `groups` groups in `memory`, which has bytes_of() for each group.
  static PatchGroups in(void* memory, int capacity, std::size_t groups);
};

/// Parameters of the search for patches.
struct PatchSearch {
  VnlbStep step;
  int before = 0;  ///< number of pictures
  int after = 0;
};

/// Finds the groups of the reference patches in `followed`, for which follow_trajectories() has been called.
void find_patch_groups(const TrajectoryJob& followed, const PatchSearch& search, const PatchGroups& out,
                       cudaStream_t stream);

/// Filters these groups in one plane and adds them to its sums, which are those of GroupJob and must be wide.
/// GroupJob::groups only defines the band.
void filter_patch_groups(const GroupJob& job, const PatchGroups& groups, cudaStream_t stream);

/// Computes F and, in the second step, H from the groups' products. The groups must have shapes and matrices.
/// For tests; filter_patch_groups() calls this function.
void filter_eigenvalues(const PatchGroups& groups, int count, bool second_step, cudaStream_t stream);

}  // namespace limpid::cuda
