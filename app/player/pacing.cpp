// SPDX-License-Identifier: MIT
#include "app/player/pacing.h"

#include <algorithm>
#include <utility>

namespace limpid::app {
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

}  // namespace limpid::app
