#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "core/base/parallel.h"
#include "core/frame/frame.h"

// What the filters of whole frames share.

namespace limpid::cpu {

/// Calls function(y) for each row, in parallel.
template <typename Function>
void for_each_row(int rows, const Function& function) {
  constexpr int kGrain = 16;
  for_each_index(rows, kGrain, function);
}

inline void copy_plane(const FrameFormat& format, const Plane& in, const Plane& out) {
  for (int y = 0; y < in.height; ++y) {
    std::memcpy(out.row<std::byte>(y), in.row<std::byte>(y),
                static_cast<std::size_t>(in.width) * format.bytes_per_sample());
  }
}

/// One field of an interlaced frame's planes: the even rows (parity 0) or the odd ones.
inline std::array<Plane, kMaxPlanes> field_of(const FrameFormat& format,
                                              const std::array<Plane, kMaxPlanes>& planes, int parity) {
  std::array<Plane, kMaxPlanes> field;
  for (int p = 0; p < format.plane_count(); ++p) {
    const Plane& plane = planes[p];
    field[p] = {plane.data + parity * plane.stride, plane.stride * 2, plane.width,
                (plane.height + 1 - parity) / 2};
  }
  return field;
}

}  // namespace limpid::cpu
