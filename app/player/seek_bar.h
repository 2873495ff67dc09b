// SPDX-License-Identifier: MIT
#pragma once

#include "app/player/controls.h"

namespace limpid::app {

/// Parts of the bar that are in the panel if it is open.
struct BarParts {
  /// Rows with the strength and the buttons that write a file; from two rows on, with named strengths and the
  /// volume; from three rows on, with steps and speed.
  int extra_rows = 0;
  bool progress = false;  ///< of the file that is written
};

/// Widths in units of 1/96 inch: of the smallest bar with the strength, its names and the volume in one row,
/// and of the smallest one with all of the transport.
inline constexpr double kStrengthRowWidth = 600;
inline constexpr double kTransportWidth = 420;

/// Draws the bar at the bottom of the window: the time line along the whole edge, the buttons above it, and
/// the other parts.
void draw_seek_bar(const ControlState& state, io::Size window, int height, const BarParts& parts,
                   ControlItems& items, ControlRequests& requests);

}  // namespace limpid::app
