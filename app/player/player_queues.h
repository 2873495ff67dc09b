// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "app/player/played_frame.h"
#include "core/frame/frame.h"

namespace limpid::app {

/// Which moment of the media it is. Runs against the steady clock, at a speed, with pauses. Times are
/// absolute on both sides, so that nothing adds up to a drift. Not thread-safe.
class PlaybackClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// From now on it is `position` seconds.
  void set(double position, Time now) {
    base_position_ = position;
    base_time_ = now;
  }
  void pause(Time now) {
    set(position(now), now);
    paused_ = true;
  }
  void resume(Time now) {
    base_time_ = now;
    paused_ = false;
  }
  bool paused() const { return paused_; }
  /// 1 is the source's own; > 0.
  void set_speed(double speed, Time now) {
    set(position(now), now);
    speed_ = speed;
  }
  double speed() const { return speed_; }

  /// Follows another clock, such as that of an audio device, whose position is `position`. Small differences
  /// are reduced step by step, large ones at once.
  void follow(double position, Time now) {
    const double own = this->position(now);
    const double difference = position - own;
    set(std::abs(difference) > kGreatDifference ? position : own + kShareTakenBack * difference, now);
  }

  double position(Time now) const {
    if (paused_) {
      return base_position_;
    }
    return base_position_ + speed_ * std::chrono::duration<double>(now - base_time_).count();
  }
  /// When it will be `position`, if it isn't paused.
  Time due(double position) const {
    const std::chrono::duration<double> wait((position - base_position_) / speed_);
    return base_time_ + std::chrono::duration_cast<Time::duration>(wait);
  }

 private:
  // Beyond this, following another clock bit by bit would take too long.
  static constexpr double kGreatDifference = 0.1;
  static constexpr double kShareTakenBack = 0.05;

  double base_position_ = 0;
  Time base_time_;
  double speed_ = 1;
  bool paused_ = false;
};

/// Decides when frames are due, and which ones come too late to be denoised. A live source has no clock: each
/// of its frames is due at once. Every decision is a function of the times that are passed. Not thread-safe.
class Pacing {
 public:
  using Time = PlaybackClock::Time;

  /// `frames_per_second`: of the source, at least roughly.
  Pacing(bool live, double frames_per_second) : live_(live), frame_interval_(1 / frames_per_second) {}

  PlaybackClock& clock() { return clock_; }
  const PlaybackClock& clock() const { return clock_; }
  /// False until the first frame after the start or a seek has been shown.
  bool runs() const { return runs_; }
  /// The clock stops until a frame is shown.
  void stop() { runs_ = false; }
  bool follows_clock() const { return !live_ && runs_ && !clock_.paused(); }

  /// Shows one frame more although the clock is paused.
  void show_next(bool wanted) { show_next_ = wanted; }
  bool shows_next() const { return show_next_; }
  /// True if no frame is due until one is requested.
  bool is_frozen() const { return clock_.paused() && runs_ && !show_next_; }

  /// When a frame of that time is due: `now` if it does not wait for the clock.
  Time due(double time, Time now) const { return is_due_at_once() ? now : clock_.due(time); }
  /// Sets the clock by a frame that did not wait for it, or whose source is late, and lets it run. True if it
  /// stood still before.
  bool show(double time, bool source_is_late, Time now) {
    if (is_due_at_once() || source_is_late) {
      clock_.set(time, now);
    }
    show_next_ = false;
    return !std::exchange(runs_, true);
  }
  /// When the frame of that time has been shown for its time.
  Time end_of(double time) const { return clock_.due(time + frame_interval_); }

  /// The number of frames between denoiser and screen, besides those the denoiser holds back. A denoiser with
  /// several devices works on `concurrency` of them.
  int frames_ahead(int concurrency) const {
    if (live_) {
      return std::min(concurrency, kMostAhead) + 1;
    }
    // Which frames are late is known only once the clock runs, with the first frame.
    return runs_ ? std::clamp(concurrency, kFramesAhead, kMostAhead) : 1;
  }
  /// True if the successor of the frame of that time is due before the frame could be ready. `successor`: its
  /// time, if known.
  bool is_late(double time, std::optional<double> successor, Time now) const {
    const auto ready_at =
        now + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(turnaround_));
    return follows_clock() && clock_.due(successor.value_or(time + frame_interval_)) <= ready_at;
  }

  /// A frame took `seconds` from the denoiser to the screen.
  void add_turnaround(double seconds) {
    // The first frames of a filter are slow, which is soon forgotten.
    const double share = turnaround_ <= 0 ? 1 : seconds < turnaround_ ? 0.5 : 0.25;
    turnaround_ += share * (seconds - turnaround_);
  }
  /// Smoothed; 0 if not known.
  double turnaround() const { return turnaround_; }
  /// Another filter follows.
  void forget_turnaround() { turnaround_ = 0; }
  /// The time between frames as they are shown.
  std::chrono::duration<double> interval() const {
    return std::chrono::duration<double>(live_ ? frame_interval_ : frame_interval_ / clock_.speed());
  }
  /// True while frames have to be ready in time.
  bool keeps_time() const { return live_ || follows_clock(); }

 private:
  // Frames between the denoiser and the screen, unless the denoiser needs more: changed settings show after
  // so many.
  static constexpr int kFramesAhead = 2;
  // The upper limit: a group of several GPUs could work on hundreds.
  static constexpr int kMostAhead = 8;

  bool is_due_at_once() const { return live_ || !runs_ || show_next_; }

  bool live_;
  double frame_interval_;
  PlaybackClock clock_;
  bool runs_ = false;
  bool show_next_ = false;
  double turnaround_ = 0;
};

