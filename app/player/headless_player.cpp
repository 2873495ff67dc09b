// SPDX-License-Identifier: MIT
#include "app/player/headless_player.h"

#include <chrono>
#include <utility>

namespace limpid::app {

HeadlessPlayer::HeadlessPlayer(HeadlessOptions options, PlayerStages stages,
                               const PlayerOptions& player_options)
    : options_(std::move(options)) {
  stages.wake = [this] { wake(); };
  player_ = std::make_unique<Player>(std::move(stages), player_options);
}

void HeadlessPlayer::wake() {
  const std::scoped_lock lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

void HeadlessPlayer::run(const std::stop_token& stop) {
  constexpr std::chrono::seconds kLongestWait{1};
  const std::stop_callback wakes(stop, [this] { wake(); });
  for (;;) {
    const auto now = Player::Clock::now();
    const Player::Taken taken = player_->take(now);
    if (taken.frame != nullptr) {
      report_.add(*taken.frame, now, options_.keep_times);
    }
    const bool is_enough = options_.frames > 0 && report_.shown >= options_.frames;
    if (taken.ended || is_enough || stop.stop_requested() || !options_.is_needed()) {
      break;
    }
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLongestWait, [this] { return woken_; });
    woken_ = false;
  }
  report_.dropped = player_->counters().dropped_before + player_->counters().dropped_after;
}

}  // namespace limpid::app
