// SPDX-License-Identifier: MIT
// TIFF files that libavcodec's decoder cannot read, or reads wrong without an error, and TIFF files with
// several pages. Private to io.
#pragma once

#include <cstdint>
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
