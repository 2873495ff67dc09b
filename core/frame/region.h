// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// A rectangle of a frame, in samples of its first plane.
struct Region {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool operator==(const Region&) const = default;
};

/// True if the region is not empty and lies inside the frame.
bool is_within(const Region& region, const FrameFormat& format);

/// The smallest region around `region` with complete chroma samples and, in interlaced frames, as many rows
/// of both fields. It may also end at the frame's border. `region` must lie in the frame.
Region whole_samples(const Region& region, const FrameFormat& format, bool interlaced);

/// The part of a frame inside `region`, as a view of the same samples. The region must consist of complete
/// chroma samples.
Frame part_of(const Frame& frame, const Region& region);

/// The rectangles of a plane above, below, left and right of `region`, in samples of that plane. Chroma
/// samples that belong to the region in part are inside. Empty rectangles are left out.
std::vector<Region> parts_outside(const Region& region, const FrameFormat& format, int plane);

}  // namespace limpid
