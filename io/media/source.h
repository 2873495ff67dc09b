// SPDX-License-Identifier: MIT
// The part of a Reader's source that Writer and AudioOutput use, and its selected segment. Private to io.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/frame/frame.h"
#include "core/frame/stream_item.h"
#include "io/media/display_properties.h"
#include "io/media/libav.h"

namespace limpid::io {

/// True for cover art and attachments, which have no time.
bool is_timeless(const AVStream& stream);

/// A range of times from `begin` (included) to `end` (excluded), in microseconds of the source. All functions
/// take times that include the source's offset, and subtract `shift`.
class TimeRange {
 public:
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

  std::int64_t begin = -kOpen;
  std::int64_t end = kOpen;
  std::int64_t shift = 0;

  bool has_begin() const { return begin != -kOpen; }
  bool has_end() const { return end != kOpen; }

  /// The first time of the range, and the first time after it.
  std::int64_t first(AVRational time_base) const { return limit(begin, time_base); }
  std::int64_t behind(AVRational time_base) const { return limit(end, time_base); }

  /// Cuts the span from `from` up to `to` to the range. Returns false if nothing remains.
  bool clip(std::int64_t& from, std::int64_t& to, AVRational time_base) const;

  /// True if a packet belongs to the range: it begins in the range, or it is a subtitle that extends into the
  /// range and is cut. Packets without a time always belong to it.
  bool clip(AVPacket& packet, AVRational time_base, AVMediaType type) const;

 private:
  std::int64_t limit(std::int64_t time, AVRational time_base) const;
};

/// The source of a Writer. Valid during the Reader's lifetime.
struct Source {
  std::string url;
  AVFormatContext& input;  ///< streams, chapters and tags
  const AVStream& video;
  const AVFrame& first;                     ///< tags and side data of the first frame, without its samples
  FrameFormat format;                       ///< format of the frames that the Reader delivers
  AVPixelFormat decoded = AV_PIX_FMT_NONE;  ///< the decoder's pixel format
  bool has_fractions = false;  ///< `format` has more bits than the source for ReaderOptions::fraction_bits
  std::vector<bool> copied;    ///< by stream index: true if the Reader delivers its packets
  std::vector<bool> of_other_program = {};  ///< by stream index: not copied because of its program
  AVRational time_base{1, 25};              ///< of the frames' times
  /// Frames per second: the average, and the rate of the regular grid of times that libav has detected. 0/1
  /// if unknown.
  AVRational average_rate{0, 1};
  AVRational base_rate{0, 1};
  AVRational sample_aspect_ratio{0, 1};
  TimeRange range;
  /// Number of the source's frames before the range, computed from the average rate.
  int skipped_frames = 0;
  std::int64_t time_offset = 0;  ///< microseconds that the Reader adds to all times
  bool is_pipe = false;
  /// Filters have made upright frames whose side data includes that of the stream.
  bool is_filtered = false;
  std::vector<std::string> filter_losses = {};  ///< sentences about properties that filters have not kept
  std::int64_t unread_bytes = 0;                ///< behind the boxes of an MP4
  std::int64_t first_picture = 1;  ///< number of the first picture of a sequence; 1 for other sources
};

/// How the frames are to be displayed.
DisplayProperties display_of(const Source& source);

/// Side data of the whole stream that describes the frames. Null if there is none of this type.
inline const AVPacketSideData* stream_side_data(const Source& source, AVPacketSideDataType type) {
  return source.is_filtered ? nullptr : find_side_data(source.video, type);
}

}  // namespace limpid::io

namespace limpid {

/// A packet with timestamps in `time_base` units; `stream` is the index of its stream in the source.
class Packet {
 public:
  Packet(io::PacketHandle packet, AVRational time_base) : packet_(std::move(packet)), time_base_(time_base) {}

  const AVPacket& get() const { return *packet_; }
  int stream() const { return packet_->stream_index; }
  AVRational time_base() const { return time_base_; }

 private:
  io::PacketHandle packet_;
  AVRational time_base_;
};

}  // namespace limpid
