// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/player_settings.h"

namespace limpid::app {

/// Where a ladder is used.
struct LadderUse {
  bool live = false;           ///< filters wait for no more frames than `delay`
  int delay = 0;               ///< frames
  bool on_processors = false;  ///< the engine is the CPU's
  /// False where no stream may depend on all earlier frames: with several GPUs.
  bool unbounded = true;
};

/// The filter of a rung.
Filter filter_of(const PlayerSettings& settings, int delay);

/// The rungs for settings. Only V-BM4D and VNLB have quicker ones: bilateral, recursive and lower profiles of
/// V-BM4D.
QualityLadder make_ladder(const PlayerSettings& settings, const LadderUse& use);

}  // namespace limpid::app
