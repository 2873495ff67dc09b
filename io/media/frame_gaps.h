// SPDX-License-Identifier: MIT
#pragma once

// Detection of frames that are missing in the middle of a source. Private to io.

#include <cstdint>
#include <string>

#include "io/media/libav.h"

namespace limpid::io {

/// Detects missing frames by the times of the video's packets. A gap with a demuxer error in it is damage. A
/// gap without an error may be intended, as in screen recordings, dropped frames of cameras and slides. It
/// counts only in a stream that has a steady clock and otherwise a constant rate, and only among regular
/// frames: cameras begin with irregular frames, and screen recorders repeat the last one at the end.
class FrameGaps {
 public:
  /// Adds the next packet in decoding order. `damaged`: the demuxer has logged an error before it. `counts`:
  /// a gap before it lies within the range that is read. `has_clock`: the container has a steady clock.
  void add(const AVPacket& packet, AVRational time_base, bool damaged, bool counts, bool has_clock = true);
  /// Declares that the next packet does not continue the previous one.
  void forget_position();

  struct Missing {
    std::int64_t frames = 0;
    std::int64_t places = 0;
    double begin = 0;  ///< position of the first gap, in seconds
    double end = 0;
  };
  /// The gaps so far. Gaps without an error are classified only when the whole stream is known (`ended`).
  Missing missing(bool ended) const;

 private:
  Missing damaged_;
  Missing unexplained_;
  Missing last_;                      ///< the last gap without an error, until regular frames follow it
  std::int64_t regular_at_last_ = 0;  ///< `regular_` at that gap
  std::int64_t regular_ = 0;          ///< number of steps between packets that have the usual duration
  std::int64_t regular_time_ = 0;     ///< their sum
  std::int64_t irregular_ = 0;        ///< number of other steps that are not gaps
  std::int64_t last_time_ = AV_NOPTS_VALUE;
  std::int64_t last_duration_ = 0;
  bool was_damaged_ = false;  ///< the demuxer has logged an error since the packet at `last_time_`
};

/// "3 frames are missing between 1.20 s and 1.32 s", or with the number of positions.
std::string text_of(const FrameGaps::Missing& missing);

}  // namespace limpid::io
