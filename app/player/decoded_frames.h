// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/player/played_frame.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// A frame for the denoiser.
struct DecodedFrame {
  Frame frame;
  double time = 0;
  std::uint64_t sequence = 0;  ///< PlayedFrame::sequence
  std::chrono::steady_clock::time_point decoded_at;
  bool source_is_late = false;     ///< PlayedFrame::source_is_late
  PlayedFramePointer result = {};  ///< computed earlier, or null
};

/// Frames between the reading and the denoising thread. Each frame belongs to a request to read from a
/// position. The request's stop token is set when another request supersedes it; its frames are then ignored.
/// Only the newest frame of a live source is kept. Thread-safe.
class DecodedFrames {
 public:
  /// `dropped`: counts frames that a newer one has replaced.
  DecodedFrames(bool live, std::atomic<std::int64_t>& dropped) : live_(live), dropped_(dropped) {}

  /// Drops all frames, of a request that has been superseded.
  void begin() {
    std::deque<DecodedFrame> old;  // destroyed after the lock is released
    const std::scoped_lock lock(mutex_);
    has_ended_ = false;
    old.swap(frames_);
  }
  void put(const std::stop_token& superseded, DecodedFrame frame) {
    const std::scoped_lock lock(mutex_);
    if (superseded.stop_requested() || has_ended_) {
      return;
    }
    if (live_) {
      dropped_ += static_cast<std::int64_t>(frames_.size());
      frames_.clear();
    }
    frames_.push_back(std::move(frame));
  }
  /// No frame follows.
  void end(const std::stop_token& superseded) {
    const std::scoped_lock lock(mutex_);
    has_ended_ = has_ended_ || !superseded.stop_requested();
  }
  /// No frame follows, whatever the request.
  void finish() {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return frames_.size();
  }
  std::optional<DecodedFrame> take(const std::stop_token& superseded) {
    const std::scoped_lock lock(mutex_);
    if (superseded.stop_requested() || frames_.empty()) {
      return std::nullopt;
    }
    DecodedFrame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
  }

  /// Properties of the next frame, and of what follows it.
  struct Next {
    bool exists = false;
    double time = 0;
    std::optional<double> successor;  ///< time of the frame after it, if that is decoded
    bool has_ended = false;           ///< no further frame will be put

    bool is_last() const { return exists && !successor && has_ended; }
  };
  Next next(const std::stop_token& superseded) const {
    const std::scoped_lock lock(mutex_);
    Next next;
    if (superseded.stop_requested()) {
      return next;
    }
    next.exists = !frames_.empty();
    next.time = next.exists ? frames_.front().time : 0;
    next.successor = frames_.size() > 1 ? std::optional(frames_[1].time) : std::nullopt;
    next.has_ended = has_ended_;
    return next;
  }

 private:
  const bool live_;
  std::atomic<std::int64_t>& dropped_;
  mutable std::mutex mutex_;
  std::deque<DecodedFrame> frames_;
  bool has_ended_ = false;
};

}  // namespace limpid::app
