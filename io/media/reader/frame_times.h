// SPDX-License-Identifier: MIT
#pragma once

// Presentation times of decoded frames. Private to io.

#include <cstdint>
#include <deque>
#include <optional>

#include "io/media/container_cropping.h"
#include "io/media/libav.h"
#include "io/media/reader/health.h"

namespace limpid::io {

/// The source of a decoder's packets.
struct VideoSource {
  const AVInputFormat& container;
  const AVStream& stream;
  AVRational rate;     ///< average frames per second; 0/1 if unknown
  std::int64_t begin;  ///< time of the first frame if no frame has a time, in microseconds
  std::optional<ContainerCropping> cropping = {};
};

/// A queue of decoded frames, in presentation order, that sets their times: the times of the source,
/// corrected to increase. Matroska cannot store times before zero, so the first frames may have none. These
/// frames wait for the first frame with a time, and their times are counted back from it. A frame whose time
/// is not the expected one waits for the next frame: if that has an earlier time, its own is wrong, otherwise
/// there is a gap.
class FrameTimes {
 public:
  explicit FrameTimes(const VideoSource& source);

  /// Adds the next frame of the decoder. Requires !has_frame().
  void push(DecodedFrame decoded);
  /// Ends the wait for later frames. Returns false if no frame was waiting.
  bool end();
  bool has_frame() const;
  /// The next frame. `rate`: frame rate of the decoder, in frames per second, 0/1 if unknown.
  DecodedFrame pop(AVRational rate);
  /// Declares that the next frame does not continue the previous one.
  void forget_position();

  /// False if no frame has been taken since forget_position().
  bool has_begun() const { return last_pts_ != AV_NOPTS_VALUE; }
  /// End time of the last frame, in microseconds.
  std::int64_t end_time() const;

 private:
  void prefer_own_time(AVFrame& frame);
  bool waits(const AVFrame& frame) const;
  bool is_doubtful(const AVFrame& frame) const;
  void count_back_from(const AVFrame& timed);
  bool set_time(AVFrame& frame, AVRational rate);

  AVRational time_base_;
  AVRational rate_;
  std::int64_t first_time_;
  std::int64_t least_duration_;
  bool has_times_;  ///< of its own
  bool may_wait_;   ///< false once so many frames have had no time that none is expected
  bool has_ended_ = false;
  bool has_sought_ = false;
  std::deque<DecodedFrame> frames_;
  std::int64_t last_own_ = AV_NOPTS_VALUE;  ///< as decoded
  std::int64_t own_times_ = 0;              ///< number of frames with times
  std::int64_t faults_ = 0;                 ///< of which so many step back
  std::int64_t last_pts_ = AV_NOPTS_VALUE;
  std::int64_t last_duration_ = 0;
};

}  // namespace limpid::io
