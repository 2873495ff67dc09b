// SPDX-License-Identifier: MIT
#include "app/player/headless_player.h"

#include <chrono>
#include <utility>

namespace limpid::app {

HeadlessPlayer::HeadlessPlayer(HeadlessOptions options, PlayerStages stages,
                               const PlayerOptions& player_options)
    : options_(std::move(options)) {
  stages.wake = [this] { commands_.wake(); };
  player_ = std::make_unique<Player>(std::move(stages), player_options);
}

void HeadlessPlayer::run(const std::stop_token& stop) {
  constexpr std::chrono::seconds kLongestWait{1};
  const std::stop_callback wakes(stop, [this] { commands_.wake(); });
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
    commands_.wait(Player::Clock::now() + kLongestWait);
  }
  report_.dropped = player_->counters().dropped_before + player_->counters().dropped_after;
}

}  // namespace limpid::app
