// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/engine/noise_control.h"
#include "core/frame/reach.h"

namespace limpid::app {

/// How frames are denoised.
struct DenoiseSettings {
  std::string filter = "bm3d";
  std::string profile = "np";  ///< if the filter has profiles
  NoiseSettings noise;
  /// A quicker filter is used where this one does not keep pace (PlayerStages::ladder).
  bool keeps_pace = false;
  /// The filter waits for later frames, as it does for files.
  bool looks_ahead = false;

  bool operator==(const DenoiseSettings&) const = default;
  /// True if one denoiser serves both: they differ only in the noise level.
  bool same_denoiser(const DenoiseSettings& other) const {
    return filter == other.filter && profile == other.profile && looks_ahead == other.looks_ahead;
  }
};

/// One of the qualities that a player chooses from.
struct QualityRung {
  DenoiseSettings settings;
  double cost = 1;  ///< a low estimate of its time per frame, relative to other rungs
  Reach reach;      ///< of its filter
};

/// Rungs from the quickest to the best one; at least one.
struct QualityLadder {
  std::vector<QualityRung> rungs;
  std::size_t first = 0;  ///< the rung that a stream begins with; its filter waits for no later frames
};

}  // namespace limpid::app
