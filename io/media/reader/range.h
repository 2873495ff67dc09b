// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "io/media/libav.h"
#include "io/media/reader.h"
#include "io/media/source.h"

namespace limpid::io {

// The frames before a range. Private to io.

/// Keeps the last frames before a range until the first frame of the range has been converted, because that
/// frame determines the format. The kept frames are then delivered, followed by the first frame of the range.
class ContextFrames {
 public:
  explicit ContextFrames(int wanted) : wanted_(wanted) {}

  int wanted() const { return wanted_; }
  /// Adds a frame before the range, and drops the oldest one if there are too many.
  void keep(FrameHandle frame);
  bool is_empty() const { return frames_.empty(); }
  /// Holds back the range's first frame.
  void hold(Frame first) { first_ = std::move(first); }

  /// The oldest frame, once the range's first frame is held back; null if there is none.
  FrameHandle take();
  /// Number of frames that have not been taken.
  int count() const { return static_cast<int>(frames_.size()); }
  /// The first frame of the range, after all others have been taken.
  std::optional<Frame> take_held();
  /// True if as many frames preceded the range as requested.
  bool are_complete() const { return count() + (first_ ? 1 : 0) >= wanted_; }
  void clear();

 private:
  int wanted_;
  std::deque<FrameHandle> frames_;
  std::optional<Frame> first_;
};

// Packets from a key frame on. Private to io.

/// Collects packets of the video, without decoding them, beginning with the last key frame whose presentation
/// time is at most a given time.
class KeyFrameQueue {
 public:
  /// Clears the queue. `latest`: latest presentation time of the key frame, in the packets' time base.
  void begin(std::int64_t latest);
  /// Adds a packet. Returns false if no later key frame can have an early enough presentation time, or the
  /// queue is full.
  bool add(PacketHandle packet);
  /// The next packet to decode; null if there is none.
  PacketHandle take();
  bool is_empty() const { return packets_.empty(); }
  std::int64_t latest() const { return latest_; }
  void clear();

 private:
  std::deque<PacketHandle> packets_;
  std::int64_t bytes_ = 0;
  std::int64_t latest_ = AV_NOPTS_VALUE;
};

// The range of a source that is read. Private to io.

/// Selects the packets to decode or copy, and the frames to deliver: those from ReaderOptions::start to
/// ReaderOptions::end with their context, or those from the target of a seek on. All packets and frames have
/// times shifted by the SourceClock. Other times are microseconds on the source's clock, before
/// `times().shift` is subtracted.
class Range {
 public:
  /// `begin`: the source's.
  Range(const ReaderOptions& options, std::int64_t begin, const AVFormatContext& input,
        const AVStream& video);

  const TimeRange& times() const { return times_; }
  std::int64_t source_begin() const { return source_begin_; }
  /// The time at which frames begin: the beginning of the range, or the target of a seek.
  std::int64_t target() const { return target_; }
  /// Moves the target to `seconds`, in the frames' times; the frames of the last `before` seconds before it
  /// are also delivered.
  void set_target(double seconds, double before);
  /// Number of the source's frames before the range, computed from the frame rate; 0 if the rate is unknown.
  int skipped_frames(AVRational rate) const;
  void describe(VideoProperties& video) const;
  /// Throws an Error about a range without frames. The source ends at `seen` microseconds, in the frames'
  /// times, or has `duration`.
  [[noreturn]] void throw_no_frame(const std::string& url, std::int64_t seen, std::int64_t duration) const;

  /// Declares that the next packet does not continue the previous one.
  void forget_position();

  // Search for the key frame at which decoding begins.

  /// The time `margin` microseconds before the target, in the frames' times.
  std::int64_t before_target(std::int64_t margin) const;
  /// Begins collecting packets of the video, from the last key frame that is shown at `latest` or earlier, in
  /// the frames' times.
  void begin_gathering(std::int64_t latest);
  bool is_gathering() const { return phase_ == Phase::kGathering; }
  void gather(PacketHandle packet);
  /// Returns false if nothing has been collected.
  bool end_gathering();
  PacketHandle take_gathered() { return gathered_.take(); }
  /// True if decoded frames begin no later than at the target.
  bool begun_in_time() const { return first_time_ != AV_NOPTS_VALUE && first_time_ <= gathered_.latest(); }

  // Packets, in reading order.

  /// True if a packet of `stream` is to be decoded or copied. Cuts subtitles to the range.
  bool take(AVPacket& packet, const AVStream& stream);
  /// True if a packet of the video begins in the range.
  bool contains(const AVPacket& packet) const;
  /// True if the frame in a packet of the video is delivered. Must be called for each packet that is decoded.
  bool is_shown(const AVPacket& packet);
  bool is_past_end(std::size_t stream) const { return past_end_[stream]; }

  // Frames, in decoding order.

  enum class Place { kBefore, kInside, kBehind };
  Place place(const AVFrame& frame);
  /// The frames before the range that serve as context.
  ContextFrames& context() { return context_; }
  const ContextFrames& context() const { return context_; }
  /// Counts a frame after the range. Returns false if enough such frames have been delivered.
  bool take_behind();
  /// Ends decoding of the video.
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
  std::vector<bool> past_end_;                        ///< by stream: true if read up to the end of the range
  bool is_last_behind_ = false;                       ///< the last packet of the video is behind the range
  std::int64_t last_decoding_time_ = AV_NOPTS_VALUE;  ///< latest DTS of the packets that were decoded
  std::int64_t first_time_ = AV_NOPTS_VALUE;          ///< time of the first frame decoded after a seek
  ContextFrames context_;
  int context_after_;
  int frames_behind_ = 0;  ///< number of delivered frames after the range
};

}  // namespace limpid::io
