// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/player/played_frame.h"
#include "app/player/presentation_queue.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// Commands to a thread, which runs them in order. Thread-safe.
class CommandQueue {
 public:
  using Command = std::function<void()>;
  using Time = std::chrono::steady_clock::time_point;

  void post(Command command) {
    const std::scoped_lock lock(mutex_);
    commands_.push_back(std::move(command));
    changed_.notify_one();
  }
  /// Ends a wait(), because another queue of the thread has changed.
  void wake() {
    const std::scoped_lock lock(mutex_);
    is_woken_ = true;
    changed_.notify_one();
  }
  /// No further command is run.
  void close() {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    changed_.notify_one();
  }

  /// Runs all commands. Returns false once the queue is closed.
  bool run() {
    for (;;) {
      Command command;
      {
        const std::scoped_lock lock(mutex_);
        if (is_closed_ || commands_.empty()) {
          return !is_closed_;
        }
        command = std::move(commands_.front());
        commands_.pop_front();
      }
      command();
    }
  }
  /// Waits for a command, wake() or close(), but not longer than until `end`.
  void wait(std::optional<Time> end = {}) {
    std::unique_lock lock(mutex_);
    const auto has_changed = [this] { return is_closed_ || is_woken_ || !commands_.empty(); };
    if (end) {
      changed_.wait_until(lock, *end, has_changed);
    } else {
      changed_.wait(lock, has_changed);
    }
    is_woken_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  bool is_woken_ = false;
  bool is_closed_ = false;
};

/// Frames between the reading and the denoising thread, without results or, if `is_refined`, with results
/// that were computed earlier. Each frame belongs to a request to read from a position. The request's stop
/// token is set when another request supersedes it; its frames are then ignored. Only the newest frame of a
/// live source is kept. Thread-safe.
class DecodedFrames {
 public:
  /// `dropped`: counts frames that a newer one has replaced.
  DecodedFrames(bool live, std::atomic<std::int64_t>& dropped) : live_(live), dropped_(dropped) {}

  /// Drops all frames, of a request that has been superseded.
  void begin() {
    std::deque<PlayedFrame> old;  // destroyed after the lock is released
    const std::scoped_lock lock(mutex_);
    has_ended_ = false;
    old.swap(frames_);
  }
  void put(const std::stop_token& superseded, PlayedFrame frame) {
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
  std::optional<PlayedFrame> take(const std::stop_token& superseded) {
    const std::scoped_lock lock(mutex_);
    if (superseded.stop_requested() || frames_.empty()) {
      return std::nullopt;
    }
    PlayedFrame frame = std::move(frames_.front());
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
  std::deque<PlayedFrame> frames_;
  bool has_ended_ = false;
};

/// The queues between the threads of a Player.
struct PlayerQueues {
  CommandQueue reading;
  CommandQueue denoising;
  CommandQueue refining;
  CommandQueue looping;
  DecodedFrames decoded;
  PresentationQueue presentation;
};

}  // namespace limpid::app
