// SPDX-License-Identifier: MIT
#pragma once

#include "io/media/libav.h"

namespace limpid::io {

/// A packet with timestamps in `time_base` units; `stream` is the index of its stream in the source.
class Packet {
 public:
  Packet(PacketHandle packet, AVRational time_base) : packet_(std::move(packet)), time_base_(time_base) {}

  const AVPacket& get() const { return *packet_; }
  int stream() const { return packet_->stream_index; }
  AVRational time_base() const { return time_base_; }

 private:
  PacketHandle packet_;
  AVRational time_base_;
};

}  // namespace limpid::io
