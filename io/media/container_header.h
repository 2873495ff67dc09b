// SPDX-License-Identifier: MIT
#pragma once

// The headers of Matroska and MP4 as trees of parts. Private to io.

#include <algorithm>
#include <cstdint>

#include "io/media/libav.h"

namespace limpid::io {

/// An element of Matroska or a box of MP4: its name and the positions of its content.
struct Part {
  std::uint32_t name = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool is_whole = false;  ///< its size is known, and it ends within its parent
};

/// Reads the parts of a file that can seek, which may be damaged or hostile: parts end with their parents,
/// and the number of parts that are read is limited.
class ContainerHeader {
 public:
  enum class Kind { kMatroska, kMp4 };

  ContainerHeader(AVIOContext& bytes, Kind kind)
      : bytes_(bytes), kind_(kind), file_{.end = std::max<std::int64_t>(avio_size(&bytes), 0)} {}

  const Part& file() const { return file_; }
  /// Calls `visit` for the parts of `parent`, until it returns false or a part is damaged.
  template <typename Visit>
  void for_each(const Part& parent, Visit visit) {
    Part part;
    for (std::int64_t at = parent.begin; at < parent.end && read_part(at, parent.end, part); at = part.end) {
      if (!visit(part)) {
        return;
      }
    }
  }
  /// The first part of this name; an empty part if there is none.
  Part find(const Part& parent, std::uint32_t name);

  /// Goes to `offset` in a part. Returns false unless the part has `length` bytes there.
  bool go_to(const Part& part, std::int64_t offset, std::int64_t length);
  std::uint32_t read_32() { return avio_rb32(&bytes_); }
  int read_16() { return static_cast<int>(avio_rb16(&bytes_)); }
  /// The content of a part as an unsigned integer, limited to INT_MAX.
  std::int64_t number(const Part& part);

 private:
  bool read_part(std::int64_t at, std::int64_t limit, Part& part);

  AVIOContext& bytes_;
  Kind kind_;
  Part file_;
  int parts_ = 0;
};

/// The name of a box of MP4.
constexpr std::uint32_t name_of_box(const char (&text)[5]) {
  return static_cast<std::uint32_t>(MKBETAG(text[0], text[1], text[2], text[3]));
}

/// Bytes behind the last box of an MP4, such as the motion data of a camera; 0 for other files and those that
/// cannot seek. Restores the position.
std::int64_t bytes_behind_boxes(AVFormatContext& input);

}  // namespace limpid::io
