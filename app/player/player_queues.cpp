// SPDX-License-Identifier: MIT

#include "app/player/player_queues.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limpid::app {
namespace {

// Beyond this, following another clock bit by bit would take too long.
constexpr double kGreatDifference = 0.1;
constexpr double kShareTakenBack = 0.05;

}  // namespace

void PlaybackClock::set(double position, Time now) {
  base_position_ = position;
  base_time_ = now;
}

void PlaybackClock::pause(Time now) {
  set(position(now), now);
  paused_ = true;
}

void PlaybackClock::resume(Time now) {
  base_time_ = now;
  paused_ = false;
}

void PlaybackClock::set_speed(double speed, Time now) {
  set(position(now), now);
  speed_ = speed;
}

void PlaybackClock::follow(double position, Time now) {
  const double own = this->position(now);
  const double difference = position - own;
  set(std::abs(difference) > kGreatDifference ? position : own + kShareTakenBack * difference, now);
}

double PlaybackClock::position(Time now) const {
  if (paused_) {
    return base_position_;
  }
  return base_position_ + speed_ * std::chrono::duration<double>(now - base_time_).count();
}

PlaybackClock::Time PlaybackClock::due(double position) const {
  const std::chrono::duration<double> wait((position - base_position_) / speed_);
  return base_time_ + std::chrono::duration_cast<Time::duration>(wait);
}

namespace {

// Frames between the denoiser and the screen, unless the denoiser needs more: changed settings show after so
// many.
constexpr int kFramesAhead = 2;
// The upper limit: a group of several GPUs could work on hundreds.
constexpr int kMostAhead = 8;

}  // namespace

bool Pacing::show(double time, bool source_is_late, Time now) {
  if (is_due_at_once() || source_is_late) {
    clock_.set(time, now);
  }
  show_next_ = false;
  return !std::exchange(runs_, true);
}

int Pacing::frames_ahead(int concurrency) const {
  if (live_) {
    return std::min(concurrency, kMostAhead) + 1;
  }
  // Which frames are late is known only once the clock runs, with the first frame.
  return runs_ ? std::clamp(concurrency, kFramesAhead, kMostAhead) : 1;
}

bool Pacing::is_late(double time, std::optional<double> successor, Time now) const {
  const auto ready_at =
      now + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(turnaround_));
  return follows_clock() && clock_.due(successor.value_or(time + frame_interval_)) <= ready_at;
}

void Pacing::add_turnaround(double seconds) {
  // The first frames of a filter are slow, which is soon forgotten.
  const double share = turnaround_ <= 0 ? 1 : seconds < turnaround_ ? 0.5 : 0.25;
  turnaround_ += share * (seconds - turnaround_);
}

PresentationQueue::Taken PresentationQueue::take(Time now) {
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

void PresentationQueue::take_due(Taken& taken, Time now) {
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

void PresentationQueue::take_waiting(Taken& taken, Time now) {
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

PlayedFramePointer PresentationQueue::shown() const {
  const std::scoped_lock lock(mutex_);
  return shown_;
}

void PresentationQueue::drop_refined() {
  const std::scoped_lock lock(mutex_);
  refined_.reset();
}

void PresentationQueue::begin() {
  std::deque<std::shared_ptr<PlayedFrame>> old;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex_);
  old.swap(ready_);
  waiting_.reset();
  refined_.reset();
  has_ended_ = false;
}

bool PresentationQueue::has_nothing_to_come() const {
  const std::scoped_lock lock(mutex_);
  return has_ended_ && ready_.empty();
}

void PresentationQueue::wait_for_end() {
  std::unique_lock lock(mutex_);
  ended_or_failed_.wait(lock, [this] { return has_ended_ || error_; });
  if (error_) {
    std::rethrow_exception(error_);
  }
}

std::size_t PresentationQueue::size() const {
  const std::scoped_lock lock(mutex_);
  return ready_.size();
}

void PresentationQueue::put(const std::stop_token& superseded, const std::shared_ptr<PlayedFrame>& frame) {
  {
    const std::scoped_lock lock(mutex_);
    if (superseded.stop_requested()) {
      return;
    }
    pacing_.add_turnaround(std::chrono::duration<double>(PlayedFrame::Clock::now() - frame->sent_at).count());
    if (options_.live) {
      dropped_ += static_cast<std::int64_t>(ready_.size());
      ready_.clear();
    }
    ready_.push_back(frame);
  }
  options_.wake();
}

void PresentationQueue::put_waiting(const std::stop_token& superseded,
                                    const std::shared_ptr<PlayedFrame>& frame) {
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

void PresentationQueue::end(const std::stop_token& superseded) {
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = has_ended_ || !superseded.stop_requested();
    ended_or_failed_.notify_all();
  }
  options_.wake();
}

std::optional<PresentationQueue::Time> PresentationQueue::expire(Time now) {
  const std::scoped_lock lock(mutex_);
  drop_expired(now);
  return pacing_.follows_clock() && ready_.size() > 1 ? std::optional(pacing_.clock().due(ready_[1]->time))
                                                      : std::nullopt;
}

// Drops ready frames whose successors are due.
void PresentationQueue::drop_expired(Time now) {
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

void PresentationQueue::put_glimpse(const std::stop_token& superseded,
                                    const std::shared_ptr<PlayedFrame>& frame) {
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

void PresentationQueue::drop_glimpse() {
  const std::scoped_lock lock(mutex_);
  if (waiting_ != nullptr && waiting_->is_glimpse) {
    waiting_.reset();
  }
}

void PresentationQueue::put_refined(const std::stop_token& superseded, const PlayedFramePointer& frame,
                                    const PlayedFramePointer& refined) {
  {
    const std::scoped_lock lock(mutex_);
    if (superseded.stop_requested() || frame != shown_) {
      return;
    }
    refined_ = refined;
    settled_ = refined == nullptr ? frame : nullptr;
  }
  options_.wake();
}

bool PresentationQueue::is_settled(const PlayedFramePointer& frame) const {
  const std::scoped_lock lock(mutex_);
  return settled_ == frame;
}

void PresentationQueue::fail(const std::exception_ptr& error) {
  {
    const std::scoped_lock lock(mutex_);
    error_ = error_ ? error_ : error;
    ended_or_failed_.notify_all();
  }
  options_.wake();
}

}  // namespace limpid::app
