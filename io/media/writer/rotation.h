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
  /// If the container cannot store the rotation, the pictures themselves are rotated, or remain unchanged if
  /// that is not possible. Reports either case.
  Rotation(const Source& source, const AVOutputFormat& container, Diagnostics& diagnostics);

  /// The rotation that is applied to the pictures; upright if they are stored unchanged.
  const Orientation& applied() const { return applied_; }
  /// True if the pictures are stored without the rotation that they need.
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
