// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "app/player/player.h"
#include "app/player/player_queues.h"
#include "app/player/viewer_report.h"

namespace limpid::app {

struct HeadlessOptions {
  std::int64_t frames = 0;  ///< stop after so many frames; 0: no limit
  bool keep_times = false;  ///< record the times of every frame for the report
  /// Called at least once per second: run() ends when it returns false.
  std::function<bool()> is_needed;
};

/// Runs a Player without a window. The results go to PlayerStages::denoised.
class HeadlessPlayer {
 public:
  /// `stages` does not need wake.
  HeadlessPlayer(HeadlessOptions options, PlayerStages stages, const PlayerOptions& player_options);

  /// Runs until the source has ended, a stop is requested, or one of the options ends it. Throws the error of
  /// a stage.
  void run(const std::stop_token& stop);
  /// Calls Player::finish().
  void finish() { player_->finish(); }
  const ViewerReport& report() const { return report_; }

 private:
  const HeadlessOptions options_;
  ViewerReport report_;
  CommandQueue commands_;           ///< of the thread that calls run()
  std::unique_ptr<Player> player_;  ///< last, as its threads use the queue
};

}  // namespace limpid::app
