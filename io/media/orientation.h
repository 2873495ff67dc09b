// SPDX-License-Identifier: MIT
// Rotated and mirrored pictures, also in containers that do not support them. Private to io.
#pragma once

#include <cstdint>
#include <optional>

#include "core/frame/frame.h"
#include "io/media/diagnostic.h"
#include "io/media/display_properties.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

/// The orientation from the display matrix of a stream, or of its first frame, or from a picture's EXIF tag.
/// Nothing for angles that are not multiples of 90 degrees.
std::optional<Orientation> orientation_of(const AVStream& stream, const AVFrame& first);

/// The orientation of the frames of a source; upright if filters have turned them.
std::optional<Orientation> orientation_of(const Source& source);

/// The format of a frame of `format` after rotation. Nothing if libav has no pixel format for it, such as
/// rotated 4:1:1 or 4:4:0 of more than 8 bits.
std::optional<FrameFormat> turned(FrameFormat format, Orientation orientation);

/// The chroma location after rotation; unspecified if it has no name.
AVChromaLocation turned(AVChromaLocation location, Orientation orientation);

/// The frame as it is to be displayed, in memory of `pool`.
Frame turned(const Frame& frame, Orientation orientation, FramePool& pool);

class Rotation {
 public:
  /// Rotates the pictures if the container cannot store the rotation. Leaves them unchanged if rotating is
  /// not possible. Reports both cases.
  Rotation(const Source& source, const AVOutputFormat& container, Diagnostics& diagnostics);

  /// The rotation that is applied to the pictures; upright if they are stored unchanged.
  const Orientation& applied() const { return applied_; }
  /// True if the rotation is neither stored nor applied.
  bool is_lost() const { return is_lost_; }

  Frame turn(const Frame& frame);
  /// Number of rotated frames.
  std::int64_t copies() const { return copies_; }

 private:
  Orientation applied_;
  bool is_lost_ = false;
  FramePool pool_;
  std::int64_t copies_ = 0;
};

}  // namespace limpid::io
