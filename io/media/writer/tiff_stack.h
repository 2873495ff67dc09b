// SPDX-License-Identifier: MIT
#pragma once

// A TIFF file with several pages. Private to io.

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/media/libav.h"
#include "io/media/picture_metadata.h"

namespace limpid::io {

/// Joins TIFF files of one page each, as libavcodec writes them, by moving their offsets.
class TiffStack {
 public:
  /// Errors begin with `url`.
  explicit TiffStack(std::string url) : url_(std::move(url)) {}

  /// Appends a file to `target`, which begins with the first one and can seek. Throws Error if the result is
  /// longer than the 4 GiB that TIFF supports, or if the file is not as expected.
  void append(Bytes page, AVIOContext& target);

 private:
  std::string url_;
  std::int64_t link_ = 0;  ///< position of the offset of the next page's directory
};

}  // namespace limpid::io
