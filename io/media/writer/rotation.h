// SPDX-License-Identifier: MIT
#pragma once

// The rotation of a source, in a container that may not support it. Private to io.

#include <cstdint>

#include "core/frame/frame.h"
#include "core/frame/frame_pool.h"
#include "io/media/diagnostic.h"
#include "io/media/display_properties.h"
#include "io/media/libav.h"
#include "io/media/source.h"

namespace limpid::io {

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
