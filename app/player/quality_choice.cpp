// SPDX-License-Identifier: MIT
#include "app/player/quality_choice.h"

#include <vector>

namespace limpid::app {

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
