// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>

#include "app/player/playback_clock.h"

namespace limpid::app {

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
  bool show(double time, bool source_is_late, Time now);
  /// When the frame of that time has been shown for its time.
  Time end_of(double time) const { return clock_.due(time + frame_interval_); }

  /// The number of frames between denoiser and screen, besides those the denoiser holds back. A denoiser with
  /// several devices works on `concurrency` of them.
  int frames_ahead(int concurrency) const;
  /// True if the successor of the frame of that time is due before the frame could be ready. `successor`: its
  /// time, if known.
  bool is_late(double time, std::optional<double> successor, Time now) const;

  /// A frame took `seconds` from the denoiser to the screen.
  void add_turnaround(double seconds);
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
  bool is_due_at_once() const { return live_ || !runs_ || show_next_; }

  bool live_;
  double frame_interval_;
  PlaybackClock clock_;
  bool runs_ = false;
  bool show_next_ = false;
  double turnaround_ = 0;
};

}  // namespace limpid::app
