// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Draws the heading of a group of controls.
void draw_heading(const char* text);
/// Draws a button with the effect of a key.
void ask_by_key(ControlItems& items, ControlRequests& requests, const char* name, const char* label,
                bool chosen, const char* key, const char* tooltip);

/// Draws the progress of the file that is written, and the button that cancels it. `width`: in pixels; 0: the
/// rest of the line.
void draw_progress(const ControlState& state, float width, ControlItems& items, ControlRequests& requests);
/// Draws the buttons of the view, and of the settings A and B.
void draw_view(const ControlState& state, ControlItems& items, ControlRequests& requests);
/// Draws the tab Output of the panel: camera, passage and files.
void draw_output(const ControlState& state, ControlItems& items, ControlRequests& requests);
/// Draws the buttons that write a file, its progress, and the button that cancels it.
void draw_write_row(const ControlState& state, ControlItems& items, ControlRequests& requests);
/// Height that draw_write_row() needs, in pixels.
float write_row_height(const ControlState& state);

}  // namespace limpid::app
