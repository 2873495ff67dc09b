// SPDX-License-Identifier: MIT
#pragma once

// The microphone of a camera. Private to io.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/not_copyable.h"
#include "io/media/libav.h"

namespace limpid::io {

/// An audio device of libavdevice, which is read on a thread of its own, because a device drops audio that
/// is not read in time. Packets have the times of the device.
class SoundDevice : NotCopyable {
 public:
  /// `interrupted` is called repeatedly during waits, on two threads. Throws Error if the device cannot be
  /// opened, and UsageError if libavdevice has no such format.
  SoundDevice(const std::string& url, const std::string& format, std::function<bool()> interrupted);
  ~SoundDevice();

  const AVStream& stream() const { return *stream_; }
  /// The next packet if there is one already; else null.
  PacketHandle take();
  /// The error that ended the sound; empty while it lasts.
  std::string failure() const;

 private:
  void read_all();
  void wait_for(const AVPacket& packet, std::unique_lock<std::mutex>& lock);
  bool is_interrupted() const { return stops_ || (interrupted_ && interrupted_()); }

  std::function<bool()> interrupted_;
  std::atomic<bool> stops_ = false;
  InputHandle input_;
  AVStream* stream_ = nullptr;
  bool needs_pace_;  ///< libavfilter's sources are as fast as they are asked
  std::optional<std::chrono::steady_clock::time_point> zero_;  ///< of the packets' times, with `needs_pace_`
  mutable std::mutex mutex_;
  std::condition_variable taken_;
  std::deque<PacketHandle> packets_;
  std::string failure_;
  std::jthread thread_;
};

}  // namespace limpid::io
