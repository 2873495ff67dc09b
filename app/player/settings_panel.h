// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Draws the settings in the current window of ImGui: strength, noise, filter, view, and what to take along.
void draw_settings(const ControlState& state, ControlItems& items, ControlRequests& requests);

}  // namespace limpid::app
