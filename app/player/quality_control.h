// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
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
  QualityControl(const std::vector<Speed>& speeds, std::size_t first, Seconds interval, Time now)
      : rung_(first), room_since_(now) {
    for (const Speed& speed : speeds) {
      rungs_.push_back({.cost = speed.cost, .known = speed.known});
    }
    begin(first, interval, now);
  }

  std::size_t rung() const { return rung_; }
  /// Seconds per frame of a rung, if measured.
  std::optional<double> measured(std::size_t rung) const { return rungs_[rung].measured; }
  /// True once enough frames of the current rung have been measured for its time to be kept; now and then.
  bool is_sure() const { return frames_ > 0 && frames_ % kSureAfter == 0; }
  /// The rung to step up to as soon as the frames for it are ready. take_step() takes it.
  std::optional<std::size_t> next_rung() const { return next_; }
  void take_step(Time now) {
    if (next_) {
      change_to(*next_, now);
    }
  }

  /// A frame of the current rung took the denoiser `busy` seconds; frames come every `interval` seconds.
  /// Returns true if the rung has changed.
  bool add(Seconds busy, Seconds interval, Time now) {
    if (++frames_ <= kWarmUp) {
      return false;
    }
    last_.push_back(busy.count());
    if (last_.size() > kMedianOf) {
      last_.pop_front();
    }
    std::deque<double> sorted = last_;
    std::ranges::sort(sorted);
    std::optional<double>& measured = rungs_[rung_].measured;
    measured = sorted[(sorted.size() - 1) / 2];
    if (busy > kOverload * interval) {
      if (!overloaded_since_) {
        overloaded_since_ = now - std::chrono::duration_cast<Time::duration>(busy);
      }
      if (*measured <= kOverload * interval.count()) {
        return false;
      }
      room_since_ = now;
      next_.reset();
      return now - *overloaded_since_ >= kOverloadTime && step_down(interval, now);
    }
    if (*measured <= kOverload * interval.count()) {
      overloaded_since_.reset();
    }
    consider_step_up(interval, now);
    return false;
  }
  /// A frame was dropped because it would have been late. Returns true if the rung has changed: the denoiser
  /// may not be the cause.
  bool add_dropped(Seconds interval, Time now) {
    next_.reset();
    room_since_ = now;
    if (!overloaded_since_) {
      overloaded_since_ = now;
    }
    // Decoding, display and the start of an engine drop frames, too.
    const std::optional<double>& measured = rungs_[rung_].measured;
    const bool is_busy = !last_.empty() && *measured > kRoomAbove * interval.count();
    return is_busy && now - *overloaded_since_ >= kOverloadTime && step_down(interval, now);
  }
  /// Restarts at rung `first`, or lower if the current rung is lower. Measurements are kept, and the rung of
  /// before is the next one, unless it fails.
  void restart(std::size_t first, Time now) {
    before_restart_ = std::max(before_restart_, rung_);
    const Time room_since = room_since_;
    change_to(std::min(first, rung_), now);
    room_since_ = room_since;
  }
  /// Time passed that says nothing about speed, such as a pause.
  void rest(Time now) {
    overloaded_since_.reset();
    room_since_ = now;
  }

 private:
  struct Rung {
    double cost;
    std::optional<double> known;          ///< seconds per frame, measured earlier
    std::optional<double> measured = {};  ///< seconds per frame: the median of the last ones
    int failures = 0;
    Time not_before = {};  ///< it is not tried again before
  };

  // Share of the interval between frames.
  static constexpr double kOverload = 0.95;
  static constexpr double kFits = 0.85;      // of a rung to step down to, or to begin with
  static constexpr double kRoomAbove = 0.7;  // of a rung to step up to
  // The first frames of a rung are slower: memory is allocated, and context is filtered.
  static constexpr int kWarmUp = 2;
  static constexpr std::size_t kMedianOf = 3;                     // frames: a single slow one says nothing
  static constexpr std::chrono::milliseconds kOverloadTime{300};  // of overload
  static constexpr std::chrono::milliseconds kRoomTime{1500};     // of room before the first attempt
  static constexpr double kMuchRoom = 0.35;  // of a rung to step up to soon, perhaps over others
  static constexpr std::chrono::milliseconds kMuchRoomTime{300};
  static constexpr std::chrono::milliseconds kSteadyTime{4000};  // after a rung has failed
  static constexpr std::chrono::milliseconds kRetry{10000};      // doubles with each failure
  static constexpr int kMostFailures = 5;
  static constexpr int kSureAfter = 10;

  /// Seconds per frame: measured; or known, at the speed that the machine has now; or by the cost relative to
  /// the nearest rung that has been measured.
  double expected(std::size_t rung) const {
    const Rung& wanted = rungs_[rung];
    if (wanted.measured) {
      return *wanted.measured;
    }
    if (wanted.known) {
      const Rung* const other = nearest_measured(rung, true);
      return other == nullptr ? *wanted.known : *wanted.known * *other->measured / *other->known;
    }
    const Rung* const other = nearest_measured(rung, false);
    return other == nullptr ? 0 : *other->measured * wanted.cost / other->cost;
  }
  void begin(std::size_t first, Seconds interval, Time now) {
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      Rung& rung = rungs_[i];
      if (rung.known && *rung.known <= kFits * interval.count()) {
        rung_ = i;
      } else if (rung.known) {  // its time may have been measured under a load that has gone
        rung.failures = 1;
        rung.not_before = now + kRetry;
      }
    }
    while (rung_ > 0 && rung_ <= first && rungs_[rung_].known &&
           *rungs_[rung_].known > kOverload * interval.count()) {
      --rung_;
    }
  }
  /// The nearest rung that has been measured; `known`: with a known time, too.
  const Rung* nearest_measured(std::size_t rung, bool known) const {
    for (std::size_t distance = 1; distance < rungs_.size(); ++distance) {
      for (const std::size_t other : {rung - distance, rung + distance}) {
        if (other < rungs_.size() && rungs_[other].measured && (!known || rungs_[other].known)) {
          return &rungs_[other];
        }
      }
    }
    return nullptr;
  }
  void change_to(std::size_t rung, Time now) {
    rung_ = rung;
    next_.reset();
    frames_ = 0;
    last_.clear();
    overloaded_since_.reset();
    room_since_ = now;
  }
  bool step_down(Seconds interval, Time now) {
    if (rung_ == 0) {
      return false;
    }
    before_restart_ = 0;
    Rung& failed = rungs_[rung_];
    failed.failures = std::min(failed.failures + 1, kMostFailures);
    failed.not_before = now + kRetry * (1 << (failed.failures - 1));
    std::size_t rung = rung_ - 1;
    while (rung > 0 && expected(rung) > kFits * interval.count()) {
      --rung;
    }
    change_to(rung, now);
    return true;
  }
  void consider_step_up(Seconds interval, Time now) {
    const std::size_t above = rung_ + 1;
    next_.reset();
    if (before_restart_ > rung_) {
      next_ = before_restart_;
      return;
    }
    if (now - room_since_ >= kMuchRoomTime) {
      for (std::size_t rung = rungs_.size() - 1; rung > rung_ && !next_; --rung) {
        if (rungs_[rung].failures == 0 && expected(rung) <= kMuchRoom * interval.count()) {
          next_ = rung;
        }
      }
    }
    if (next_ || above >= rungs_.size() || now < rungs_[above].not_before) {
      return;
    }
    const auto wait = rungs_[above].failures > 0 ? kSteadyTime : kRoomTime;
    // A time measured before a failure was measured under a load that may have gone.
    const double time = rungs_[above].failures > 0
                            ? *rungs_[rung_].measured * rungs_[above].cost / rungs_[rung_].cost
                            : expected(above);
    if (now - room_since_ >= wait && time <= kRoomAbove * interval.count()) {
      next_ = above;
    }
  }

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
  QualityRung rung(const PlayerSettings& wanted, Time now) {
    const bool is_same =
        wanted_ && wanted_->same_denoiser(wanted) && wanted_->keeps_pace == wanted.keeps_pace;
    if (!is_same) {
      ladder_ =
          make_ladder_ ? make_ladder_(wanted) : QualityLadder{{{.settings = wanted, .cost = 1, .reach = {}}}};
      std::vector<QualityControl::Speed> speeds;
      for (const QualityRung& rung : ladder_.rungs) {
        speeds.push_back({.cost = rung.cost, .known = rung.seconds});
      }
      control_.emplace(speeds, ladder_.first, interval_, now);
    }
    wanted_ = wanted;
    QualityRung rung = ladder_.rungs[control_->rung()];
    rung.settings.noise = wanted.noise;
    return rung;
  }
  bool has_choice() const { return ladder_.rungs.size() > 1; }
  /// Restarts at the first rung, after a seek or changed settings. Measurements are kept.
  void restart(Time now) {
    if (control_) {
      control_->restart(ladder_.first, now);
    }
  }
  /// Call the function of QualityControl with the same name.
  bool add(Seconds busy, Seconds interval, Time now) {
    if (!control_) {
      return false;
    }
    const std::size_t rung = control_->rung();
    const bool changes = control_->add(busy, interval, now);
    const std::optional<double> seconds = control_->measured(rung);
    if (measured_ && seconds && (changes || control_->is_sure())) {
      measured_(ladder_.rungs[rung].settings, *seconds);
    }
    return changes;
  }
  bool add_dropped(Seconds interval, Time now) { return control_ && control_->add_dropped(interval, now); }
  void rest(Time now) {
    if (control_) {
      control_->rest(now);
    }
  }
  /// The rung to step up to, if there is room.
  const QualityRung* next() const {
    const std::optional<std::size_t> next = control_ ? control_->next_rung() : std::nullopt;
    return next ? &ladder_.rungs[*next] : nullptr;
  }
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
