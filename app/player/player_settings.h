// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/engine/noise_control.h"
#include "core/frame/reach.h"
#include "core/settings/filter_settings.h"

namespace limpid::app {

/// How frames are denoised.
struct PlayerSettings {
  /// Has a name and a profile. The profile and the parameters may be those of other filters, which are chosen
  /// again later (filter_settings()).
  FilterSettings filter;
  NoiseSettings noise;
  /// A quicker filter is used where this one does not keep pace (PlayerStages::ladder).
  bool keeps_pace = false;
  /// The filter waits for later frames, as it does for files.
  bool looks_ahead = false;

  bool operator==(const PlayerSettings&) const = default;
  /// True if one denoiser serves both: they differ only in the noise level.
  bool same_denoiser(const PlayerSettings& other) const {
    return filter == other.filter && looks_ahead == other.looks_ahead;
  }
};

/// The filter with its profile and its own parameters.
FilterSettings filter_settings(const PlayerSettings& settings);
/// The filter of files. Throws UsageError for settings that contradict each other.
Filter offline_filter(const PlayerSettings& settings);
/// The filter of live video that waits for `delay` later frames. Throws UsageError as offline_filter() does.
Filter live_filter(const PlayerSettings& settings, int delay = 0);

/// One of the qualities that a player chooses from.
struct QualityRung {
  PlayerSettings settings;
  double cost = 1;                     ///< a low estimate of its time per frame, relative to other rungs
  Reach reach;                         ///< of its filter
  std::optional<double> seconds = {};  ///< its time per frame, if measured in an earlier run
};

/// Rungs from the quickest to the best one; at least one.
struct QualityLadder {
  std::vector<QualityRung> rungs;
  /// The rung that a stream begins with if no speed is known, and after a seek; its filter waits for no later
  /// frames.
  std::size_t first = 0;
};

}  // namespace limpid::app
