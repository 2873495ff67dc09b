// SPDX-License-Identifier: MIT
#pragma once

#include "core/frame/frame.h"
#include "core/frame/frame_pool.h"

namespace limpid::io {

/// Rounds frames of 9 to 16 bits to 8 bits. Dithers smooth areas, where a sample and its four neighbors
/// differ by less than an 8-bit step, with an ordered mask of 8x8 samples (Bayer, 1973), whose thresholds
/// rotate from frame to frame. The mask depends only on the position and Frame::index, so results do not
/// depend on engines and segments.
class Ditherer {
 public:
  /// `format`: the format of the frames, which must be in host memory.
  explicit Ditherer(const FrameFormat& format);

  /// Format of the results.
  const FrameFormat& format() const { return format_; }
  Frame to_8_bits(const Frame& frame);

 private:
  FrameFormat format_;
  FramePool pool_;
};

}  // namespace limpid::io
