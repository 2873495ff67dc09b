#pragma once

// What picture files tell beside their pixels: EXIF and a profile of colors (ICC). libav's encoders keep
// some of it, in some versions. Private to io.

#include <cstdint>
#include <span>
#include <vector>

#include "io/libav.h"

namespace limpid::io {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

/// Either is empty if there is none.
struct PictureMetadata {
  Bytes exif;  ///< in TIFF's form, which begins with "II*" or "MM", without a mark of the file's before it
  Bytes profile;
};

/// True for those pictures that the functions below know: JPEG, PNG, TIFF, WebP.
bool holds_metadata(AVCodecID codec);
/// Whether the block fits: a JPEG has 64 KiB for it.
bool holds_exif(AVCodecID codec, BytesView exif);

/// The EXIF block of an encoded picture; empty if there is none, or none that can be understood. Of a TIFF,
/// whose own directory it is, what describes the content.
Bytes find_exif(AVCodecID codec, BytesView picture);

/// 1 to 8, as EXIF counts; 1 also if the block doesn't tell.
int exif_orientation(BytesView exif);

/// A frame keeps its picture's block with its other properties; empty if it has none.
void keep_exif(AVFrame& frame, BytesView exif);
BytesView exif_of(const AVFrame& frame);

/// The block for a picture of that size whose pixels are `upright`, without the preview of what it was.
Bytes updated_exif(BytesView exif, int width, int height, bool upright);

/// Whether a profile is for pictures of that format: one for CMYK says nothing about RGB.
bool is_for(BytesView profile, AVPixelFormat format);

/// The encoded picture with these; a profile that it has stays.
Bytes with_metadata(AVCodecID codec, BytesView picture, const PictureMetadata& metadata);

}  // namespace limpid::io
