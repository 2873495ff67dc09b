// SPDX-License-Identifier: MIT
// EXIF, XMP and color profiles of pictures. The first byte selects the codecs of source and output and the
// update of the metadata; the rest is an encoded picture.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "io/media/picture_metadata.h"

namespace limpid::io {
namespace {

constexpr AVCodecID kCodecs[] = {AV_CODEC_ID_MJPEG, AV_CODEC_ID_PNG, AV_CODEC_ID_TIFF,
                                 AV_CODEC_ID_WEBP,  AV_CODEC_ID_EXR, AV_CODEC_ID_DPX};

void rewrite(std::uint8_t choice, BytesView picture) {
  const AVCodecID from = kCodecs[(choice & 7U) % std::size(kCodecs)];
  const AVCodecID to = kCodecs[(choice >> 3U & 7U) % std::size(kCodecs)];
  const bool upright = (choice & 64U) != 0;
  PictureMetadata metadata = find_metadata(from, picture);
  // The picture's bytes are also used as an EXIF block, so that it need not be found in a container first.
  for (const BytesView exif : {BytesView(metadata.exif), picture}) {
    static_cast<void>(exif_orientation(exif));
    static_cast<void>(has_maker_note(exif));
    static_cast<void>(holds_exif(to, exif));
  }
  static_cast<void>(without(stale_tags(metadata, 640, 480, false), metadata.exif));
  Bytes from_picture = updated_exif(picture, 640, 480, upright);
  metadata.exif = updated_exif(metadata.exif, 640, 480, upright);
  if ((choice & 128U) != 0) {
    metadata.exif = std::move(from_picture);
  }
  metadata.xmp = updated_xmp(metadata.xmp, upright);
  metadata.profile.assign(picture.begin(), picture.begin() + static_cast<std::ptrdiff_t>(picture.size() / 2));
  static_cast<void>(is_for(metadata.profile, AV_PIX_FMT_RGB24));
  const Bytes result = with_metadata(to, picture, metadata);
  static_cast<void>(find_metadata(to, result));
}

}  // namespace
}  // namespace limpid::io

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);  // NOLINT: libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  if (size > 1) {
    const limpid::io::Bytes picture(data + 1,
                                    data + size);  // of the exact size, so that reads beyond it are detected
    limpid::io::rewrite(data[0], picture);
  }
  return 0;
}
