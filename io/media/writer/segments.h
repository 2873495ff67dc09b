// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/media/libav.h"
#include "io/media/packet_file.h"
#include "io/media/writer.h"
#include "io/media/writer/sink.h"

namespace limpid::io {

// One segment of a source, encoded to a packet file. Private to io.

/// The number of frames by which decoding precedes presentation: the encoder's value for the first frame, but
/// at least the number that the order of the frames requires. `presented` and `decoded` are the times of the
/// frames, in decoding order.
int reordering_of(std::span<const std::int64_t> presented, std::span<const std::int64_t> decoded);

class SegmentWriter : public Sink {
 public:
  /// Writes to a new file at `temporary`, which finish() renames to `path`.
  SegmentWriter(const std::string& path, const std::string& temporary, const AVCodecContext& encoder)
      : file_(path, temporary, encoder) {}

  void write_frame(PacketHandle frame) override;
  void finish() override;
  std::int64_t bytes() const override { return bytes_; }

  int reordering() const { return reordering_of(presented_, decoded_); }

 private:
  PacketFileWriter file_;
  std::vector<std::int64_t> presented_;  ///< presentation times of the frames, in decoding order
  std::vector<std::int64_t> decoded_;
  std::atomic<std::int64_t> bytes_ = 0;
};

// Joining of separately encoded segments to one stream. Private to io.

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
