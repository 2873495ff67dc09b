// SPDX-License-Identifier: MIT
#pragma once

// Joining of separately encoded segments to one stream. Private to io.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "io/media/libav.h"
#include "io/media/packet_file.h"
#include "io/media/writer.h"

namespace limpid::io {

/// See Writer::joins_segments().
bool joins_segments(const AVCodecContext& encoder, const AVOutputFormat& container,
                    const WriterOptions& options, AVRational source_time_base);

/// Reads the files of segments in order, and sets decoding times of their packets for the whole stream.
class SegmentJoiner {
 public:
  /// `encoder` has the settings for the whole stream and must outlive this object. Errors begin with `url`.
  SegmentJoiner(std::string url, const AVCodecContext& encoder) : url_(std::move(url)), encoder_(encoder) {}

  /// See Writer::begin_segment().
  void begin(const std::string& path, int reordering);
  /// The segment's next packet, in decoding order; null at its end.
  PacketHandle read();

 private:
  std::int64_t decoding_time(std::size_t frame) const;

  std::string url_;
  const AVCodecContext& encoder_;
  std::optional<PacketFileReader> segment_;
  std::deque<std::int64_t> times_;  ///< presentation times of the frames from `first_` on, in order
  std::size_t first_ = 0;
  std::size_t frames_ = 0;              ///< number of frames that have been read
  std::size_t reordering_ = 0;          ///< number of frames by which decoding precedes presentation
  std::int64_t last_ = AV_NOPTS_VALUE;  ///< presentation time of the last frame of the previous segments
  std::int64_t lead_ = 0;               ///< time from the decoding to the presentation of the first frame
};

}  // namespace limpid::io
