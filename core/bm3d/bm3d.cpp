#include "core/bm3d/bm3d.h"

#include <algorithm>
#include <cmath>

namespace limpid {

std::array<float, 3> opponent_sigma(const std::array<float, 3>& sigma) {
  const float r = sigma[0] * sigma[0];
  const float g = sigma[1] * sigma[1];
  const float b = sigma[2] * sigma[2];
  return {std::sqrt(r + g + b) / 3, std::sqrt(r + b) / 2, std::sqrt(r + 4 * g + b) / 4};
}

std::vector<std::string> warnings_of_small_planes(const Bm3dParameters& parameters,
                                                  const FrameFormat& format) {
  const int patch =
      std::max(parameters.hard_threshold.patch_size, parameters.wiener ? parameters.wiener->patch_size : 0);
  std::vector<std::string> warnings;
  for (int p = 0; p < format.color_plane_count(); ++p) {
    const int width = format.plane_width(p);
    const int height = format.plane_height(p);
    if (width < patch || height < patch) {
      warnings.push_back("plane " + std::to_string(p) + " (" + std::to_string(width) + "x" +
                         std::to_string(height) + ") is smaller than a patch of " + std::to_string(patch) +
                         "x" + std::to_string(patch) + " and passes through unchanged");
    }
  }
  return warnings;
}

}  // namespace limpid
