#pragma once

// What picture files tell beside their pixels: EXIF, XMP and a profile of colors (ICC). libav's encoders keep
// some of it, in some versions; what they haven't embedded is put into the picture that they have made. It
// goes from JPEG, PNG, TIFF and WebP to each other, and from picture to picture of a sequence. EXIF then
// tells the new size and that the picture is upright, and has no preview. Lost, with a warning: the maker's
// note into and out of TIFF, as only its maker knows what its offsets refer to; IPTC; XMP beyond a JPEG's 64
// KiB; the texts of a PNG. Private to io.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

/// Each is empty if there is none.
struct PictureMetadata {
  Bytes exif;  ///< in TIFF's form, which begins with "II*" or "MM", without a mark of the file's before it
  Bytes profile;
  Bytes xmp;                        ///< its text, without a mark of the file's before it
  std::vector<std::string> others;  ///< what else there is, which isn't kept, in words

  bool empty() const { return exif.empty() && profile.empty() && xmp.empty() && others.empty(); }
};

/// True for those pictures that the functions below know: JPEG, PNG, TIFF, WebP.
bool holds_metadata(AVCodecID codec);
/// Whether the block fits: a JPEG has 64 KiB for each.
bool holds_exif(AVCodecID codec, BytesView exif);
bool holds_xmp(AVCodecID codec, BytesView xmp);

/// The EXIF block of an encoded picture; empty if there is none, or none that can be understood. Of a TIFF,
/// whose own directory it is, what describes the content.
Bytes find_exif(AVCodecID codec, BytesView picture);
/// The XMP text of an encoded picture; empty if there is none. Of a JPEG, without what goes beyond 64 KiB.
Bytes find_xmp(AVCodecID codec, BytesView picture);
/// All that an encoded picture tells, but for the profile, which libav's decoders find.
PictureMetadata find_metadata(AVCodecID codec, BytesView picture);

/// 1 to 8, as EXIF counts; 1 also if the block doesn't tell.
int exif_orientation(BytesView exif);
/// Whether there is a part that only the camera's maker knows. It can't be moved into or out of a TIFF.
bool has_maker_note(BytesView exif);

/// A frame keeps what its picture tells with its other properties.
void keep_metadata(AVFrame& frame, PictureMetadata metadata);
const PictureMetadata& kept_metadata(const AVFrame& frame);

/// The block for a picture of that size whose pixels are `upright`, without the preview of what it was.
Bytes updated_exif(BytesView exif, int width, int height, bool upright);
/// The text for a picture whose pixels are `upright`.
Bytes updated_xmp(BytesView xmp, bool upright);

/// Whether a profile is for pictures of that format: one for CMYK says nothing about RGB.
bool is_for(BytesView profile, AVPixelFormat format);

/// The encoded picture with these; a profile that it has stays.
Bytes with_metadata(AVCodecID codec, BytesView picture, const PictureMetadata& metadata);

}  // namespace limpid::io
