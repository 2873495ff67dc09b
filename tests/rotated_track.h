// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <stdexcept>
#include <string>

namespace limpid::test {

/// Sets the rotation of the first track in the header of a QuickTime file: counterclockwise by 90, 180 or 270
/// degrees. Versions of ffmpeg have different options for it.
inline void rotate_track(const std::string& file, int degrees) {
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  const std::size_t header = bytes.find(std::string("tkhd\0", 5));  // and its version, 0
  if (header == std::string::npos) {
    throw std::runtime_error(file + " has no track");
  }
  constexpr int kOne = 1 << 16;
  const int cosine = degrees == 180 ? -kOne : 0;
  const int sine = degrees == 90 ? kOne : degrees == 270 ? -kOne : 0;
  std::string matrix;
  for (const int value : {cosine, -sine, 0, sine, cosine}) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      matrix += static_cast<char>(static_cast<std::uint32_t>(value) >> shift);
    }
  }
  constexpr std::size_t kToMatrix = 44;
  stream.seekp(static_cast<std::streamoff>(header + kToMatrix));
  if (!(stream << matrix << std::flush)) {
    throw std::runtime_error("can't write " + file);
  }
}

}  // namespace limpid::test
