// SPDX-License-Identifier: MIT
#pragma once

// Sources without a file, for tests of Reader's parts.

#include <cstdint>
#include <vector>

#include "io/media/libav.h"

namespace limpid::io {

/// A demuxer that is not open, with streams. Times of the video are in milliseconds.
class MemorySource {
 public:
  explicit MemorySource(const char* demuxer = "matroska");

  AVFormatContext& input() const { return *input_; }
  AVStream& video() const { return *input_->streams[0]; }
  AVStream& add_stream(AVMediaType type, AVRational time_base);

 private:
  UnopenedInputHandle input_;
};

/// A packet of the first stream that is shown and decoded at `time`.
PacketHandle packet_at(std::int64_t time, int flags = 0);
/// A packet with samples for a decoder.
PacketHandle packet_of(const std::vector<std::uint8_t>& bytes, std::int64_t time);

}  // namespace limpid::io
