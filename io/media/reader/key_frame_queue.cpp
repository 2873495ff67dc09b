// SPDX-License-Identifier: MIT
#include "io/media/reader/key_frame_queue.h"

#include <utility>

namespace limpid::io {

void KeyFrameQueue::begin(std::int64_t latest) {
  clear();
  latest_ = latest;
}

bool KeyFrameQueue::add(PacketHandle packet) {
  const std::int64_t shown = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
  const std::int64_t decoded = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  // No frame is shown before it is decoded.
  const bool may_improve = decoded == AV_NOPTS_VALUE || decoded <= latest_;
  const bool is_key = (packet->flags & AV_PKT_FLAG_KEY) != 0;
  if (is_key && shown != AV_NOPTS_VALUE && shown <= latest_) {
    clear();
  } else if (packets_.empty()) {
    return may_improve;
  }
  constexpr std::int64_t kMostBytes = 64 << 20;
  bytes_ += packet->size;
  packets_.push_back(std::move(packet));
  return may_improve && bytes_ < kMostBytes;
}

PacketHandle KeyFrameQueue::take() {
  if (packets_.empty()) {
    return nullptr;
  }
  PacketHandle packet = std::move(packets_.front());
  packets_.pop_front();
  return packet;
}

void KeyFrameQueue::clear() {
  packets_.clear();
  bytes_ = 0;
}

}  // namespace limpid::io
