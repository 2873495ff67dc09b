#pragma once

// The rotation that a source asks for, in a container that may not hold it. Private to io.

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
  /// If the container cannot hold the rotation, the pictures themselves are turned, or stay as they are if
  /// they cannot be turned. Reports either.
  Rotation(const Source& source, const AVOutputFormat& container, Diagnostics& diagnostics);

  /// What is applied to the pictures; upright if they are stored as they came.
  const Orientation& applied() const { return applied_; }
  /// The pictures are stored as they came, without the rotation that they need.
  bool is_lost() const { return is_lost_; }

  Frame turn(const Frame& frame);
  /// Frames that have been turned.
  std::int64_t copies() const { return copies_; }

 private:
  Orientation applied_;
  bool is_lost_ = false;
  FramePool pool_;
  std::int64_t copies_ = 0;
};

}  // namespace limpid::io
