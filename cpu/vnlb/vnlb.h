// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/vnlb/vnlb_parameters.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/vbm4d/trajectory_tile.h"

// The inner part of VNLB: the work on one tile of reference patches, on one thread.

namespace limpid::cpu {

/// Parameters of the search for groups, in addition to the TrajectoryJob.
struct PatchSearch {
  VnlbStep step;
  int before = 0;
  int after = 0;
};

/// Positions of a group's patches and their pictures' indices in the job. Slice s of patch i is in picture
/// pictures[i] + s * direction.
struct PatchGroup {
  Position reference;
  int patches = 0;
  int slices = 0;
  int direction = 0;
  std::array<std::int8_t, vnlb::kMostPatches> pictures;
  std::array<Position, vnlb::kMostPatches> places;

  int picture_of(int patch, int slice) const { return pictures[patch] + slice * direction; }
  int samples() const { return slices * vnlb::kPatch * vnlb::kPatch; }
};

/// Working memory of a thread.
struct PatchGroupScratch {
  struct Candidate {
    Position place;
    int picture = 0;
  };
  std::vector<PatchGroup> groups;
  std::vector<Candidate> candidates;
  std::vector<std::uint64_t> keys;  ///< the distance of each patch and, in the lower bits, its number
  std::vector<std::uint64_t> sorted_keys;
  AlignedVector<float> values;
  TileSums sums;
};

/// Replaces the eigenvalues of the symmetric matrix `matrix` by the factors that groups are filtered with.
/// Writes the result to `out`, and the matrix H (core/vnlb/vnlb_parameters.h) to `kept`. All have `size`
/// rows, up to 64, padded to a multiple of 4, of values padded to a multiple of 16; padding is 0. For tests;
/// groups use the same code.
void filter_eigenvalues(const float* matrix, int size, const vnlb::EigenvalueFilter& filter,
                        PatchGroupScratch& scratch, float* kept, float* out);

}  // namespace limpid::cpu
