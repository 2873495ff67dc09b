#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Pictures by what makes filters fast or slow: how alike the patches of a window are. Without FFmpeg, so that
// they are there on a bare GPU machine.

namespace limpid::benchmarks {

/// A natural picture and what is drawn, of which filters are timed. Natural comes first: what the others are
/// compared with.
struct Content {
  std::string name;
  bool noisy = false;  ///< noise is added
};

std::vector<Content> contents();

/// width * height bytes of plane `plane` (0: luma). `natural` is a picture of side * side bytes, which is
/// tiled and mirrored. Noise is not in it.
std::vector<std::uint8_t> draw(const Content& content, int width, int height, int plane,
                               const std::vector<std::uint8_t>& natural, int side);

}  // namespace limpid::benchmarks
