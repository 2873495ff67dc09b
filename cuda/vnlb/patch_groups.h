#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/vnlb/space_time_patches.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cuda/vbm4d/groups.h"

// The kernels of VNLB (core/README.md): groups of patches in space and time, and what filters them.

namespace limpid::cuda {

/// Groups of the reference patches of a band of grid rows, numbered as in Trajectories, in the order in which
/// kernels fill them.
struct PatchGroups {
  /// Patches that there is room for: as many as kernels are compiled for.
  int capacity = 0;
  /// [i]: the number of patches + kSlicesUnit * slices + kDirectionUnit * (direction + 1).
  int* shapes = nullptr;
  unsigned* places = nullptr;       ///< [i * capacity + k]: of patch k, x + 65536 y
  std::int8_t* pictures = nullptr;  ///< [i * capacity + k]: of its first slice
  float* deviations = nullptr;      ///< [i]: of the noise of the group's brightness, relative to the plane's
  /// [i * capacity^2]: the patches' products by each other, divided by their number less one; then F of
  /// core/vnlb/space_time_patches.h: what the first step multiplies by.
  float* matrices = nullptr;
  float* kept = nullptr;  ///< [i * capacity^2]: H, of the second step

  static constexpr int kSlicesUnit = 1 << 8;
  static constexpr int kDirectionUnit = 1 << 12;

  /// The least capacity for so many patches.
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
  /// In `memory` of bytes_of() for each of so many groups.
  static PatchGroups in(void* memory, int capacity, std::size_t groups);
};

/// Where to look for patches.
struct PatchSearch {
  VnlbStep step;
  int before = 0;  ///< pictures
  int after = 0;
};

/// Finds the groups of the reference patches that `followed` says how to follow, and follow_trajectories()
/// has.
void find_patch_groups(const TrajectoryJob& followed, const PatchSearch& search, const PatchGroups& out,
                       cudaStream_t stream);

/// Filters groups of one plane, and adds them to its sums: those of GroupJob, which are wide.
/// GroupJob::groups tells the band alone.
void filter_patch_groups(const GroupJob& job, const PatchGroups& groups, cudaStream_t stream);

/// Makes F and, in the second step, H of groups' products. Groups have shapes and matrices. For tests;
/// filter_patch_groups() calls it.
void filter_eigenvalues(const PatchGroups& groups, int count, bool second_step, cudaStream_t stream);

}  // namespace limpid::cuda
