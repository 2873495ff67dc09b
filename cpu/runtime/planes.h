// SPDX-License-Identifier: MIT
#pragma once

#include <array>

#include "core/base/parallel.h"
#include "core/frame/frame.h"

// Helpers of the filters of whole frames.

namespace limpid::cpu {

/// Calls function(y) for each row, in parallel.
template <typename Function>
void for_each_row(int rows, const Function& function) {
  constexpr int kGrain = 16;
  for_each_index(rows, kGrain, function);
}

/// One picture of a frame with these planes: the frame, or one of its fields.
inline std::array<Plane, kMaxPlanes> picture_of(const FrameFormat& format,
                                                const std::array<Plane, kMaxPlanes>& planes,
                                                const PictureRows& rows) {
  std::array<Plane, kMaxPlanes> picture;
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = planes[p];
    picture[p] = {plane.data + rows.first * plane.stride, plane.stride * rows.spacing, plane.width,
                  rows.count(plane.height)};
  }
  return picture;
}

}  // namespace limpid::cpu
