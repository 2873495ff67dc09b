// SPDX-License-Identifier: MIT
#include "app/player/quality_choice.h"

#include <vector>

namespace limpid::app {

QualityRung QualityChoice::rung(const PlayerSettings& wanted, Time now) {
  const bool is_same = wanted_ && wanted_->same_denoiser(wanted) && wanted_->keeps_pace == wanted.keeps_pace;
  if (!is_same) {
    ladder_ =
        make_ladder_ ? make_ladder_(wanted) : QualityLadder{{{.settings = wanted, .cost = 1, .reach = {}}}};
    std::vector<double> costs;
    for (const QualityRung& rung : ladder_.rungs) {
      costs.push_back(rung.cost);
    }
    control_.emplace(costs, ladder_.first, now);
  }
  wanted_ = wanted;
  QualityRung rung = ladder_.rungs[control_->rung()];
  rung.settings.noise = wanted.noise;
  return rung;
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
