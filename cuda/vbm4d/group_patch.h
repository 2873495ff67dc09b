// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "core/vbm4d/quarter_samples.h"
#include "cuda/runtime/planes.h"
#include "cuda/vbm4d/groups.h"

// Groups of trajectories in the layout of a warp's lanes.

namespace limpid::cuda {

/// A group, and the patch of this lane in it.
struct GroupPatch {
  int size = 1;
  int frames = 1;
  int members = 1;
  int picture = 0;
  int x = 0;  ///< position of the patch's first sample
  int y = 0;
  /// Offset in quarters of a sample, as in Trajectories::quarters; 0 for patches that cannot be interpolated.
  int quarters = 0;
};

__device__ __forceinline__ GroupPatch patch_of_trajectories(const Trajectories& groups,
                                                            const ReferenceGrid& grid, int lane,
                                                            std::ptrdiff_t number) {
  const unsigned shape = groups.shapes[number];
  const int wanted = static_cast<int>(shape >> Trajectories::kWantedShift);
  const std::int16_t* similar = groups.members + number * groups.capacity;
  unsigned pictures = shape & ((1U << Trajectories::kWantedShift) - 1);
  GroupPatch group;
  group.members = wanted > 1 ? min(wanted, static_cast<int>(similar[0])) : 1;
  group.frames = __popc(pictures);
  group.size = group.frames * group.members;
  const int patch = lane < group.size ? lane : 0;
  const int member = patch % group.members;
  for (int earlier = patch / group.members; earlier > 0; --earlier) {
    pictures &= pictures - 1;
  }
  group.picture = __ffs(static_cast<int>(pictures)) - 1;
  const std::ptrdiff_t slot = number * groups.pictures + group.picture;
  const unsigned place = groups.places[slot];
  const std::int16_t from_first = member_of(similar, member);
  group.x = limpid::vbm4d::confined(static_cast<int>(place & 0xFFFF) + offset_x(from_first),
                                    grid.width - limpid::vbm4d::kPatch);
  group.y = limpid::vbm4d::confined(static_cast<int>(place >> 16) + offset_y(from_first),
                                    grid.height - limpid::vbm4d::kPatch);
  if (groups.quarters != nullptr && limpid::vbm4d::is_surrounded(group.x, group.y, grid.width, grid.height)) {
    group.quarters = groups.quarters[slot];
  }
  return group;
}

}  // namespace limpid::cuda
