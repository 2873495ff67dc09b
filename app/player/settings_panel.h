// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Draws the tab Adjust of the panel: strength, noise, quality and view.
void draw_settings(const ControlState& state, ControlItems& items, ControlRequests& requests);
/// Draws the strength alone, in a row of the bar. `names`: with the buttons of the named strengths.
void draw_strength_row(const ControlState& state, bool names, ControlItems& items, ControlRequests& requests);
/// Draws the buttons of the named strengths; the next item is in the same line.
void draw_strength_words(const ControlState& state, ControlItems& items, ControlRequests& requests);

}  // namespace limpid::app
