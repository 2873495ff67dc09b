// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "app/player/player_settings.h"
#include "app/player/quality_control.h"

namespace limpid::app {

/// The rung that a stream is denoised with. Not thread-safe.
class QualityChoice {
 public:
  using Time = QualityControl::Time;
  using Seconds = QualityControl::Seconds;

  /// `ladder`: the rungs for settings. If empty, settings are their only rung. `interval`: between frames.
  /// `measured`: receives the time per frame of rungs. May be empty.
  QualityChoice(std::function<QualityLadder(const PlayerSettings&)> ladder, Seconds interval,
                std::function<void(const PlayerSettings&, double)> measured = {})
      : make_ladder_(std::move(ladder)), interval_(interval), measured_(std::move(measured)) {}

  /// Returns the rung for these settings. Settings with another filter reset all measurements.
  QualityRung rung(const PlayerSettings& wanted, Time now);
  bool has_choice() const { return ladder_.rungs.size() > 1; }
  /// Restarts at the first rung, after a seek or changed settings. Measurements are kept.
  void restart(Time now);
  /// Call the function of QualityControl with the same name.
  bool add(Seconds busy, Seconds interval, Time now);
  bool add_dropped(Seconds interval, Time now) { return control_ && control_->add_dropped(interval, now); }
  void rest(Time now);
  /// The rung to step up to, if there is room.
  const QualityRung* next() const;
  void take_step(Time now) { control_->take_step(now); }

 private:
  std::function<QualityLadder(const PlayerSettings&)> make_ladder_;
  Seconds interval_;
  std::function<void(const PlayerSettings&, double)> measured_;
  std::optional<PlayerSettings> wanted_;  ///< of ladder_
  QualityLadder ladder_;
  std::optional<QualityControl> control_;
};

}  // namespace limpid::app
