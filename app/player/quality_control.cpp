// SPDX-License-Identifier: MIT

#include "app/player/quality_control.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace limpid::app {
namespace {

using namespace std::chrono_literals;

// Share of the interval between frames.
constexpr double kOverload = 0.95;
constexpr double kFits = 0.85;      // of a rung to step down to, or to begin with
constexpr double kRoomAbove = 0.7;  // of a rung to step up to
// The first frames of a rung are slower: memory is allocated, and context is filtered.
constexpr int kWarmUp = 2;
constexpr std::size_t kMedianOf = 3;   // frames: a single slow one says nothing
constexpr auto kOverloadTime = 300ms;  // of overload
constexpr auto kRoomTime = 1500ms;     // of room before the first attempt
constexpr double kMuchRoom = 0.35;     // of a rung to step up to soon, perhaps over others
constexpr auto kMuchRoomTime = 300ms;
constexpr auto kSteadyTime = 4000ms;  // after a rung has failed
constexpr auto kRetry = 10s;          // doubles with each failure
constexpr int kMostFailures = 5;

}  // namespace

QualityControl::QualityControl(const std::vector<Speed>& speeds, std::size_t first, Seconds interval,
                               Time now)
    : rung_(first), room_since_(now) {
  for (const Speed& speed : speeds) {
    rungs_.push_back({.cost = speed.cost, .known = speed.known});
  }
  begin(first, interval, now);
}

void QualityControl::begin(std::size_t first, Seconds interval, Time now) {
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

// The nearest rung that has been measured; `known`: with a known time, too.
const QualityControl::Rung* QualityControl::nearest_measured(std::size_t rung, bool known) const {
  for (std::size_t distance = 1; distance < rungs_.size(); ++distance) {
    for (const std::size_t other : {rung - distance, rung + distance}) {
      if (other < rungs_.size() && rungs_[other].measured && (!known || rungs_[other].known)) {
        return &rungs_[other];
      }
    }
  }
  return nullptr;
}

// Seconds per frame: measured; or known, at the speed that the machine has now; or by the cost relative to
// the nearest rung that has been measured.
double QualityControl::expected(std::size_t rung) const {
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

void QualityControl::change_to(std::size_t rung, Time now) {
  rung_ = rung;
  next_.reset();
  frames_ = 0;
  last_.clear();
  overloaded_since_.reset();
  room_since_ = now;
}

void QualityControl::take_step(Time now) {
  if (next_) {
    change_to(*next_, now);
  }
}

void QualityControl::restart(std::size_t first, Time now) {
  before_restart_ = std::max(before_restart_, rung_);
  const Time room_since = room_since_;
  change_to(std::min(first, rung_), now);
  room_since_ = room_since;
}

void QualityControl::rest(Time now) {
  overloaded_since_.reset();
  room_since_ = now;
}

bool QualityControl::step_down(Seconds interval, Time now) {
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

bool QualityControl::add(Seconds busy, Seconds interval, Time now) {
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

bool QualityControl::add_dropped(Seconds interval, Time now) {
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

void QualityControl::consider_step_up(Seconds interval, Time now) {
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

QualityRung QualityChoice::rung(const PlayerSettings& wanted, Time now) {
  const bool is_same = wanted_ && wanted_->same_denoiser(wanted) && wanted_->keeps_pace == wanted.keeps_pace;
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

bool QualityChoice::add(Seconds busy, Seconds interval, Time now) {
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

void QualityChoice::restart(Time now) {
  if (control_) {
    control_->restart(ladder_.first, now);
  }
}

void QualityChoice::rest(Time now) {
  if (control_) {
    control_->rest(now);
  }
}

const QualityRung* QualityChoice::next() const {
  const std::optional<std::size_t> next = control_ ? control_->next_rung() : std::nullopt;
  return next ? &ladder_.rungs[*next] : nullptr;
}

}  // namespace limpid::app
