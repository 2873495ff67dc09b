// SPDX-License-Identifier: MIT
#pragma once

// Cropping that containers request: Matroska's PixelCrop elements, and the clean aperture ("clap") of MP4 and
// QuickTime. libav reports it from FFmpeg 7.1 on; this reader is used for all versions. Private to io.

#include <cstdint>
#include <optional>

#include "io/media/libav.h"

namespace limpid::io {

/// Samples at the edges of a picture that are not shown.
struct Cropping {
  std::int64_t left = 0;
  std::int64_t top = 0;
  std::int64_t right = 0;
  std::int64_t bottom = 0;
  bool operator==(const Cropping&) const = default;
};

/// The cropping of a video according to its container's header, which may be damaged: nothing is checked
/// against the size of the pictures.
struct ContainerCropping {
  int width = 0;  ///< of the pictures before cropping
  int height = 0;
  /// Fractions are rounded inward. A negative value is beyond the picture.
  Cropping edges;
  /// The pixel aspect ratio that shows the cropped picture in the container's display size; 0/1 if the
  /// container has none, and libav's ratio is right. libav may compute it for the picture before cropping.
  AVRational sample_aspect_ratio{0, 1};
};

/// Reads the cropping of a video from the header of a file; nothing if the container requests none, its
/// header is damaged, or the source cannot seek. Does not change the position in the source.
std::optional<ContainerCropping> find_container_cropping(AVFormatContext& input, const AVStream& video);

}  // namespace limpid::io
