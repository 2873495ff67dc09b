// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace limpid::app {

/// Which moment of the media it is. Runs against the steady clock, at a speed, with pauses. Times are
/// absolute on both sides, so that nothing adds up to a drift. Not thread-safe.
class PlaybackClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// From now on it is `position` seconds.
  void set(double position, Time now);
  void pause(Time now);
  void resume(Time now);
  bool paused() const { return paused_; }
  /// 1 is the source's own; > 0.
  void set_speed(double speed, Time now);
  double speed() const { return speed_; }

  /// Follows another clock, such as that of an audio device, whose position is `position`. Small differences
  /// are reduced step by step, large ones at once.
  void follow(double position, Time now);

  double position(Time now) const;
  /// When it will be `position`, if it isn't paused.
  Time due(double position) const;

 private:
  double base_position_ = 0;
  Time base_time_;
  double speed_ = 1;
  bool paused_ = false;
};

}  // namespace limpid::app
