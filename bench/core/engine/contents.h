// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Pictures with properties that make filters fast or slow, in particular the similarity of patches in a
// window. Without FFmpeg, for bare GPU machines.

namespace limpid::benchmarks {

/// Natural and drawn pictures for timing filters. The natural one comes first, as reference for the others.
struct Content {
  std::string name;
  bool noisy = false;  ///< noise is added
};

std::vector<Content> contents();

/// width * height bytes of plane `plane` (0: luma), without noise. `natural` is a picture of side * side
/// bytes, which is tiled and mirrored.
std::vector<std::uint8_t> draw(const Content& content, int width, int height, int plane,
                               const std::vector<std::uint8_t>& natural, int side);

}  // namespace limpid::benchmarks
