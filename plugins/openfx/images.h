// SPDX-License-Identifier: MIT
#pragma once

#include <limpid.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/openfx/host.h"

// Images of the host, whose row 0 is the lowest one, and frames of the library, whose row 0 is the highest
// one.

namespace limpid::openfx {

/// The channels of a pixel, interleaved: 4 (RGBA), 3 (RGB) or 1 (alpha).
struct Layout {
  int channels = 0;
  limpid_sample_type type = LIMPID_UINT8;

  bool operator==(const Layout&) const = default;
};
std::size_t sample_bytes(limpid_sample_type type);

/// Pixels of an owner elsewhere.
struct Pixels {
  std::byte* lowest_row = nullptr;
  std::ptrdiff_t row_bytes = 0;
  abi::Rectangle bounds{};
  Layout layout;

  std::byte* row(int y) const { return lowest_row + (y - bounds.y1) * row_bytes; }
  std::byte* pixel(int x, int y) const {
    return row(y) + static_cast<std::size_t>(x - bounds.x1) * pixel_bytes();
  }
  std::size_t pixel_bytes() const {
    return static_cast<std::size_t>(layout.channels) * sample_bytes(layout.type);
  }
  int width() const { return bounds.x2 - bounds.x1; }
  int height() const { return bounds.y2 - bounds.y1; }
};

/// An image of a clip, released by the destructor.
class Image {
 public:
  /// The image at a time; none if the clip has none there. Throws Failure if the host cannot give the image
  /// for another reason, or if Limpid does not support its format.
  static std::optional<Image> fetch(abi::Clip clip, double time);

  Image(Image&& other) noexcept;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  Image& operator=(Image&&) = delete;
  ~Image();

  const Pixels& pixels() const { return pixels_; }
  const Properties& properties() const { return properties_; }
  bool is_premultiplied() const;
  /// True if rows 0, 2, 4 and rows 1, 3, 5 are of different times.
  bool is_interlaced() const;

 private:
  explicit Image(abi::Properties image);

  abi::Properties handle_;
  Properties properties_;
  Pixels pixels_;
};

/// The pixels of an image in given bounds, for the library. They are the image's own if it covers the bounds
/// and is not premultiplied. Otherwise they are a copy, and the image is released: pixels outside the image
/// are 0, and premultiplied colors are divided by alpha, but stay as they are where alpha is 0.
class Framed {
 public:
  Framed(Image image, const abi::Rectangle& bounds);
  /// A black and transparent frame, in place of an image that the clip does not have.
  Framed(const Layout& layout, const abi::Rectangle& bounds);
  const Pixels& pixels() const { return pixels_; }
  bool is_interlaced() const { return is_interlaced_; }

 private:
  void allocate();
  void copy_from(const Image& image);

  bool is_interlaced_;
  std::optional<Image> image_;
  std::vector<std::byte> samples_;
  Pixels pixels_;
};

limpid_format format_of(const Pixels& pixels);
/// The planes of the pixels. Valid as long as the pixels.
limpid_frame frame_of(const Pixels& pixels);

/// Writes a frame of the library, in the bounds of `source`, to a part of `out`. If `source` is
/// premultiplied, colors are multiplied by alpha, and pixels whose alpha is 0 are those of `source`. Pixels
/// of the part outside `source` are black and transparent.
void write_result(const limpid_frame& result, const Image& source, const Image& out,
                  const abi::Rectangle& part);
/// Copies the part of `source` to `out`. Pixels of the part outside `source` are black and transparent.
void write_source(const Image& source, const Image& out, const abi::Rectangle& part);

/// Detects changes of an image, which may be missing, since it was last fetched: of its samples, bounds,
/// layout, premultiplication and fields.
class Fingerprint {
 public:
  explicit Fingerprint(const std::optional<Image>& image);
  /// Equal identifiers of the host count only if every sixteenth row is equal, too: not all hosts change
  /// them.
  bool operator==(const std::optional<Image>& image) const;

 private:
  bool is_missing_;
  std::string identifier_;
  std::uint64_t some_rows_ = 0;
  std::uint64_t all_rows_ = 0;
};

}  // namespace limpid::openfx
