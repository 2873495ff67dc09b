// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// Names of the color planes of a format or color model: Y, U, V or R, G, B. A gray plane is Y, as in other
/// video tools.
inline std::vector<std::string_view> color_plane_names(ColorModel model) {
  switch (model) {
    case ColorModel::kGray:
      return {"Y"};
    case ColorModel::kYuv:
      return {"Y", "U", "V"};
    case ColorModel::kRgb:
      break;
  }
  return {"R", "G", "B"};
}
inline std::vector<std::string_view> color_plane_names(const FrameFormat& format) {
  return color_plane_names(format.color_model);
}

}  // namespace limpid
