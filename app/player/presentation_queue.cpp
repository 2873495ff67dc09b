// SPDX-License-Identifier: MIT
#include "app/player/presentation_queue.h"

#include <utility>

namespace limpid::app {

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
