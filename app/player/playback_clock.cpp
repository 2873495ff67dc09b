// SPDX-License-Identifier: MIT
#include "app/player/playback_clock.h"

#include <cmath>

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

}  // namespace limpid::app
