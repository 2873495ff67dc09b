#pragma once

// The range of a source that is read. Private to io.

#include <cstdint>
#include <string>
#include <vector>

#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/reader/context_frames.h"
#include "io/media/reader/key_frame_queue.h"
#include "io/media/time_range.h"

namespace limpid::io {

/// Decides which packets are decoded or copied and which frames are delivered: those from
/// ReaderOptions::start to ReaderOptions::end with their context, or those since the target of a seek. All
/// packets and frames have the times that SourceClock gives them. Other times are microseconds on the
/// source's clock, before `times().shift` is taken from them.
class Range {
 public:
  /// `begin`: the source's.
  Range(const ReaderOptions& options, std::int64_t begin, const AVFormatContext& input,
        const AVStream& video);

  const TimeRange& times() const { return times_; }
  std::int64_t source_begin() const { return source_begin_; }
  /// The time that decoding has to reach: the begin of the range, or where a seek leads.
  std::int64_t target() const { return target_; }
  /// Goes on from `seconds`, in the frames' times, with the frames of the last `before` seconds.
  void set_target(double seconds, double before);
  /// Frames of the source before the range, at their rate; 0 if that is unknown.
  int skipped_frames(AVRational rate) const;
  void describe(VideoProperties& video) const;
  /// Throws Error; the source ends at `seen` microseconds, in the frames' times, or has `duration`.
  [[noreturn]] void throw_no_frame(const std::string& url, std::int64_t seen, std::int64_t duration) const;

  /// The next packet does not continue the last one.
  void forget_position();

  // A search for the key frame that decoding begins at.

  /// The time, in the frames' times, that lies `margin` microseconds before the target.
  std::int64_t before_target(std::int64_t margin) const;
  /// Gathers packets of the video from the last key frame on that is shown at `latest`, in the frames' times,
  /// or before.
  void begin_gathering(std::int64_t latest);
  bool is_gathering() const { return phase_ == Phase::kGathering; }
  void gather(PacketHandle packet);
  /// False if nothing has been gathered.
  bool end_gathering();
  PacketHandle take_gathered() { return gathered_.take(); }
  /// True if frames from the key frame's time on have been decoded.
  bool begun_in_time() const { return first_time_ != AV_NOPTS_VALUE && first_time_ <= gathered_.latest(); }

  // Packets, as they are read.

  /// True if a packet of `stream` is to be decoded or copied. Cuts subtitles to the range.
  bool take(AVPacket& packet, const AVStream& stream);
  /// True if a packet of the video begins inside the range.
  bool contains(const AVPacket& packet) const;
  /// True if the frame in a packet of the video is delivered. To be asked for each packet that is decoded.
  bool is_shown(const AVPacket& packet);
  bool is_past_end(std::size_t stream) const { return past_end_[stream]; }

  // Frames, as they are decoded.

  enum class Place { kBefore, kInside, kBehind };
  Place place(const AVFrame& frame);
  /// Frames before the range.
  ContextFrames& context() { return context_; }
  const ContextFrames& context() const { return context_; }
  /// Counts a frame behind the range. False if enough of them have been delivered.
  bool take_behind();
  /// Nothing more of the video is to be decoded.
  void end_video() { phase_ = Phase::kVideoEnded; }
  bool has_video_ended() const { return phase_ == Phase::kVideoEnded; }

 private:
  enum class Phase { kGathering, kReading, kVideoEnded };

  const AVStream& video_;
  std::int64_t source_begin_;
  TimeRange times_;
  std::int64_t target_ = 0;
  Phase phase_ = Phase::kReading;
  KeyFrameQueue gathered_;
  std::vector<bool> past_end_;                        ///< by stream: read up to the end of the range
  std::int64_t last_decoding_time_ = AV_NOPTS_VALUE;  ///< latest DTS of the packets that were decoded
  std::int64_t first_time_ = AV_NOPTS_VALUE;  ///< time of the first frame that was decoded since a seek
  ContextFrames context_;
  int context_after_;
  int frames_behind_ = 0;  ///< count of the frames behind the range that were delivered
};

}  // namespace limpid::io
