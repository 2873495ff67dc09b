// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Parts of the bar that are in the panel if it is open.
struct BarParts {
  bool strength_row = false;  ///< with the strength and the buttons that write a file
  bool progress = false;      ///< of the file that is written
};

/// Draws the bar at the bottom of the window: the time line along the whole edge, the buttons above it, and
/// the other parts.
void draw_seek_bar(const ControlState& state, io::Size window, int height, const BarParts& parts,
                   ControlItems& items, ControlRequests& requests);

}  // namespace limpid::app
