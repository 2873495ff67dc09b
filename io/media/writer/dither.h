#pragma once

#include "core/frame/frame.h"
#include "core/frame/frame_pool.h"

namespace limpid::io {

/// Rounds frames of 9 to 16 bits to 8 bits, and dithers where a picture is smoother than the steps of 8 bits:
/// where a sample and its four neighbors differ by less than an 8-bit step, by an ordered mask of 8x8 samples
/// (Bayer, 1973), whose thresholds rotate from frame to frame. The mask depends on position and Frame::index
/// only, so that results do not depend on engines and segments.
class Ditherer {
 public:
  /// `format`: of the frames, in host memory.
  explicit Ditherer(const FrameFormat& format);

  /// Format of the results.
  const FrameFormat& format() const { return format_; }
  Frame to_8_bits(const Frame& frame);

 private:
  FrameFormat format_;
  FramePool pool_;
};

}  // namespace limpid::io
