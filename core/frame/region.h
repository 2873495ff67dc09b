#pragma once

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

/// Whether there is something in the region, and all of it lies in the frame.
bool is_within(const Region& region, const FrameFormat& format);

/// The smallest region around this one that consists of whole chroma samples, and of as many rows of both
/// fields where frames are interlaced; it may end with the frame, though. `region` must lie in the frame.
Region whole_samples(const Region& region, const FrameFormat& format, bool interlaced);

/// A frame that has this region for its picture: a view of the same samples. The region must consist of whole
/// chroma samples.
Frame part_of(const Frame& frame, const Region& region);

}  // namespace limpid
