// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Draws the bar at the bottom of the window: the time line along the whole edge, and the buttons above it;
/// above them, if `has_strength`, a row with the strength and the buttons that write a file.
void draw_seek_bar(const ControlState& state, io::Size window, int height, bool has_strength,
                   ControlItems& items, ControlRequests& requests);

}  // namespace limpid::app
