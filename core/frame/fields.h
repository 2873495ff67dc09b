#pragma once

#include <array>
#include <span>

#include "core/frame/frame.h"

namespace limpid {

/// The rows of a frame that are filtered as one picture: all of them, or every second one, which are a field.
struct PictureRows {
  int first = 0;
  int spacing = 1;

  /// How many of `height` rows these are.
  constexpr int count(int height) const { return (height - first + spacing - 1) / spacing; }
};

/// The pictures of a frame, in the order in which they are filtered: the frame itself, or its two fields.
inline std::span<const PictureRows> pictures_of(bool interlaced) {
  static constexpr std::array<PictureRows, 1> kFrame = {{{0, 1}}};
  static constexpr std::array<PictureRows, 2> kFields = {{{0, 2}, {1, 2}}};
  return interlaced ? std::span<const PictureRows>(kFields) : std::span<const PictureRows>(kFrame);
}

/// The rows of each of a picture's planes. Those of a field's chroma do not follow from those of its luma.
using PlaneHeights = std::array<int, kMaxPlanes>;

inline PlaneHeights plane_heights(const FrameFormat& format, const PictureRows& rows) {
  PlaneHeights heights{};
  for (int p = 0; p < format.plane_count(); ++p) {
    heights[p] = rows.count(format.plane_height(p));
  }
  return heights;
}

}  // namespace limpid
