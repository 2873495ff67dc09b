// SPDX-License-Identifier: MIT
#pragma once

// Cropping of decoded pictures as their container requests. Private to io.

#include <optional>
#include <string>

#include "io/media/container_header.h"
#include "io/media/libav.h"

namespace limpid::io {

/// Removes the edges of pictures without a copy. Edges are rounded inward to whole chroma samples, and for
/// interlaced video to whole pairs of their rows: nothing that is cropped remains, and chroma and fields keep
/// their positions.
class Cropper {
 public:
  /// Pictures stay as they are if nothing is requested, or the request does not fit the pictures of `video`.
  Cropper(const std::optional<ContainerCropping>& requested, const AVStream& video);

  /// Crops a frame, in any memory. Frames of another size than the container reports stay as they are. Throws
  /// Error if memory is insufficient.
  void apply(AVFrame& frame) const;

  /// A sentence about the source if its pictures are cropped.
  const std::string& applied() const { return applied_; }
  /// A sentence about the source if the request is ignored, with the reason.
  const std::string& ignored() const { return ignored_; }
  /// The pixel aspect ratio of the cropped pictures; nothing if libav's is right.
  std::optional<AVRational> sample_aspect_ratio() const;

 private:
  std::optional<ContainerCropping> cropping_;
  std::string applied_;
  std::string ignored_;
};

}  // namespace limpid::io
