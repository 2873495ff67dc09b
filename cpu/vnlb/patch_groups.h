#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/vnlb/space_time_patches.h"
#include "core/vnlb/vnlb_parameters.h"
#include "cpu/bm3d/tile.h"
#include "cpu/runtime/aligned_vector.h"
#include "cpu/vbm4d/trajectory_tile.h"

// The inner part of VNLB: what happens to one tile of reference patches, on one thread.

namespace limpid::cpu {

/// What groups are found by, besides the TrajectoryJob.
struct PatchSearch {
  VnlbStep step;
  int before = 0;
  int after = 0;
};

/// Where a group's patches are, and in which of the job's pictures. Patch i has its slice s in picture
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

/// A thread's working memory.
struct PatchGroupScratch {
  struct Candidate {
    Position place;
    int picture = 0;
  };
  std::vector<PatchGroup> groups;
  std::vector<Candidate> candidates;
  std::vector<std::uint64_t> keys;  ///< of each, its distance and, below it, its number
  std::vector<std::uint64_t> sorted_keys;
  AlignedVector<float> values;
  AlignedVector<float> sums;
};

/// Finds, filters and aggregates the groups of one tile into the pictures' sums. Thread-safe for different
/// scratches.
void process_patch_groups(const TrajectoryJob& job, const PatchSearch& search, const Tile& tile,
                          PatchGroupScratch& scratch);

/// The symmetric matrix `matrix` with factors in place of its eigenvalues, as groups are filtered, into
/// `out`, and the matrix H (core/vnlb/space_time_patches.h) into `kept`. All have `size` rows, up to 64, and
/// more up to a multiple of 4, of which each has values up to a multiple of 16; those behind `size` are 0.
/// For tests; groups use the same.
void filter_eigenvalues(const float* matrix, int size, const vnlb::EigenvalueFilter& filter,
                        PatchGroupScratch& scratch, float* kept, float* out);

}  // namespace limpid::cpu
