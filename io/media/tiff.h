// SPDX-License-Identifier: MIT
#pragma once

// TIFF files that libavcodec's decoder cannot read, or reads wrong without an error. Private to io.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"
#include "io/media/picture_metadata.h"

namespace limpid::io {

/// The pages of a TIFF file, read by libtiff: stacks, tiles, floats, signed and 32-bit samples, BigTIFF.
class TiffPages : NotCopyable {
 public:
  /// Null if libavcodec reads the file correctly. `packet` contains the whole file and is kept. Throws an
  /// Error that begins with `url`.
  static std::unique_ptr<TiffPages> open(const std::string& url, const AVPacket& packet);
  ~TiffPages();

  /// The number of pages, without thumbnails.
  int count() const;
  /// The greatest magnitude of all pages, whose format is float.
  float greatest();
  /// The next page, with the packet's time and the place that kept_metadata() describes; null after the last
  /// one. The pages of each channel and slice follow each other. Throws Error.
  FrameHandle next();

 private:
  struct Parts;
  explicit TiffPages(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

/// A gray or planar RGB picture as libav's raw encoder delivers it: G, B, R and perhaps alpha.
struct RawFloats {
  BytesView planes;
  int width = 0;
  int height = 0;
};
/// A TIFF file of a picture, with samples of the type that the source has.
Bytes tiff_of_floats(const std::string& url, const RawFloats& picture, const StoredPicture& stored);

}  // namespace limpid::io
