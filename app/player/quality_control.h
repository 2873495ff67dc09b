// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "app/player/played_frame.h"

namespace limpid::app {

/// Chooses among rungs of quality, from the quickest to the best, so that the denoiser keeps pace with the
/// source. A function of the times that it is given: it reads no clock. Not thread-safe.
///
/// It steps down within half a second of overload, to the best rung that is known or expected to keep pace.
/// It steps up one rung at a time, after several seconds with room, unless measurements say that the next
/// rung would be too slow. A rung that failed is tried again later each time.
///
/// It begins with the best rung whose time is known and keeps pace.
class QualityControl {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::chrono::duration<double>;

  struct Speed {
    double cost = 1;                   ///< a low estimate of the time per frame relative to other rungs
    std::optional<double> known = {};  ///< seconds per frame, measured earlier
  };

  /// Times that are measured replace costs and known times. `first`: the rung at the start if no known
  /// time is short enough to keep pace. Frames come every `interval` seconds.
  QualityControl(const std::vector<Speed>& speeds, std::size_t first, Seconds interval, Time now);

  std::size_t rung() const { return rung_; }
  /// Seconds per frame of a rung, if measured.
  std::optional<double> measured(std::size_t rung) const { return rungs_[rung].measured; }
  /// True once enough frames of the current rung have been measured for its time to be kept; now and then.
  bool is_sure() const { return frames_ > 0 && frames_ % kSureAfter == 0; }
  /// The rung to step up to as soon as the frames for it are ready. take_step() takes it.
  std::optional<std::size_t> next_rung() const { return next_; }
  void take_step(Time now);

  /// A frame of the current rung took the denoiser `busy` seconds; frames come every `interval` seconds.
  /// Returns true if the rung has changed.
  bool add(Seconds busy, Seconds interval, Time now);
  /// A frame was dropped because it would have been late. Returns true if the rung has changed: the denoiser
  /// may not be the cause.
  bool add_dropped(Seconds interval, Time now);
  /// Restarts at rung `first`, or lower if the current rung is lower. Measurements are kept, and the rung of
  /// before is the next one, unless it fails.
  void restart(std::size_t first, Time now);
  /// Time passed that says nothing about speed, such as a pause.
  void rest(Time now);

 private:
  struct Rung {
    double cost;
    std::optional<double> known;          ///< seconds per frame, measured earlier
    std::optional<double> measured = {};  ///< seconds per frame: the median of the last ones
    int failures = 0;
    Time not_before = {};  ///< it is not tried again before
  };

  static constexpr int kSureAfter = 10;

  double expected(std::size_t rung) const;
  void begin(std::size_t first, Seconds interval, Time now);
  const Rung* nearest_measured(std::size_t rung, bool known) const;
  void change_to(std::size_t rung, Time now);
  bool step_down(Seconds interval, Time now);
  void consider_step_up(Seconds interval, Time now);

  std::vector<Rung> rungs_;
  std::size_t rung_;
  std::size_t before_restart_ = 0;  ///< the best rung of before, until it fails
  std::optional<std::size_t> next_;
  int frames_ = 0;           ///< of this rung
  std::deque<double> last_;  ///< seconds of its last frames
  std::optional<Time> overloaded_since_;
  Time room_since_;
};

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
