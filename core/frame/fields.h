// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>

#include "core/frame/frame.h"

namespace limpid {

/// The rows of a frame that are filtered as one picture: all rows, or every second row, which is a field.
struct PictureRows {
  int first = 0;
  int spacing = 1;

  /// The number of the picture's rows in a plane of `height` rows.
  constexpr int count(int height) const { return (height - first + spacing - 1) / spacing; }
};

/// The pictures of a frame, in filtering order: the frame itself or its two fields.
inline std::span<const PictureRows> pictures_of(bool interlaced) {
  static constexpr std::array<PictureRows, 1> kFrame = {{{0, 1}}};
  static constexpr std::array<PictureRows, 2> kFields = {{{0, 2}, {1, 2}}};
  return interlaced ? std::span<const PictureRows>(kFields) : std::span<const PictureRows>(kFrame);
}

/// The number of rows of each plane of a picture. In fields, the chroma planes' rows do not follow from
/// luma's.
using PlaneHeights = std::array<int, kMaxPlanes>;

inline PlaneHeights plane_heights(const FrameFormat& format, const PictureRows& rows) {
  PlaneHeights heights{};
  for (int p = 0; p < format.plane_count(); ++p) {
    heights[p] = rows.count(format.plane_height(p));
  }
  return heights;
}

}  // namespace limpid
