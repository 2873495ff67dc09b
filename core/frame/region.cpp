// SPDX-License-Identifier: MIT
#include "core/frame/region.h"

#include <algorithm>
#include <cstddef>

namespace limpid {

bool is_within(const Region& region, const FrameFormat& format) {
  return region.width > 0 && region.height > 0 && region.x >= 0 && region.y >= 0 &&
         region.width <= format.width - region.x && region.height <= format.height - region.y;
}

Region whole_samples(const Region& region, const FrameFormat& format, bool interlaced) {
  const int across = 1 << format.chroma_shift_x;
  const int down = (1 << format.chroma_shift_y) * (interlaced ? 2 : 1);
  const auto before = [](int position, int unit) { return position / unit * unit; };
  const auto behind = [&](int position, int unit, int size) {
    return std::min(before(position + unit - 1, unit), size);
  };
  Region whole{before(region.x, across), before(region.y, down), 0, 0};
  whole.width = behind(region.x + region.width, across, format.width) - whole.x;
  whole.height = behind(region.y + region.height, down, format.height) - whole.y;
  return whole;
}

Frame part_of(const Frame& frame, const Region& region) {
  Frame part = frame;
  part.format.width = region.width;
  part.format.height = region.height;
  for (int p = 0; p < frame.format.plane_count(); ++p) {
    // Alpha has the size of the first plane.
    const bool is_chroma = p > 0 && p < frame.format.color_plane_count();
    const int x = region.x >> (is_chroma ? frame.format.chroma_shift_x : 0);
    const int y = region.y >> (is_chroma ? frame.format.chroma_shift_y : 0);
    Plane& plane = part.planes[p];
    plane.data +=
        y * plane.stride + std::ptrdiff_t{x} * plane.sample_stride * frame.format.bytes_per_sample();
    plane.width = part.format.plane_width(p);
    plane.height = part.format.plane_height(p);
  }
  return part;
}

std::vector<Region> parts_outside(const Region& region, const FrameFormat& format, int plane) {
  const Region whole = whole_samples(region, format, false);
  const bool is_chroma = plane > 0 && plane < format.color_plane_count();
  const int across = is_chroma ? format.chroma_shift_x : 0;
  const int down = is_chroma ? format.chroma_shift_y : 0;
  const int width = format.plane_width(plane);
  const int height = format.plane_height(plane);
  const int left = std::min(whole.x >> across, width);
  const int top = std::min(whole.y >> down, height);
  const auto end = [](int position, int shift) { return (position + (1 << shift) - 1) >> shift; };
  const int right = std::min(end(whole.x + whole.width, across), width);
  const int bottom = std::min(end(whole.y + whole.height, down), height);
  std::vector<Region> parts{{0, 0, width, top},
                            {0, bottom, width, height - bottom},
                            {0, top, left, bottom - top},
                            {right, top, width - right, bottom - top}};
  std::erase_if(parts, [](const Region& part) { return part.width <= 0 || part.height <= 0; });
  return parts;
}

}  // namespace limpid
