// SPDX-License-Identifier: MIT
#pragma once

// Metadata of picture files: EXIF, XMP and a color profile (ICC). libav's encoders keep some of it, in some
// versions; the rest is added to the encoded picture. It is copied between JPEG, PNG, TIFF and WebP, and from
// picture to picture of a sequence. The new EXIF has the new size, an upright orientation and no preview.
// IPTC and extended XMP of a JPEG, texts and color chunks of a PNG and the transfer of a DPX are copied
// unread to pictures of the same format, but for previews and copies of EXIF. Lost, with a warning: these in
// other formats; IPTC and private tags of TIFF; the maker note into and out of TIFF, whose offsets are not
// published; data behind a picture; channels, parts and attributes of EXR. Private to io.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

using Bytes = std::vector<std::uint8_t>;
using BytesView = std::span<const std::uint8_t>;

/// Metadata that only pictures of one format hold.
struct OtherMetadata {
  std::string description;  ///< empty: its loss does not change the picture
  AVCodecID codec = AV_CODEC_ID_NONE;
  Bytes blocks = {};      ///< complete segments or chunks for pictures of `codec`; empty: not kept
  bool is_color = false;  ///< holds for pictures with the same transfer and primaries

  bool is_kept_by(AVCodecID target) const { return target == codec && !blocks.empty(); }
};

/// How a picture is stored in its file.
struct StoredPicture {
  int page = 0;  ///< position in a stack
  int pages = 1;
  bool has_films = false;    ///< the stack has several films, one after the other
  bool begins_film = false;  ///< it does not continue the page before
  int type = 0;              ///< TIFF's type and bits of samples that are read as floats, otherwise 0
  int bits = 0;
  int width = 0;
  int height = 0;
  AVColorTransferCharacteristic transfer = AVCOL_TRC_UNSPECIFIED;
  AVColorPrimaries primaries = AVCOL_PRI_UNSPECIFIED;
  float missing = std::numeric_limits<float>::quiet_NaN();  ///< value of the file for missing samples
  float white = 1;  ///< value of the file that float samples of 1 stand for: a power of two
};

/// Metadata of an encoded picture. Members are empty if the picture has none.
struct PictureMetadata {
  Bytes exif;  ///< EXIF in TIFF format, beginning with "II*" or "MM", without the file's identifier before it
  Bytes profile;
  Bytes xmp;  ///< text of XMP, without the file's identifier before it
  std::vector<OtherMetadata> others;
  StoredPicture stored;
  std::vector<std::pair<std::string, std::string>> encoder_options;  ///< for another picture of its codec
  int orientation = 0;                                               ///< of a DPX, as in EXIF; 0: as decoded
  Bytes color_tags;  ///< of a PNG: the numbers of primaries, transfer, matrix and range
};

/// True for the pictures that the functions below support: JPEG, PNG, TIFF, WebP.
bool holds_metadata(AVCodecID codec);
/// True if the metadata block fits: JPEG limits each block to 64 KiB.
bool holds_exif(AVCodecID codec, BytesView exif);
bool holds_xmp(AVCodecID codec, BytesView xmp);

/// The EXIF block of an encoded picture; empty if it is missing or invalid. For a TIFF file, the descriptive
/// tags of its main directory.
Bytes find_exif(AVCodecID codec, BytesView picture);
/// The XMP text of an encoded picture; empty if there is none. For a JPEG, excluding the part beyond 64 KiB.
Bytes find_xmp(AVCodecID codec, BytesView picture);
/// All metadata of an encoded picture except the color profile, which libav's decoders read.
PictureMetadata find_metadata(AVCodecID codec, BytesView picture);

/// Sets the tags of the decoded picture that libav ignores.
void apply_tags(const PictureMetadata& metadata, AVFrame& frame);

/// The orientation from 1 to 8, as EXIF defines it; 1 if the block has none.
int exif_orientation(BytesView exif);
/// True if there is a maker note. It cannot be moved into or out of a TIFF.
bool has_maker_note(BytesView exif);

/// Attaches the picture's metadata to a frame.
void keep_metadata(AVFrame& frame, PictureMetadata metadata);
const PictureMetadata& kept_metadata(const AVFrame& frame);

/// The EXIF block for a picture of this size whose pixels are `upright`, without the embedded preview.
Bytes updated_exif(BytesView exif, int width, int height, bool upright);
/// Tags of a TIFF that hold no more: the description of a stack by ImageJ, OME or tifffile, and those of
/// GeoTIFF.
struct StaleTags {
  bool stack = false;
  bool map = false;
};
/// `keeps_stack`: the output is one file, as a stack is.
StaleTags stale_tags(const PictureMetadata& source, int width, int height, bool keeps_stack);
Bytes without(const StaleTags& stale, BytesView exif);
/// The XMP text for a picture whose pixels are `upright`.
Bytes updated_xmp(BytesView xmp, bool upright);

/// True if a color profile applies to pictures of this format: a CMYK profile does not apply to RGB.
bool is_for(BytesView profile, AVPixelFormat format);

/// The encoded picture with this metadata; an existing color profile is kept. `base`: the position of a TIFF
/// in its file, for which its offsets are.
Bytes with_metadata(AVCodecID codec, BytesView picture, const PictureMetadata& metadata,
                    std::uint32_t base = 0);

}  // namespace limpid::io
