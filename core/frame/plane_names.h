#pragma once

#include <string_view>
#include <vector>

#include "core/frame/frame.h"

namespace limpid {

/// What to call the color planes of a format or color model: Y, U, V or R, G, B; a gray plane is Y, as in
/// the tools that users compare with.
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