/// Denoised frames on their way to the screen, and the clock that decides when each is shown. A frame whose
/// successor is due is dropped. Each frame belongs to a request, whose stop token is set when another request
/// supersedes it; its frames are then ignored. Thread-safe.
class PresentationQueue {
 public:
  using Time = Pacing::Time;

  struct Options {
    bool live = false;
    double frames_per_second = 25;
    std::function<void()> wake;      ///< called when there is something new to take
    std::function<void()> has_room;  ///< called when frames have left the queue
  };
  /// `dropped`: counts frames that were dropped.
  PresentationQueue(const Options& options, std::atomic<std::int64_t>& dropped)
      : options_(options), dropped_(dropped), pacing_(options.live, options.frames_per_second) {}

  // The window's side.

  struct Taken {
    PlayedFramePointer frame;  ///< to be shown now; null if no frame is due
    bool begins = false;       ///< the clock begins with `frame`: the first frame, or the first after a seek
    std::optional<Time> next_at;  ///< when the next frame is due, if known
    bool ended = false;           ///< the last frame of the source has been shown for its time
    /// The next frame, noisy, if denoising takes long; or the key frame before it, if a seek takes long. Each
    /// is returned once.
    PlayedFramePointer waiting;
    /// The shown frame, once it is refined; once.
    PlayedFramePointer refined;
  };
  /// The frame for `now`. Throws the exception of fail().
  Taken take(Time now) {
    const std::scoped_lock lock(mutex_);
    if (error_) {
      std::rethrow_exception(error_);
    }
    Taken taken;
    drop_expired(now);
    take_due(taken, now);
    if (refined_ != nullptr) {
      shown_ = taken.refined = std::exchange(refined_, nullptr);
    }
    if (pacing_.follows_clock() && !ready_.empty()) {
      taken.next_at = pacing_.clock().due(ready_.front()->time);
    }
    take_waiting(taken, now);
    if (has_ended_ && ready_.empty()) {
      const bool waits = shown_ != nullptr && !options_.live && !pacing_.clock().paused();
      const Time end = waits ? pacing_.end_of(shown_->time) : now;
      taken.ended = end <= now && taken.frame == nullptr;
      taken.next_at = end;
    }
    return taken;
  }
  PlayedFramePointer shown() const {
    const std::scoped_lock lock(mutex_);
    return shown_;
  }
  /// Drops all frames, of a request that has been superseded.
  void begin() {
    std::deque<std::shared_ptr<PlayedFrame>> old;  // destroyed after the lock is released
    const std::scoped_lock lock(mutex_);
    old.swap(ready_);
    waiting_.reset();
    refined_.reset();
    has_ended_ = false;
  }
  /// Drops a refined frame that has not been taken.
  void drop_refined() {
    const std::scoped_lock lock(mutex_);
    refined_.reset();
  }
  /// True if the last frame is shown and no frame is to come.
  bool has_nothing_to_come() const {
    const std::scoped_lock lock(mutex_);
    return has_ended_ && ready_.empty();
  }
  /// Calls a function with the Pacing, and returns its result.
  template <typename Function>
  auto pacing(const Function& function) {
    const std::scoped_lock lock(mutex_);
    return function(pacing_);
  }
  /// Waits until no frame is to come from the denoiser. Throws the exception of fail().
  void wait_for_end() {
    std::unique_lock lock(mutex_);
    ended_or_failed_.wait(lock, [this] { return has_ended_ || error_; });
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

  // The denoising thread's side.

  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return ready_.size();
  }
  void put(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame) {
    {
      const std::scoped_lock lock(mutex_);
      if (superseded.stop_requested()) {
        return;
      }
      pacing_.add_turnaround(
          std::chrono::duration<double>(PlayedFrame::Clock::now() - frame->sent_at).count());
      if (options_.live) {
        dropped_ += static_cast<std::int64_t>(ready_.size());
        ready_.clear();
      }
      ready_.push_back(frame);
    }
    options_.wake();
  }
  /// A frame that is shown if the next one takes long.
  void put_waiting(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame) {
    {
      const std::scoped_lock lock(mutex_);
      const bool is_soon =
          shown_ != nullptr && pacing_.turnaround() < std::chrono::duration<double>(kLong).count();
      if (superseded.stop_requested() || is_soon || pacing_.runs()) {
        return;
      }
      waiting_ = frame;
    }
    options_.wake();
  }
  /// No frame follows.
  void end(const std::stop_token& superseded) {
    {
      const std::scoped_lock lock(mutex_);
      has_ended_ = has_ended_ || !superseded.stop_requested();
      ended_or_failed_.notify_all();
    }
    options_.wake();
  }
  /// Drops frames whose successors are due. Returns when the next one will be dropped.
  std::optional<Time> expire(Time now) {
    const std::scoped_lock lock(mutex_);
    drop_expired(now);
    return pacing_.follows_clock() && ready_.size() > 1 ? std::optional(pacing_.clock().due(ready_[1]->time))
                                                        : std::nullopt;
  }

