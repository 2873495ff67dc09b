// SPDX-License-Identifier: MIT
#pragma once

// A TIFF file with several pages. Private to io.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/media/libav.h"
#include "io/media/picture_metadata.h"

namespace limpid::io {

/// Writes TIFF files of one page each as one file.
class TiffStack {
 public:
  /// Errors begin with `url`.
  explicit TiffStack(std::string url) : url_(std::move(url)) {}

  /// Writes a little-endian file, the page of this number, whose offsets are for the position `begin` of
  /// `target`. Throws Error if the result is longer than the 4 GiB that TIFF supports.
  void append(const Bytes& page, std::int64_t begin, std::int64_t number, AVIOContext& target);
  /// Links the pages in the order of their numbers. Empties the description of the page that begins the file,
  /// unless it is kept.
  void finish(AVIOContext& target, bool keeps_description);

 private:
  struct Page {
    std::int64_t number;
    std::int64_t directory;
    std::int64_t link;  ///< position of the offset of the next page's directory
  };

  std::string url_;
  std::vector<Page> pages_;
  std::int64_t description_ = 0;  ///< position of its entry; 0 if there is none
};

}  // namespace limpid::io
