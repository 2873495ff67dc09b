// SPDX-License-Identifier: MIT
#pragma once

// TIFF files that libavcodec's decoder cannot read, or reads wrong without an error. Private to io.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

namespace limpid::io {

/// The pages of a TIFF file, read by libtiff: stacks, tiles, floating-point samples, BigTIFF.
class TiffPages : NotCopyable {
 public:
  /// Null if libavcodec reads the file correctly. `packet` contains the whole file and is kept. Throws an
  /// Error that begins with `url`.
  static std::unique_ptr<TiffPages> open(const std::string& url, const AVPacket& packet);
  ~TiffPages();

  /// The number of pages, without thumbnails.
  int count() const;
  /// The next page, with the packet's time; null after the last one. Throws Error.
  FrameHandle next();

 private:
  struct Parts;
  explicit TiffPages(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace limpid::io
