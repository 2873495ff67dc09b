// SPDX-License-Identifier: MIT
#include "app/player/playback_rates.h"

#include <algorithm>

namespace limpid::app {

void PlaybackRates::measure(const Totals& totals, const Playing& playing) {
  if (last_) {
    const double span = std::chrono::duration<double>(totals.at - last_->at).count();
    // Work is counted when it is done, and may have begun before.
    const auto share = [span](std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
      return std::clamp(std::chrono::duration<double>(to - from).count() / span, 0.0, 1.0);
    };
    loads_ = {.reading = share(last_->reading, totals.reading),
              .denoising = share(last_->denoising, totals.denoising),
              .presenting = share(last_->presenting, totals.presenting)};
    shown_fps_ = static_cast<double>(totals.shown - last_->shown) / span;
    denoised_fps_ = static_cast<double>(totals.denoised - last_->denoised) / span;
    // A live source may have fewer frames than it declares.
    const bool is_busy = is_denoising_slow() || (!playing.live && loads_->reading > kFewer);
    const bool is_slow = playing.runs && is_busy && shown_fps_ < kFewer * playing.frames_per_second;
    slow_in_a_row_ = is_slow ? slow_in_a_row_ + 1 : 0;
  }
  last_ = totals;
}

}  // namespace limpid::app
