// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "app/pipeline/stage_counters.h"
#include "app/player/osd.h"
#include "app/player/playback_rates.h"
#include "app/player/player.h"
#include "app/player/viewer_options.h"
#include "app/player/viewer_report.h"

namespace limpid::app {

/// Rates, loads and latency of a playing source, and the report on the frames that were shown.
class Measurements {
 public:
  using Time = Player::Clock::time_point;

  /// `options` and `player_options` must outlive this object.
  Measurements(const ViewerOptions& options, const PlayerOptions& player_options)
      : options_(options), player_options_(player_options) {}

  /// Counts a frame that is shown now. `heard`: position of the audio, if it is heard.
  void add(const PlayedFrame& frame, std::optional<double> heard);
  /// Measures if the last measurement is old enough. `runs`: neither paused nor at the end.
  bool measure(const Player& player, bool runs, Time now);
  /// Calls function(), which shows the window.
  template <typename Function>
  void time_presenting(const Function& function) {
    timed(presenting_.busy_ns, function);
  }
  void forget_slowness() { rates_.forget_slowness(); }

  const ViewerReport& report() const { return report_; }
  ViewerReport& report() { return report_; }
  /// The values of the statistics, except position and state.
  Statistics statistics(const Player& player, const PlayedFrame& shown) const;
  /// A sentence on the cause if the source plays too slowly; else empty.
  std::string slowness(const Player& player) const;

 private:
  const ViewerOptions& options_;
  const PlayerOptions& player_options_;
  PlaybackRates rates_;
  double latency_ = 0;  ///< seconds from decoding to the screen, smoothed
  StageCounters presenting_;
  ViewerReport report_;
};

/// The certainty of the noise estimate or its reason, and the kind of the noise.
std::string noise_remark(const NoiseEstimate& noise, ColorModel color_model);
/// The reason if the result equals the source, or nearly so; else empty.
std::string noise_hint(const PlayedFrame& shown);
/// The advice for a denoiser that is too slow.
std::string pace_hint(const PlayerSettings& settings);

}  // namespace limpid::app
