// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace limpid::test {

/// A raw H.264 stream with closed captions in every picture.
inline std::string with_captions(std::string h264) {
  // ATSC A/53's message before each slice: two bytes of one field.
  const std::string message(
      "\0\0\1\x06\x04\x0E\xB5\0\x31"
      "GA94\x03\x41\xFF\xFC\x94\x20\xFF\x80",
      21);
  for (std::size_t at = 0; (at = h264.find(std::string("\0\0\1", 3), at)) != std::string::npos; at += 3) {
    const int type = h264[at + 3] & 0x1F;
    if (type == 1 || type == 5) {
      h264.insert(at, message);
      at += message.size();
    }
  }
  return h264;
}

}  // namespace limpid::test