  // The reading thread's side.

  /// The key frame before the target of a seek, which is shown if the seek takes long.
  void put_glimpse(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame) {
    {
      const std::scoped_lock lock(mutex_);
      if (superseded.stop_requested() || shown_ == nullptr) {
        return;
      }
      frame->settings = frame->used = shown_->settings;
      frame->level = shown_->level;
      waiting_ = frame;
    }
    options_.wake();
  }
  void drop_glimpse() {
    const std::scoped_lock lock(mutex_);
    if (waiting_ != nullptr && waiting_->is_glimpse) {
      waiting_.reset();
    }
  }

  // The refining thread's side.

  /// A better result for `frame`; null if there is none.
  void put_refined(const std::stop_token& superseded, const PlayedFramePointer& frame,
                   const PlayedFramePointer& refined) {
    {
      const std::scoped_lock lock(mutex_);
      if (superseded.stop_requested() || (frame != shown_ && frame != refined_)) {
        return;
      }
      settled_ = refined == nullptr ? frame : nullptr;
      refined_ = refined == nullptr ? refined_ : refined;  // of which a part may be refined
    }
    options_.wake();
  }
  /// True if the frame cannot be refined.
  bool is_settled(const PlayedFramePointer& frame) const {
    const std::scoped_lock lock(mutex_);
    return settled_ == frame;
  }

  /// Passes on the exception of a thread.
  void fail(const std::exception_ptr& error) {
    {
      const std::scoped_lock lock(mutex_);
      error_ = error_ ? error_ : error;
      ended_or_failed_.notify_all();
    }
    options_.wake();
  }

  /// A frame that takes longer is shown noisy, and is abandoned if the settings change.
  static constexpr std::chrono::milliseconds kLong{200};

 private:
  /// Drops ready frames whose successors are due.
  void drop_expired(Time now) {
    bool has_dropped = false;
    while (pacing_.follows_clock() && ready_.size() > 1 && pacing_.clock().due(ready_[1]->time) <= now) {
      ready_.pop_front();
      ++dropped_;
      has_dropped = true;
    }
    if (has_dropped) {
      options_.has_room();
    }
  }
  void take_due(Taken& taken, Time now) {
    if (ready_.empty() || pacing_.is_frozen() || pacing_.due(ready_.front()->time, now) > now) {
      return;
    }
    const std::shared_ptr<PlayedFrame> next = std::move(ready_.front());
    ready_.pop_front();
    taken.begins = pacing_.show(next->time, next->source_is_late, now);
    shown_ = taken.frame = next;
    waiting_.reset();
    refined_.reset();
    options_.has_room();
  }
  void take_waiting(Taken& taken, Time now) {
    if (waiting_ == nullptr || !ready_.empty()) {
      return;
    }
    const Time long_since = shown_ == nullptr ? now : waiting_->sent_at + kLong;
    if (long_since <= now) {
      taken.waiting = std::exchange(waiting_, nullptr);
    } else {
      taken.next_at = long_since;
    }
  }

  const Options options_;
  std::atomic<std::int64_t>& dropped_;
  mutable std::mutex mutex_;
  std::condition_variable ended_or_failed_;
  Pacing pacing_;
  std::deque<std::shared_ptr<PlayedFrame>> ready_;
  bool has_ended_ = false;
  std::shared_ptr<PlayedFrame> waiting_;
  PlayedFramePointer shown_;
  PlayedFramePointer refined_;  ///< of `shown_`
  PlayedFramePointer settled_;
  std::exception_ptr error_;
};

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
