// SPDX-License-Identifier: MIT
#pragma once

// Packets from a key frame on. Private to io.

#include <cstdint>
#include <deque>

#include "io/media/libav.h"

namespace limpid::io {

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

}  // namespace limpid::io
